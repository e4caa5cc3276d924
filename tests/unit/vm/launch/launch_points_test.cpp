// Index launches with a projection, whose points read what other points write.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/vm/interpret/assembler.hpp"
#include "vm/interpret/run.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/value/array.hpp"

namespace raddle::vm {

using test::Assembler;
using test::output;
using test::run_everywhere;
using test::slot;

namespace {

constexpr std::int64_t modulus = 1009;

/// @param text  of a kernel
Function leaf(const char* name, std::size_t parameters, std::size_t results, const std::string& text) {
  const auto kernels = read_kernels(text);
  REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error()));
  Function function;
  function.name = name;
  function.is_leaf = true;
  function.is_sequential = true;
  function.leaf_parameters.assign(parameters, KernelType::int_);
  function.leaf_results.assign(results, KernelType::int_);
  function.scalar_code = assemble(kernels->front().kernel);
  return function;
}

/// Of a point x of row t: keys t - 1, x of one element, t - 1, (x + 1) % width of another, t, x of the one it writes.
std::string projection_code(std::int64_t width) {
  return fmt::format(R"(kernel 0 "projection" at 0:0-0 (%0: int, %1: int) -> (%4, %0, %4, %6, %1, %0) {{
    const %2: int = 1
    const %3: int = {}
    %4: int = sub_int %1 %2 at 0:0-0
    %5: int = add_int %0 %2 at 0:0-0
    %6: int = mod %5 %3 at 0:0-0
  }})",
                     width);
}

/// (left + right) % modulus; the first parameter is the point.
std::string computation_code() {
  return fmt::format(R"(kernel 0 "computation" at 0:0-0 (%0: int, %1: int, %2: int) -> (%5) {{
    const %3: int = {}
    %4: int = add_int %1 %2 at 0:0-0
    %5: int = mod %4 %3 at 0:0-0
  }})",
                     modulus);
}

std::string identity_code() { return "kernel 0 \"identity\" at 0:0-0 (%0: int) -> (%0) {}"; }

/// rows[t][x] = (rows[t - 1][x] + rows[t - 1][(x + 1) % width]) % modulus, for t from 1 to `height`; rows[0][x] = x.
enum class Loops { apart, nest };
/// Of the row that is written; `affine`: all keys but that of the right neighbour are.
enum class RowKeys { projected, fixed, affine };

/// @param loops  whether the loop over rows is a nest
Program stencil(int width, int height, Loops loops, RowKeys row_keys) {
  Assembler a;
  const auto op = [](auto... parts) { return Assembler::op(parts...); };
  const BodyId main = a.body(0, {"rows"}, {"r"});
  a.function("main", main, 0);
  const auto projection = static_cast<FunctionId>(a.program.functions.size());
  a.program.functions.push_back(leaf("projection", 2, 6, projection_code(width)));
  a.program.functions.push_back(leaf("launch", 3, 1, computation_code()));
  a.program.functions.push_back(leaf("prelude", 1, 1, identity_code()));
  a.program.arrays.push_back({"rows", {}});
  const Operand one = a.constant(1), zero = a.constant(0);

  const BodyId first = a.body(0, {"x", "row"}, {}, main);
  a.program.bodies[first].region =
      a.region(first, {{{}, {op(Opcode::array_row, slot(1), slot(0, 1), zero, slot(0, 1).bits())}},
                       {{{slot(1)}}, {op(Opcode::array_insert, slot(1), slot(0), slot(0), slot(0, 1).bits())}}});
  a.program.foreaches.push_back({first, 1, {{slot(0), 2}}, {}, {slot(0)}});

  const BodyId row = a.body(0, {"t"}, {}, main);
  const BodyId point = a.body(0, {"x", "t - 1", "right", "before", "a", "b", "sum", "value", "row", "x + 1"}, {}, row);
  const Operand rows = slot(0, 2), t = slot(0, 1);
  a.program.bodies[point].region = a.region(
      point,
      {{{},
        {op(Opcode::sub_int, slot(1), t, one), op(Opcode::add_int, slot(9), slot(0), one),
         op(Opcode::mod, slot(2), slot(9), a.constant(width))}},
       {{{slot(1)}}, {op(Opcode::array_get, slot(3), rows, slot(1))}},
       {{{slot(3)}}, {op(Opcode::array_get, slot(4), slot(3), slot(0))}},
       {{{slot(3)}, {slot(2)}}, {op(Opcode::array_get, slot(5), slot(3), slot(2))}},
       {{{slot(4)}, {slot(5)}},
        {op(Opcode::add_int, slot(6), slot(4), slot(5)), op(Opcode::mod, slot(7), slot(6), a.constant(modulus))}},
       {{}, {op(Opcode::array_row, slot(8), rows, t, rows.bits())}},
       {{{slot(8)}}, {op(Opcode::array_insert, slot(8), slot(0), slot(7), rows.bits())}}});
  ForeachSite points{point, 1, {{slot(0, 1), 2}}, {}, {slot(0, 1)}};
  points.launch = {.leaf = projection + 1,
                   .sinks = {{LaunchSink::Kind::element, slot(0, 1), {}, 4, 2}},
                   .projection = projection,
                   .projected = {{slot(0)}},
                   .reads = {{slot(0, 1), 0, 2}, {slot(0, 1), 2, 2}}};
  for (std::uint32_t key = 0; key < 6; ++key) points.launch.keys.push_back({.result = key});
  if (row_keys == RowKeys::affine) {
    const LaunchKey before{.offset = -1, .base = {slot(0)}}, point{.stride = 1};
    points.launch.keys = {before, point, before, {.result = 3}, {.base = {slot(0)}}, point};
  }
  a.program.foreaches.push_back(points);
  a.program.bodies[row].region =
      a.region(row, {{{}, {op(Opcode::foreach_range, zero, a.constant(width - 1), one, 1)}}});
  a.program.foreaches.push_back({row, 1, {{slot(0), 1}}, {}, {slot(0)}});
  const auto fix_row = [](IndexLaunch& launch, LaunchInput key) {
    launch.sinks[0].row_keys = {key};
    launch.sinks[0].first_key = 5;
    launch.sinks[0].key_count = 1;
  };
  if (row_keys == RowKeys::fixed) fix_row(a.program.foreaches[1].launch, {.operand = slot(0)});
  if (loops == Loops::nest) {
    ForeachSite& nest = a.program.foreaches.back();
    nest.launch = points.launch;
    nest.launch.projected = {{.operand = {}, .value = 0}};
    for (LaunchKey& key : nest.launch.keys)
      if (!key.base.operand.is_absent()) key.base = {.operand = {}, .value = 0};
    nest.launch.sinks[0].target = slot(0);
    if (row_keys == RowKeys::fixed) fix_row(nest.launch, {.operand = {}, .value = 0});
    for (LaunchRead& read : nest.launch.reads) read.array = slot(0);
    const Region& region = a.program.regions[a.program.bodies[row].region];
    nest.nest = {.prelude = projection + 2,
                 .captures = {},
                 .low = zero,
                 .high = a.constant(width - 1),
                 .step = one,
                 .values = {slot(0)},
                 .inner = a.program.strands[region.first_strand].first_instruction,
                 .is_chained = true};
  }

  a.program.bodies[main].region =
      a.region(main, {{{},
                       {op(Opcode::array_new, slot(0), Operand::from_bits(0), Operand(), 2),
                        op(Opcode::foreach_range, one, a.constant(height), one, 2),
                        op(Opcode::foreach_range, zero, a.constant(width - 1), one, 0)}},
                      {{{slot(0), AwaitMode::deep}}, {op(Opcode::copy, output(1), slot(0))}}});
  return std::move(a.program);
}

std::vector<std::int64_t> last_row(std::int64_t width, int height) {
  std::vector<std::int64_t> row;
  for (std::int64_t x = 0; x < width; ++x) row.push_back(x);
  for (int t = 1; t <= height; ++t) {
    const std::vector<std::int64_t> before = row;
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = (before[x] + before[(x + 1) % row.size()]) % modulus;
  }
  return row;
}

/// @param expected  the last row
void check_rows(const RunResult& result, int height, const std::vector<std::int64_t>& expected) {
  REQUIRE(result.status == RunStatus::ok);
  const Array& rows = result.results[0].as_array();
  CHECK(rows.size() == static_cast<std::size_t>(height + 1));
  const Value last = rows.get(Value::of(std::int64_t{height}));
  for (std::size_t x = 0; x < expected.size(); ++x)
    CHECK(last.as_array().get(Value::of(static_cast<std::int64_t>(x))).as_int() == expected[x]);
}

}  // namespace

TEST_CASE("points wait for the elements that other points write, wherever they are computed") {
  for (const RowKeys row_keys : {RowKeys::projected, RowKeys::fixed, RowKeys::affine}) {
    for (const int width : {1, 2, 16, 100}) {
      constexpr int height = 150;
      const Program program = stencil(width, height, Loops::apart, row_keys);
      const std::vector<std::int64_t> expected = last_row(width, height);
      run_everywhere(program, [&](const RunResult& result) {
        check_rows(result, height, expected);
        CHECK(result.counters.iterations == std::uint64_t{height} * static_cast<unsigned>(width + 1) + expected.size());
      });
    }
  }
}

TEST_CASE("points of a nest wait for each other across the parts that workers have") {
  for (const RowKeys row_keys : {RowKeys::projected, RowKeys::fixed, RowKeys::affine}) {
    for (const int width : {1, 2, 3, 16, 100, 300}) {
      const int height = width < 16 ? 700 : 150;  // rows are made ahead, by all parts
      const Program program = stencil(width, height, Loops::nest, row_keys);
      const std::vector<std::int64_t> expected = last_row(width, height);
      run_everywhere(program, [&](const RunResult& result) {
        check_rows(result, height, expected);
        const std::uint64_t points = static_cast<unsigned>(height + 1) * expected.size();
        CHECK(result.counters.iterations >= points);
        // those of the outer loop that were interpreted
        CHECK(result.counters.iterations <= points + static_cast<unsigned>(height));
      });
    }
  }
}

TEST_CASE("points need no frames, whether they wait or not; nor do iterations around a nest") {
  const int height = 1000;
  RunOptions options;
  options.workers = 2;
  for (const RowKeys row_keys : {RowKeys::projected, RowKeys::fixed, RowKeys::affine}) {
    const RunResult apart = run(stencil(16, height, Loops::apart, row_keys), options);
    CHECK(apart.status == RunStatus::ok);
    CHECK(apart.counters.frames < 16 + height + 10);  // of the first row, of the loop over rows, few others
    const RunResult nested = run(stencil(16, height, Loops::nest, row_keys), options);
    CHECK(nested.status == RunStatus::ok);
    CHECK(nested.counters.frames < 16 + 10);
  }
}

}  // namespace raddle::vm
