// What many points at once come to is what each of them comes to by itself, bit by bit, whatever the numbers are.
#include "vm/kernel/lane_machine.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/vm/kernel/both_machines.hpp"

namespace raddle::vm {

using test::BothMachines;
using test::Numbers;
using test::size;

namespace {

/// a[point] op b[point], or of three; booleans are ints that are not 0, or floats that are NaN.
struct OneOperation : BothMachines {
  explicit OneOperation(KernelOp op) : BothMachines(text(op)) {}
  bool agrees(const Numbers& a, const Numbers& b, const Numbers& c, std::int64_t first, std::int64_t step,
              std::int64_t count) {
    return agree(a, b, c, first, step, count);
  }

  static std::string type_of(char letter) {
    switch (letter) {
      case 'f': return "float";
      case 'b': return "boolean";
      case 'n': return "int32";
      case 'g': return "float32";
      default: return "int";
    }
  }

  static std::string text(KernelOp op) {
    const char letter = info(op).inputs.back();
    const std::string number = letter == 'b' ? "int" : type_of(letter);
    std::string body, operands, result;
    for (std::size_t i = 0; i < info(op).inputs.size(); ++i) {
      body += fmt::format("%{}: {} = get_{} %{} %0 at 0:0-0\n", 5 + i, number, number, 1 + i);
      if (info(op).inputs[i] == 'b')
        body += letter == 'f' ? fmt::format("%{}: boolean = is_nan %{} at 0:0-0\n", 8 + i, 5 + i)
                              : fmt::format("%{}: boolean = ne_int %{} %4 at 0:0-0\n", 8 + i, 5 + i);
      operands += fmt::format(" %{}", (info(op).inputs[i] == 'b' ? 8 : 5) + i);
    }
    if (info(op).result == 'v')
      body += fmt::format("{}{} at 0:0-0\n%11: int = copy %0 at 0:0-0\n", info(op).text, operands);
    else
      body += fmt::format("%11: {} = {}{} at 0:0-0\n", info(op).result == 'x' ? number : type_of(info(op).result),
                          info(op).text, operands);
    // registers that this operation has no use for
    for (std::size_t i = info(op).inputs.size(); i < 3; ++i)
      body += fmt::format("%{}: int = copy %0 at 0:0-0\n", 5 + i);
    for (std::size_t i = 0; i < 3; ++i)
      if (i >= info(op).inputs.size() || info(op).inputs[i] != 'b')
        body += fmt::format("%{}: int = copy %0 at 0:0-0\n", 8 + i);
    return fmt::format(
        "kernel 0 \"k\" at 0:0-0 (%0: int, %1: {0}[], %2: {0}[], %3: {0}[]) -> (%11) {{\n"
        "const %4: int = 0\n{1}}}\n",
        number, body);
  }
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

/// All that compute scalars from scalars of this letter only.
std::vector<KernelOp> all_operations(std::string_view letter) {
  std::vector<KernelOp> found;
  for (int number = 0; number < static_cast<int>(KernelOp::new_ints); ++number) {
    const auto op = static_cast<KernelOp>(number);
    if (info(op).inputs.find_first_not_of(letter) == std::string_view::npos) found.push_back(op);
  }
  return found;
}

}  // namespace

TEST_CASE("operations of ints: the same results, and the same ones fail") {
  for (const KernelOp op : all_operations("i")) {
    OneOperation operation(op);
    CAPTURE(info(op).text);
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
    if (info(op).failure != KernelFailure::assertion && op != KernelOp::slice) CHECK(has_ended_well);
  }
}

TEST_CASE("slices: the last index may be right before the first one, and nothing overflows") {
  OneOperation operation(KernelOp::slice);
  const auto holds = [&](std::int64_t first, std::int64_t last, std::int64_t extent) {
    return operation.agrees(Numbers(size, first), Numbers(size, last), Numbers(size, extent), 0, 1, size);
  };
  CHECK(holds(2, 4, 5));
  CHECK(holds(0, most - 1, most));
  CHECK(holds(0, -1, 0));
  CHECK(holds(5, 4, 5));
  CHECK(!holds(-1, 2, 5));
  CHECK(!holds(2, 5, 5));
  CHECK(!holds(3, 1, 5));
  CHECK(!holds(6, 5, 7 - 2));
  CHECK(!holds(0, least, 5));
  CHECK(!holds(least, most, most));
  CHECK(!holds(-1, most, most));
}

TEST_CASE("quotients and rests of narrow numbers are those of ints, with all signs") {
  for (const KernelOp op : {KernelOp::idiv, KernelOp::mod}) {
    OneOperation operation(op);
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
  for (const KernelOp op : all_operations("f")) {
    OneOperation operation(op);
    CAPTURE(info(op).text);
    for (int round = 0; round < 20; ++round) {
      operation.agrees(floats(), floats(), floats(), 0, 1, size);
      operation.agrees(floats(), floats(), floats(), 3, 2, 100);
      operation.agrees(floats(), floats(), floats(), 5, 1, 2);
    }
    const Numbers ones(size, std::bit_cast<std::int64_t>(1.0));
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{size}})
      if (info(op).failure != KernelFailure::assertion && op != KernelOp::log_base)  // 0 by 0
        CHECK(operation.agrees(ones, ones, ones, 0, 1, count));
  }
}

TEST_CASE("one of two numbers is chosen") {
  OneOperation ints(KernelOp::choose_int), floats_by_nan(KernelOp::choose_float);
  for (int round = 0; round < 20; ++round) {
    CHECK(ints.agrees(any_of(narrow_edges), wide(), narrow(), 3, 2, 100));
    CHECK(floats_by_nan.agrees(floats(), floats(), floats(), 0, 1, size));
  }
}

TEST_CASE("numbers of 32 bits become wider") {
  for (const char* const letter : {"n", "g"})
    for (const KernelOp op : all_operations(letter)) {
      OneOperation operation(op);
      CAPTURE(info(op).text);
      const Numbers any = numbers_of([] { return static_cast<std::int64_t>(random_numbers()); });
      CHECK(operation.agrees(any, any, any, 0, 1, size));
    }
}

TEST_CASE("booleans") {
  const auto truths = [] { return numbers_of([] { return static_cast<std::int64_t>(random_numbers() % 2); }); };
  for (const KernelOp op : all_operations("b")) {
    OneOperation operation(op);
    CAPTURE(info(op).text);
    for (int round = 0; round < 5; ++round) operation.agrees(truths(), truths(), truths(), 0, 1, size);
  }
}

TEST_CASE("an index outside of the array fails; points may count down") {
  OneOperation operation(KernelOp::add_int);
  const Numbers ones(size, 1);
  CHECK(operation.agrees(ones, ones, ones, size - 1, -1, size));
  CHECK_FALSE(operation.agrees(ones, ones, ones, size - 2, -1, size));
  CHECK_FALSE(operation.agrees(ones, ones, ones, 250, 1, 7));
  CHECK(operation.agrees(ones, ones, ones, 250, 1, 6));
}

TEST_CASE("branches that points part at: what several of them assign, branches in branches, none taken") {
  BothMachines machines(R"(
    kernel 0 "k" at 0:0-0 (%0: int, %1: int[], %2: int[], %3: int[]) -> (%9, %10, %14) {
      const %4: int = 100
      const %5: int = 3
      %6: int = get_int %1 %0 at 0:0-0
      %7: int = get_int %2 %0 at 0:0-0
      %8: boolean = lt_int %6 %7 at 0:0-0
      if %8 at 0:0-0 {
        %9: int = sub_int %7 %6 at 0:0-0
        %11: boolean = lt_int %9 %4 at 0:0-0
        if %11 at 0:0-0 {
          %12: int = idiv %4 %9 at 0:0-0
          %10: float = int_to_float %12 at 0:0-0
        } else {
          %13: float = int_to_float %9 at 0:0-0
          %10: float = sqrt %13 at 0:0-0
        }
        %14: boolean = copy %11 at 0:0-0
      } else {
        %9: int = copy %5 at 0:0-0
        %10: float = pow_int %5 %5 at 0:0-0
        %14: boolean = eq_int %6 %7 at 0:0-0
      }
    })");
  const auto numbers = [](std::uint64_t range) {
    return numbers_of([=] { return static_cast<std::int64_t>(random_numbers() % range); });
  };
  for (const std::uint64_t range : {1, 2, 50, 1000, 100000})
    for (const std::int64_t count : {1, 8, 9, 100, 256})
      CHECK(machines.agree(numbers(range), numbers(range), numbers(1), 0, 1, count));
  Numbers sorted = numbers(1000);
  std::ranges::sort(sorted);  // whole vectors take one side
  CHECK(machines.agree(sorted, Numbers(size, 500), sorted, 0, 1, size));
}

TEST_CASE("loops that points leave one after the other; variables that change places; calls") {
  BothMachines machines(R"(
    kernel 0 "k" at 0:0-0 (%0: int, %1: int[], %2: int[], %3: int[]) -> (%10, %11, %12, %21) {
      const %4: int = 0
      const %5: int = 1
      const %6: int = 2
      %7: int = get_int %1 %0 at 0:0-0
      %8: int = get_int %2 %0 at 0:0-0
      loop (%9: int, %10: int, %11: int, %12: int) = (%4, %8, %7, %4) at 0:0-0 {
        %13: boolean = lt_int %9 %7 at 0:0-0
      } while %13 {
        %14: int = add_int %9 %5 at 0:0-0
        (%15: int, %16: boolean) = call 1 (%12, %9, %3) at 0:0-0
        %17: int = mod %15 %6 at 0:0-0
        %18: boolean = eq_int %17 %4 at 0:0-0
        if %16 at 0:0-0 {
          %19: int = copy %15 at 0:0-0
        } else {
          %19: int = add_int %15 %10 at 0:0-0
        }
      } next (%14, %11, %10, %19)
      loop (%20: int, %21: int) = (%8, %4) at 0:0-0 {
      } until %24 {
        %22: int = idiv %20 %6 at 0:0-0
        %23: int = add_int %21 %5 at 0:0-0
        %24: boolean = eq_int %22 %4 at 0:0-0
      } next (%22, %23)
    }
    kernel 1 "called" at 0:0-0 (%0: int, %1: int, %2: int[]) -> (%6, %7) {
      const %3: int = 7
      const %4: int = 255
      %5: int = min_int %1 %4 at 0:0-0
      %8: int = get_int %2 %5 at 0:0-0
      %6: int = add_int %0 %8 at 0:0-0
      %7: boolean = lt_int %8 %3 at 0:0-0
    })");
  const auto numbers = [](std::uint64_t range) {
    return numbers_of([=] { return static_cast<std::int64_t>(random_numbers() % range); });
  };
  for (const std::uint64_t range : {1, 2, 5, 40, 300})
    for (const std::int64_t count : {1, 8, 9, 100, 256})
      CHECK(machines.agree(numbers(range), numbers(range), numbers(20), 0, 1, count));
  // one point has far more rounds than all others; one fails in a round that no other has
  Numbers rounds(size, 3), elements(size, 1);
  rounds[77] = 1000;
  CHECK(machines.agree(rounds, rounds, elements, 0, 1, size));
  elements[255] = most;
  CHECK_FALSE(machines.agree(rounds, rounds, elements, 0, 1, size));
  CHECK(machines.agree(rounds, rounds, elements, 78, 1, size - 78));
}

TEST_CASE("a loop without end stops when it is told to; what calls itself is not run by lanes") {
  BothMachines machines(R"(
    kernel 0 "k" at 0:0-0 (%0: int) -> (%2) {
      const %1: boolean = true
      loop (%2: int) = (%0) at 0:0-0 {
      } while %1 {
        %3: int = max_int %2 %0 at 0:0-0
      } next (%3)
    })");
  LaneMachine lanes(machines.program);
  const std::int64_t argument = 0;
  lanes.prepare(0, {&argument, 1});
  Numbers results(size);
  void* const place = results.data();
  unsigned patience = 10;
  CHECK(lanes.run(0, 1, size, {&place, 1}, [&] { return patience-- > 0; }) == LaneMachine::Outcome::stopped);

  const auto recursive = read_kernels(R"(
    kernel 0 "f" at 0:0-0 (%0: int) -> (%1) {
      (%1: int) = call 0 (%0) at 0:0-0
    })");
  REQUIRE(recursive.has_value());
  CHECK(!plan_lanes(std::vector<Kernel>{recursive->front().kernel})[0].exists());
}

}  // namespace raddle::vm
