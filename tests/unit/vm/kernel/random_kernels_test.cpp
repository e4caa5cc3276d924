// Random kernels, whose branches and loops points take in all ways: by lanes they do what they do point by point.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/vm/kernel/both_machines.hpp"

namespace raddle::vm {

using test::BothMachines;
using test::Numbers;
using test::size;

namespace {

/// Of ints, mostly small ones; a division may fail. Kernel 0 calls kernel 1.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string run() {
    std::string text = kernel(0, "(%0: int, %1: int[], %2: int[], %3: int[])", 4, {});
    callee_ = false;
    return text + kernel(1, "(%0: int, %1: int)", 2, {0, 1});
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  static constexpr const char* at = " at 0:0-0\n";

  std::string kernel(int id, const char* parameters, unsigned first, std::vector<unsigned> values) {
    next_ = first;
    std::string text;
    std::size_t constant = 0;
    for (const int number : {0, 1, 2, 7, 1009}) {
      constants_[constant++] = next_;
      text += fmt::format("const %{}: int = {}\n", next_, number);
      values.push_back(next_++);
    }
    if (id == 0) {
      for (const unsigned array : {1, 2, 3}) {
        text += fmt::format("%{}: int = get_int %{} %0{}", next_, array, at);
        values.push_back(next_++);
      }
    }
    text += block(values, 0);
    std::string outputs;
    for (std::size_t i = 0; i < 3; ++i)
      outputs += fmt::format("{}%{}", i == 0 ? "" : ", ", values[values.size() - 1 - i]);
    return fmt::format("kernel {} \"k\" at 0:0-0 {} -> ({}) {{\n{}}}\n", id, parameters, outputs, text);
  }

  unsigned any(const std::vector<unsigned>& values) {
    return values[values.size() - 1 - below(std::min<std::size_t>(values.size(), 8))];
  }
  /// @return its number
  unsigned put(std::string& text, const std::string& operation, const char* type = "int") {
    text += fmt::format("%{}: {} = {}{}", next_, type, operation, at);
    return next_++;
  }
  unsigned condition(std::string& text, const std::vector<unsigned>& values) {
    const char* const ops[] = {"lt_int", "le_int", "eq_int", "ne_int"};
    return put(text, fmt::format("{} %{} %{}", ops[below(4)], any(values), any(values)), "boolean");
  }
  unsigned small(std::string& text, unsigned value) {
    return put(text, fmt::format("mod %{} %{}", value, constants_[4]));
  }

  /// @param values  gets those that are known behind the block
  std::string block(std::vector<unsigned>& values, int depth) {
    std::string text;
    const std::uint64_t statements = 2 + below(4);
    for (std::uint64_t i = 0; i < statements; ++i) {
      const std::uint64_t kind = below(depth < 3 ? 8 : 5);
      if (kind < 3) {
        const char* const ops[] = {"add_int", "sub_int", "mul_int", "min_int", "max_int"};
        values.push_back(small(text, put(text, fmt::format("{} %{} %{}", ops[below(5)], any(values), any(values)))));
      } else if (kind == 3) {
        const unsigned divisor = below(20) == 0 ? any(values) : constants_[3];
        values.push_back(put(text, fmt::format("idiv %{} %{}", any(values), divisor)));
      } else if (kind == 4) {
        if (!callee_) continue;
        text += fmt::format("(%{}: int, %{}: int, %{}: int) = call 1 (%{}, %{}){}", next_, next_ + 1, next_ + 2,
                            any(values), any(values), at);
        for (int result = 0; result < 3; ++result) values.push_back(next_++);
      } else if (kind < 7) {
        branch(text, values, depth);
      } else {
        loop(text, values, depth);
      }
    }
    return text;
  }
  void branch(std::string& text, std::vector<unsigned>& values, int depth) {
    const unsigned test = condition(text, values), first = next_, second = next_ + 1;
    next_ += 2;
    const auto arm = [&] {
      std::vector<unsigned> inside = values;
      std::string body = block(inside, depth + 1);
      body += fmt::format("%{}: int = copy %{}{}", first, any(inside), at);
      return body + fmt::format("%{}: int = max_int %{} %{}{}", second, any(inside), any(inside), at);
    };
    text += fmt::format("if %{}{}{{\n{}}} else {{\n", test, at, arm());
    text += arm() + "}\n";
    values.push_back(first);
    values.push_back(second);
  }
  void loop(std::string& text, std::vector<unsigned>& values, int depth) {
    const unsigned limit = put(text, fmt::format("mod %{} %{}", any(values), constants_[3]));
    const unsigned counter = next_, x = next_ + 1, y = next_ + 2;
    next_ += 3;
    const bool is_after = below(2) == 0;
    text += fmt::format("loop (%{}: int, %{}: int, %{}: int) = (%{}, %{}, %{}){}{{\n", counter, x, y, constants_[0],
                        any(values), any(values), at);
    std::vector<unsigned> inside = values;
    inside.insert(inside.end(), {x, y});
    std::string test;
    const unsigned condition = put(test,
                                   fmt::format("{} %{} %{}", is_after ? "le_int" : "lt_int", is_after ? limit : counter,
                                               is_after ? counter : limit),
                                   "boolean");
    std::string body = block(inside, depth + 1);
    const unsigned next_counter = put(body, fmt::format("add_int %{} %{}", counter, constants_[1]));
    text += fmt::format("{}}} {} %{} {{\n{}}} next (%{}, %{}, %{})\n", test, is_after ? "until" : "while", condition,
                        body, next_counter, below(2) == 0 ? y : any(inside), below(2) == 0 ? x : any(inside));
    values.insert(values.end(), {x, y});
  }

  std::mt19937_64 random_;
  unsigned next_ = 0;
  unsigned constants_[5] = {};
  bool callee_ = true;  ///< there is one to call
};

}  // namespace

TEST_CASE("random kernels") {
  unsigned run_count = 0, well_count = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Generator generator(seed);
    const std::string text = generator.run();
    CAPTURE(text);
    const auto read = read_kernels(text);
    REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()));
    const std::vector<Kernel> kernels{read->at(0).kernel, read->at(1).kernel};
    if (!plan_lanes(kernels)[0].exists()) continue;  // too many registers
    BothMachines machines(text);
    const auto numbers = [&](std::uint64_t range) {
      Numbers all(size);
      for (std::int64_t& number : all) number = static_cast<std::int64_t>(generator.below(range)) - 3;
      return all;
    };
    for (const std::uint64_t range : {5, 100, 5000}) {
      ++run_count;
      well_count += machines.agree(numbers(range), numbers(range), numbers(range), 0, 1,
                                   1 + static_cast<std::int64_t>(generator.below(size)));
    }
  }
  CHECK(run_count > 300);
  CHECK(well_count > run_count / 2);
}

}  // namespace raddle::vm
