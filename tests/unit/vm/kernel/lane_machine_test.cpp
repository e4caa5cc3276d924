// What many points at once come to is what each of them comes to by itself, bit by bit, whatever the numbers are.
#include "vm/kernel/lane_machine.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "vm/kernel/leaf_machine.hpp"
#include "vm/math/lane_functions.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::vm {

namespace {

using enum LeafOpcode;
using Numbers = std::vector<std::int64_t>;
constexpr std::size_t size = LaneMachine::most_points;

/// (point, a[], b[], c[]) -> a[point] op b[point], for mul_add and the like with c[point] as the third.
struct OneOperation {
  explicit OneOperation(LeafOpcode opcode, LeafType result = LeafType::int_, LeafOpcode get = get_int)
      : result(result) {
    program.functions.resize(1);
    LeafCode& code = program.functions[0].leaf_code;
    code.parameter_words = 7;
    code.frame_words = 11;
    code.instructions = {{get, 7, 1, 0}, {get, 8, 3, 0}, {get, 9, 5, 0}, {opcode, 10, 7, 8}};
    if (opcode == mul_add || opcode == mul_sub || opcode == sub_mul) code.instructions.push_back({move, 9});
    code.instructions.push_back({end});
    code.outputs = {10};
    code.batch_cost = 5;
  }

  /// Both ways. @return whether all points of the batch end well
  bool agrees(const Numbers& a, const Numbers& b, const Numbers& c, std::int64_t first, std::int64_t step,
              std::int64_t count) {
    const auto word = [](const Numbers& numbers) { return reinterpret_cast<std::int64_t>(numbers.data()); };
    Numbers arguments{0, word(a), size, word(b), size, word(c), size};
    LeafMachine single(program, settings, foreigns);
    LaneMachine batch(settings);
    batch.prepare(program.functions[0].leaf_code, arguments);
    Numbers results(size, 77);
    void* const places[] = {results.data()};
    const LeafType types[] = {result};
    const bool is_well = batch.run(first, step, count, types, places);
    bool all_well = true;
    for (std::int64_t i = 0; i < count; ++i) {
      arguments[0] = first + i * step;
      std::int64_t expected = 0;
      const auto outcome = single.run(0, arguments, &expected, [] { return true; });
      all_well = all_well && outcome == LeafMachine::Outcome::done;
      if (!is_well || outcome != LeafMachine::Outcome::done) continue;
      const std::int64_t got = result == LeafType::boolean ? reinterpret_cast<const std::uint8_t*>(results.data())[i]
                                                           : results[static_cast<std::size_t>(i)];
      const bool both_nan = result == LeafType::float_ && std::isnan(std::bit_cast<double>(got)) &&
                            std::isnan(std::bit_cast<double>(expected));
      if (got == expected || both_nan) continue;
      FAIL_CHECK("point ", i, ": ", got, " is not ", expected, " of ", a[static_cast<std::size_t>(arguments[0])], ", ",
                 b[static_cast<std::size_t>(arguments[0])]);
    }
    CHECK(is_well == all_well);
    return is_well;
  }

  const LeafType result;
  Program program;
  RunSettings settings;
  LeafMachine::Foreigns foreigns;
};

std::mt19937_64 random_numbers(20260101);

template <typename Make>
Numbers numbers_of(const Make& make) {
  Numbers numbers(size);
  for (std::int64_t& number : numbers) number = make();
  return numbers;
}
Numbers any_of(const Numbers& some) {
  return numbers_of([&] { return some[random_numbers() % some.size()]; });
}

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t narrow_most = std::numeric_limits<std::int32_t>::max();
const Numbers narrow_edges{0, 1, -1, 2, -2, 3, 7, -7, 1000, narrow_most, -narrow_most, narrow_most - 1, 65536, -65535};
const Numbers wide_edges{least,
                         least + 1,
                         most,
                         most - 1,
                         narrow_most + 1,
                         -narrow_most - 1,
                         -narrow_most - 2,
                         std::int64_t{1} << 53,
                         (std::int64_t{1} << 53) + 1,
                         3'037'000'499,
                         3'037'000'500};

Numbers narrow() {
  return numbers_of([] { return static_cast<std::int64_t>(static_cast<std::int32_t>(random_numbers() | 1)); });
}
Numbers wide() {
  return numbers_of([] { return static_cast<std::int64_t>(random_numbers()) >> random_numbers() % 60; });
}

const std::vector<double> float_edges{0.0,
                                      -0.0,
                                      1.0,
                                      -1.5,
                                      1e308,
                                      -1e308,
                                      5e-324,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::nan(""),
                                      0.1,
                                      3.0};
Numbers floats() {
  return numbers_of([] {
    const double number = random_numbers() % 3 == 0 ? float_edges[random_numbers() % float_edges.size()]
                                                    : static_cast<double>(random_numbers() % 2000) / 7 - 100;
    return std::bit_cast<std::int64_t>(number);
  });
}

}  // namespace

TEST_CASE("operations of ints: the same results, and the same ones fail") {
  const LeafOpcode opcodes[] = {add_int, sub_int, mul_int, idiv, mod, neg_int, eq_int, ne_int, lt_int, le_int};
  for (const LeafOpcode opcode : opcodes) {
    OneOperation operation(opcode);
    CAPTURE(static_cast<int>(opcode));
    bool has_ended_well = false;
    for (int round = 0; round < 40; ++round) {
      Numbers edges = narrow_edges;
      edges.insert(edges.end(), wide_edges.begin(), wide_edges.end());
      for (const Numbers& left : {narrow(), any_of(narrow_edges), wide(), any_of(edges)})
        for (const Numbers& right : {narrow(), any_of(narrow_edges), wide(), any_of(edges)}) {
          operation.agrees(left, right, left, 0, 1, size);
          has_ended_well |= operation.agrees(left, right, left, static_cast<std::int64_t>(random_numbers() % 200), 1,
                                             1 + static_cast<std::int64_t>(random_numbers() % 50));
        }
    }
    CHECK(has_ended_well);
  }
}

TEST_CASE("quotients and rests of narrow numbers are those of ints, with all signs") {
  for (const LeafOpcode opcode : {idiv, mod}) {
    OneOperation operation(opcode);
    for (int round = 0; round < 200; ++round) {
      const auto divisor = 1 + static_cast<std::int64_t>(random_numbers() % 1000);
      const auto near = numbers_of([&] {  // next to multiples and to halves of them
        const auto multiple = static_cast<std::int64_t>(random_numbers() % 2'000'000) - 1'000'000;
        const std::int64_t half = random_numbers() % 2 == 0 ? 0 : divisor / 2;
        return multiple * divisor + half + static_cast<std::int64_t>(random_numbers() % 3) - 1;
      });
      const auto divisors = numbers_of([&] { return random_numbers() % 2 == 0 ? divisor : -divisor; });
      CHECK(operation.agrees(near, divisors, near, 0, 1, size));
    }
  }
}

TEST_CASE("operations of floats: the same bits, with infinities, NaN, zeros of both signs") {
  for (const LeafOpcode opcode :
       {add_float, sub_float, mul_float, div_float, pow_float, neg_float, mul_add, mul_sub, sub_mul}) {
    OneOperation operation(opcode, LeafType::float_, get_float);
    CAPTURE(static_cast<int>(opcode));
    for (int round = 0; round < 20; ++round) CHECK(operation.agrees(floats(), floats(), floats(), 0, 1, size));
  }
  for (const LeafOpcode opcode : {eq_float, ne_float, lt_float, le_float}) {
    OneOperation operation(opcode, LeafType::boolean, get_float);
    for (int round = 0; round < 20; ++round) CHECK(operation.agrees(floats(), floats(), floats(), 3, 2, 100));
  }
  OneOperation conversion(int_to_float, LeafType::float_);
  for (int round = 0; round < 20; ++round) CHECK(conversion.agrees(wide(), wide(), wide(), 0, 1, size));
}

TEST_CASE("mathematics: all lanes at once what each of them is by itself; no result fails") {
  const BuiltinFunction power = [](const BuiltinCall&, std::span<const Value> arguments,
                                   std::span<Value> results) -> std::expected<void, std::string> {
    const double x = arguments[0].as_float(), y = arguments[1].as_float(), result = math::scalar::pow(x, y);
    if (std::isnan(result) && !std::isnan(x) && !std::isnan(y)) return std::unexpected("domain error");
    results[0] = Value::of(result);
    return {};
  };
  OneOperation operation(library, LeafType::float_, get_float);
  LeafCode& code = operation.program.functions[0].leaf_code;
  code.instructions[3] = {library, 0};
  code.library = {
      {power, {{ValueKind::float_, 7, {}}, {ValueKind::float_, 8, {}}}, true, 10, math::lane_function("pow", 2)}};
  const auto positive = [] {
    return numbers_of([] { return std::bit_cast<std::int64_t>(static_cast<double>(random_numbers() % 2000) / 7); });
  };
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{size}})
    for (int round = 0; round < 5; ++round) CHECK(operation.agrees(positive(), floats(), floats(), 0, 1, count));
  CHECK_FALSE(operation.agrees(floats(), floats(), floats(), 0, 1, size));  // some number below 0 to a broken power
}

TEST_CASE("booleans") {
  const auto truths = [] { return numbers_of([] { return static_cast<std::int64_t>(random_numbers() % 2); }); };
  for (const LeafOpcode opcode : {and_, or_, not_, eq_int}) {
    OneOperation operation(opcode, LeafType::boolean);
    CHECK(operation.agrees(truths(), truths(), truths(), 0, 1, size));
  }
}

TEST_CASE("an index outside of the array fails; points may count down") {
  OneOperation operation(add_int);
  const Numbers ones(size, 1);
  CHECK(operation.agrees(ones, ones, ones, size - 1, -1, size));
  CHECK_FALSE(operation.agrees(ones, ones, ones, size - 2, -1, size));
  CHECK_FALSE(operation.agrees(ones, ones, ones, 250, 1, 7));
  CHECK(operation.agrees(ones, ones, ones, 250, 1, 6));
}

}  // namespace raddle::vm
