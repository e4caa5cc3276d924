#include "compiler/codegen/shared_windows.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "vm/kernel/evaluate.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/verify_kernel.hpp"

namespace raddle::codegen {
namespace {

vm::Kernel kernel_of(const std::string& text) {
  const auto read = vm::read_kernels(text);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()));
  return read->at(0).kernel;
}

/// Of operations alone. @param words  the parameters
std::vector<std::int64_t> outputs_of(const vm::Kernel& kernel, std::vector<std::int64_t> words) {
  words.resize(kernel.types.size());
  for (std::size_t i = 0; i < kernel.constants.size(); ++i) words[kernel.parameter_count + i] = kernel.constants[i];
  for (const vm::KernelInstruction& each : kernel.blocks[0]) {
    std::vector<std::int64_t> inputs;
    for (const vm::KernelRegister input : each.inputs)
      if (input != vm::no_kernel_part) inputs.push_back(words[input]);
    words[each.result] = vm::evaluate(each.op, inputs).value();
  }
  std::vector<std::int64_t> outputs;
  for (const vm::KernelRegister output : kernel.outputs) outputs.push_back(words[output]);
  return outputs;
}

/// A kernel of `rows` times `columns` reads, those of a row behind each other, and one capture.
struct Stencil {
  unsigned rows, columns;
  std::string body, outputs;

  std::uint32_t reads() const { return rows * columns; }
  std::uint64_t follows() const {
    std::uint64_t follows = 0;
    for (unsigned i = 0; i < reads(); ++i)
      if (i % columns != 0) follows |= std::uint64_t{1} << i;
    return follows;
  }
  vm::Kernel kernel() const {
    std::string parameters = "%0: int";
    for (unsigned i = 1; i <= reads() + 1; ++i) parameters += fmt::format(", %{}: float", i);
    return kernel_of(fmt::format("kernel 0 \"k\" at 0:0-0 ({}) -> ({}) {{\n{}}}\n", parameters, outputs, body));
  }
};

/// The mean of 3 x 3 elements, along the first axis first.
Stencil mean_of_nine() {
  return {3, 3, R"(const %11: float = 9.0
%12: float = add_float %1 %4 at 0:0-0
%13: float = add_float %2 %5 at 0:0-0
%14: float = add_float %3 %6 at 0:0-0
%15: float = add_float %12 %7 at 0:0-0
%16: float = add_float %13 %8 at 0:0-0
%17: float = add_float %14 %9 at 0:0-0
%18: float = add_float %15 %16 at 0:0-0
%19: float = add_float %18 %17 at 0:0-0
%20: float = div_float %19 %11 at 0:0-0
)",
          "%20"};
}

/// All parts and the rest are kernels, and together give for each of some points what the whole one gives.
void check_values(const Stencil& stencil, const SharedWindows& shared, std::uint64_t seed) {
  const vm::Kernel whole = stencil.kernel();
  constexpr std::size_t points = 5;
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::int64_t>> rows(stencil.rows);
  for (auto& row : rows)
    for (std::size_t i = 0; i < points + stencil.columns - 1; ++i)
      row.push_back(std::bit_cast<std::int64_t>(std::uniform_real_distribution(-9.0, 9.0)(random)));
  const auto element = [&](std::uint32_t read, std::size_t point) {
    return rows.at(read / stencil.columns).at(read % stencil.columns + point);
  };
  const std::int64_t capture = std::bit_cast<std::int64_t>(0.3);
  std::vector<std::vector<std::int64_t>> numbers;
  for (const SharedWindows::Part& part : shared.parts) {
    CHECK(vm::verify_kernel(part.kernel) == "");
    std::vector<std::int64_t>& own = numbers.emplace_back();
    for (std::size_t i = 0; i < points + part.reach; ++i) {
      std::vector<std::int64_t> words = {0};
      for (const std::uint32_t read : part.reads) words.push_back(element(read, i));
      words.push_back(capture);
      own.push_back(outputs_of(part.kernel, words).at(0));
    }
  }
  CHECK(vm::verify_kernel(shared.rest) == "");
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<std::int64_t> words = {static_cast<std::int64_t>(point)}, all = words;
    for (const SharedWindows::Input& input : shared.inputs)
      words.push_back(input.part ? numbers.at(*input.part).at(point + input.number) : element(input.number, point));
    for (std::uint32_t read = 0; read < stencil.reads(); ++read) all.push_back(element(read, point));
    words.push_back(capture);
    all.push_back(capture);
    CHECK(outputs_of(shared.rest, words) == outputs_of(whole, all));
  }
}

}  // namespace

TEST_CASE("sums that neighbours have in common are computed once") {
  const Stencil stencil = mean_of_nine();
  const auto shared = share_windows(stencil.kernel(), stencil.reads(), stencil.follows());
  REQUIRE(shared.has_value());
  REQUIRE(shared->parts.size() == 1);
  CHECK(shared->parts[0].reads == std::vector<std::uint32_t>{0, 3, 6});
  CHECK(shared->parts[0].reach == 2);
  CHECK(shared->parts[0].kernel.blocks[0].size() == 2);
  REQUIRE(shared->inputs.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(shared->inputs[i].part == 0);
    CHECK(shared->inputs[i].number == i);
  }
  CHECK(shared->rest.blocks[0].size() == 3);
  check_values(stencil, *shared, 1);
}

TEST_CASE("what neighbours do not share, or what would not pay, stays as it is") {
  Stencil stencil = mean_of_nine();
  CHECK(!share_windows(stencil.kernel(), stencil.reads(), 0).has_value());
  // the rows lie apart: the middle elements of each do not follow the first ones
  CHECK(!share_windows(stencil.kernel(), stencil.reads(), 0b100'100'100).has_value());
  stencil.body =
      "%11: float = add_float %1 %2 at 0:0-0\n%12: float = add_float %2 %3 at 0:0-0\n"
      "%13: float = mul_float %11 %12 at 0:0-0\n";
  stencil.outputs = "%13";
  CHECK(!share_windows(stencil.kernel(), stencil.reads(), stencil.follows()).has_value());
}

TEST_CASE("what may fail, or is of the point, is not shared") {
  Stencil stencil{3, 3, "", "%15"};
  for (const char* const operation : {"int_to_float %0", "log %10"}) {
    stencil.body = fmt::format(
        "%11: float = {} at 0:0-0\n%12: float = mul_add %1 %4 %11 at 0:0-0\n%13: float = mul_add %2 %5 %11 at 0:0-0\n"
        "%14: float = mul_add %3 %6 %11 at 0:0-0\n%15: float = mul_add %12 %13 %14 at 0:0-0\n",
        operation);
    CHECK(!share_windows(stencil.kernel(), stencil.reads(), stencil.follows()).has_value());
  }
}

TEST_CASE("sums that rows have in common are kept, and points share what is computed of them") {
  // 3 planes of 3 rows of 3 elements
  constexpr std::uint32_t reads = 27;
  std::string parameters = "%0: int", body;
  for (std::uint32_t i = 1; i <= reads; ++i) parameters += fmt::format(", %{}: float", i);
  std::uint32_t next = reads + 1;
  const auto add = [&](std::uint32_t one, std::uint32_t other) {
    body += fmt::format("%{}: float = add_float %{} %{} at 0:0-0\n", next, one, other);
    return next++;
  };
  const auto sum_of_three = [&](const auto& of) { return add(add(of(0), of(1)), of(2)); };
  const auto sum_of_planes = [&](std::uint32_t row, std::uint32_t column) {
    return sum_of_three([&](std::uint32_t plane) { return 1 + plane * 9 + row * 3 + column; });
  };
  std::array<std::uint32_t, 3> sums;
  for (std::uint32_t column = 0; column < 3; ++column) {
    std::array<std::uint32_t, 3> rows;
    for (std::uint32_t row = 0; row < 3; ++row) rows[row] = sum_of_planes(row, column);
    sums[column] = sum_of_three([&](std::uint32_t row) { return rows[row]; });
  }
  const std::uint32_t output = sum_of_three([&](std::uint32_t column) { return sums[column]; });
  const vm::Kernel kernel =
      kernel_of(fmt::format("kernel 0 \"k\" at 0:0-0 ({}) -> (%{}) {{\n{}}}\n", parameters, output, body));
  std::uint64_t follows = 0, row_follows = 0;
  for (std::uint32_t i = 0; i < reads; ++i) {
    if (i % 3 != 0) follows |= std::uint64_t{1} << i;
    if (i % 9 == 3 || i % 9 == 6) row_follows |= std::uint64_t{1} << i;
  }
  CHECK(!share_rows(kernel, reads, follows, 0).has_value());
  const auto rows = share_rows(kernel, reads, follows, row_follows);
  REQUIRE(rows.has_value());
  REQUIRE(rows->parts.size() == 1);
  const SharedWindows::Part& part = rows->parts[0];
  CHECK(vm::verify_kernel(part.kernel) == "");
  CHECK(part.reads == std::vector<std::uint32_t>{0, 9, 18});
  CHECK(part.rows == 2);
  CHECK(part.reach == 2);
  REQUIRE(rows->inputs.size() == 9);
  for (std::uint32_t i = 0; i < 9; ++i) {
    CHECK(rows->inputs[i].part == 0);
    CHECK(rows->inputs[i].row == i / 3);
    CHECK(rows->inputs[i].number == i % 3);
  }
  CHECK(vm::verify_kernel(rows->rest) == "");
  CHECK(following_inputs(*rows, follows) == 0b110'110'110);
  const auto points = share_windows(rows->rest, 9, following_inputs(*rows, follows));
  REQUIRE(points.has_value());
  REQUIRE(points->parts.size() == 1);
  CHECK(points->parts[0].reads == std::vector<std::uint32_t>{0, 3, 6});

  std::mt19937_64 random(1);
  std::vector<std::int64_t> elements = {0}, words = {0};
  for (std::uint32_t i = 0; i < reads; ++i)
    elements.push_back(std::bit_cast<std::int64_t>(std::uniform_real_distribution(-9.0, 9.0)(random)));
  for (std::uint32_t place = 0; place < 9; ++place)
    words.push_back(
        outputs_of(part.kernel, {0, elements[1 + place], elements[10 + place], elements[19 + place]}).at(0));
  CHECK(outputs_of(rows->rest, words) == outputs_of(kernel, elements));
}

TEST_CASE("rows whose sums are not those of a rectangle share none") {
  // the sums lie on a diagonal: between them there may be nothing to read
  std::string body, parameters = "%0: int";
  for (unsigned i = 1; i <= 27; ++i) parameters += fmt::format(", %{}: float", i);
  unsigned next = 28;
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned first = 1 + 4 * i;  // row i, column i
    body += fmt::format("%{}: float = add_float %{} %{} at 0:0-0\n", next, first, first + 9);
    body += fmt::format("%{}: float = add_float %{} %{} at 0:0-0\n", next + 1, next, first + 18);
    next += 2;
  }
  body += "%34: float = add_float %29 %31 at 0:0-0\n%35: float = add_float %34 %33 at 0:0-0\n";
  const vm::Kernel kernel =
      kernel_of(fmt::format("kernel 0 \"k\" at 0:0-0 ({}) -> (%35) {{\n{}}}\n", parameters, body));
  std::uint64_t follows = 0, row_follows = 0;
  for (unsigned i = 0; i < 27; ++i) {
    if (i % 3 != 0) follows |= std::uint64_t{1} << i;
    if (i % 9 == 3 || i % 9 == 6) row_follows |= std::uint64_t{1} << i;
  }
  CHECK(!share_rows(kernel, 27, follows, row_follows).has_value());
}

TEST_CASE("what may fail is of no part") {
  Stencil stencil = mean_of_nine();
  stencil.body +=
      "%21: int = idiv %0 %0 at 0:0-0\n%22: float = int_to_float %21 at 0:0-0\n"
      "%23: float = add_float %20 %22 at 0:0-0\n";
  stencil.outputs = "%23";
  const auto shared = share_windows(stencil.kernel(), stencil.reads(), stencil.follows());
  REQUIRE(shared.has_value());
  CHECK(shared->parts.at(0).kernel.blocks[0].size() == 2);
  CHECK(shared->rest.blocks[0].size() == 6);
}

TEST_CASE("random stencils give what they gave") {
  unsigned shared_count = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    Stencil stencil{1 + below(3), 2 + below(4), "", ""};
    unsigned next = stencil.reads() + 2;
    const auto put = [&](const std::string& operation) {
      stencil.body += fmt::format("%{}: float = {} at 0:0-0\n", next, operation);
      return next++;
    };
    const char* const names[] = {"add_float", "sub_float", "mul_float", "max_float"};
    // what a column gives, for some of the columns; operations are those of a seed, so that columns agree
    std::vector<unsigned> values;
    for (unsigned column = 0; column < stencil.columns; ++column) {
      if (below(5) == 0) continue;
      std::mt19937_64 same(seed);
      unsigned value = 1 + column;
      for (unsigned i = 0; i < 3; ++i) {
        const unsigned row = static_cast<unsigned>(same() % stencil.rows);
        const unsigned other = same() % 4 == 0 ? stencil.reads() + 1 : 1 + row * stencil.columns + column;
        value = put(fmt::format("{} %{} %{}", names[same() % 4], value, other));
      }
      values.push_back(value);
    }
    values.push_back(1 + below(stencil.reads()));
    unsigned whole = values[0];
    for (std::size_t i = 1; i < values.size(); ++i)
      whole = put(fmt::format("{} %{} %{}", names[below(4)], whole,
                              values[below(2) == 0 ? i : below(static_cast<unsigned>(i))]));
    const unsigned last = put(fmt::format("add_float %{} %{}", whole, values[0]));
    stencil.outputs = fmt::format("%{}, %{}", last, below(2) == 0 ? values[0] : whole);
    const auto shared = share_windows(stencil.kernel(), stencil.reads(), stencil.follows());
    if (!shared) continue;
    ++shared_count;
    check_values(stencil, *shared, seed);
  }
  CHECK(shared_count > 50);
}

}  // namespace raddle::codegen
