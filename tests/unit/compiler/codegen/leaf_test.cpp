#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>

#include "compiler/codegen/load_plugin.hpp"
#include "compiler/codegen/loaded_leaf.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"
#include "vm/math/scalar.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::codegen {
namespace {

std::int64_t bits(double value) { return std::bit_cast<std::int64_t>(value); }
double number(std::int64_t bits) { return std::bit_cast<double>(bits); }

struct Outcome {
  std::int32_t status = -1;
  std::int64_t results[2] = {};
  raddle_leaf_failure failure = {};
  std::int64_t value() const { return results[0]; }
  double real() const { return number(results[0]); }
};

/// Stands in for a worker of the VM. If told so it shares all calls that are forked, and makes them when they are
/// joined.
struct TestWorker : raddle_leaf_worker {
  explicit TestWorker(bool shares = false) : raddle_leaf_worker{}, is_sharing(shares) {
    stack_limit = vm::stack_limit();
    idle_workers = &is_sharing;
    newest = &first;
    share = [](raddle_leaf_worker* worker) {
      auto* self = static_cast<TestWorker*>(worker);
      for (raddle_leaf_fork* fork = self->newest; fork != &self->first && !fork->task; fork = fork->older) {
        fork->task = self;
        ++self->shared;
      }
    };
    join = [](raddle_leaf_worker* worker, raddle_leaf_fork* fork, raddle_leaf_failure* failure) {
      auto* self = static_cast<TestWorker*>(worker);
      CHECK(self->newest == fork);
      self->newest = fork->older;
      self->abandoned += failure == nullptr;
      auto* words = reinterpret_cast<std::int64_t*>(fork + 1);
      return failure ? fork->site->code(worker, words, words + fork->site->argument_words, failure) : -1;
    };
  }
  TestWorker(const TestWorker&) = delete;
  TestWorker& operator=(const TestWorker&) = delete;

  std::int32_t is_sharing;
  raddle_leaf_fork first{};
  int shared = 0, abandoned = 0;
};

/// Machine code for one leaf, called with words.
class Compiled {
 public:
  Compiled(const TestModule& test, const LeafBuilder& leaf) {
    const auto image = Plugin(RADDLE_PLUGIN).compile(request_of(test, leaf.id()));
    if (!image) {
      refusal = image.error();
      return;
    }
    auto loaded = LoadedLeaf::load(*image);
    REQUIRE_MESSAGE(loaded.has_value(), loaded.error());
    code_.emplace(std::move(*loaded));
  }
  Outcome operator()(std::vector<std::int64_t> arguments) const {
    TestWorker worker;
    return call(worker, std::move(arguments));
  }
  Outcome call(TestWorker& worker, std::vector<std::int64_t> arguments) const {
    REQUIRE_MESSAGE(code_.has_value(), refusal);
    Outcome outcome;
    outcome.status = code_->code()(&worker, arguments.data(), outcome.results, &outcome.failure);
    return outcome;
  }
  std::string refusal;

 private:
  std::optional<LoadedLeaf> code_;
};

/// A leaf of two operands of `type` that is one operation.
Compiled binary(TestModule& test, OpKind kind, TypeId type, TypeId result) {
  LeafBuilder leaf(test, "binary");
  const Operand left = leaf.parameter(type), right = leaf.parameter(type), out = leaf.output(result);
  leaf.add(kind, {out}, {left, right});
  return Compiled(test, leaf);
}

void build_fib(LeafBuilder& leaf) {
  const Operand n = leaf.parameter(int_), out = leaf.output(int_);
  leaf.if_(
      leaf.op(OpKind::lt, boolean, {n, leaf.number(std::int64_t{2})}), [&] { leaf.copy(out, n); },
      [&] {
        const Operand one = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{1})});
        const Operand a = leaf.op(OpKind::call, int_, {one}, leaf.id());
        const Operand two = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{2})});
        const Operand b = leaf.op(OpKind::call, int_, {two}, leaf.id());
        leaf.add(OpKind::add, {out}, {a, b});
      });
}

/// (int s) total(int n): adds n, n-1, ..., 1 by recursion. In tail position: with the sum so far as second parameter.
void build_total(LeafBuilder& leaf, bool in_tail_position) {
  const Operand n = leaf.parameter(int_);
  const Operand so_far = in_tail_position ? leaf.parameter(int_) : leaf.number(std::int64_t{0});
  const Operand out = leaf.output(int_);
  leaf.if_(
      leaf.op(OpKind::eq, boolean, {n, leaf.number(std::int64_t{0})}), [&] { leaf.copy(out, so_far); },
      [&] {
        const Operand less = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{1})});
        if (in_tail_position) {
          leaf.call({out}, leaf.id(), {less, leaf.op(OpKind::add, int_, {so_far, n})});
        } else {
          leaf.add(OpKind::add, {out}, {n, leaf.op(OpKind::call, int_, {less}, leaf.id())});
        }
      });
}

}  // namespace

TEST_CASE("a launched leaf makes many calls, up to the one that fails") {
  TestModule test;
  LeafBuilder leaf(test, "launched");
  const Operand point = leaf.parameter(int_), dividend = leaf.parameter(int_), out = leaf.output(int_);
  leaf.add(OpKind::idiv, {out}, {dividend, point});
  test.module.functions[leaf.id()].is_launched = true;
  const Compiled launch(test, leaf);
  std::int64_t results[5] = {};
  const auto buffer = reinterpret_cast<std::int64_t>(results);
  CHECK(launch({-2, 1, 5, buffer, 10}).value() == 2);  // -2, -1; then by 0
  CHECK(results[0] == -5);
  CHECK(results[1] == -10);
  CHECK(launch({1, 2, 3, buffer, 30}).value() == 3);  // 1, 3, 5
  CHECK(results[0] == 30);
  CHECK(results[1] == 10);
  CHECK(results[2] == 6);
}

TEST_CASE("points of a projected launch read elements that follow each other") {
  TestModule test;
  LeafBuilder leaf(test, "projected");
  leaf.parameter(int_);
  const Operand dividend = leaf.parameter(int_), divisor = leaf.parameter(int_), takes = leaf.parameter(boolean);
  const Operand added = leaf.parameter(int_), quotient = leaf.output(int_), taken = leaf.output(boolean);
  leaf.add(OpKind::add, {quotient}, {leaf.op(OpKind::idiv, int_, {dividend, divisor}), added});
  leaf.add(OpKind::not_, {taken}, {takes});
  test.module.functions[leaf.id()].is_launched = true;
  CodeRequest request = request_of(test, leaf.id());
  request.entry = {vm::KernelEntry::points, 3};
  const auto image = Plugin(RADDLE_PLUGIN).compile(request);
  REQUIRE_MESSAGE(image.has_value(), image.error());
  const auto loaded = LoadedLeaf::load(*image);
  REQUIRE(loaded.has_value());
  const std::int64_t dividends[] = {10, 20, 30, 40, 50}, divisors[] = {1, 2, 3, 0, 5};
  const std::uint8_t truths[] = {0, 1, 0, 1, 0};
  std::int64_t quotients[5] = {};
  std::uint8_t opposites[5] = {9, 9, 9, 9, 9};
  const auto address = [](const void* at) { return reinterpret_cast<std::int64_t>(at); };
  const std::int64_t words[] = {
      7, 1, 5, address(quotients), address(opposites), address(dividends), address(divisors), address(truths), 100};
  TestWorker worker;
  std::int64_t made = -1;
  raddle_leaf_failure failure = {};
  CHECK(loaded->code()(&worker, words, &made, &failure) == raddle_leaf_ok);
  CHECK(made == 3);  // then by 0
  for (const std::int64_t quotient : {quotients[0], quotients[1], quotients[2]}) CHECK(quotient == 110);
  CHECK(opposites[0] == 1);
  CHECK(opposites[1] == 0);
}

TEST_CASE("a stretch of ints that begins, ends or captures around 32 and 64 bits stops at the first overflow") {
  TestModule test;
  LeafBuilder leaf(test, "arithmetic");
  const Operand point = leaf.parameter(int_), factor = leaf.parameter(int_), out = leaf.output(int_);
  const Operand square = leaf.op(OpKind::mul, int_, {point, point});
  leaf.add(OpKind::sub, {out}, {leaf.op(OpKind::mul, int_, {square, factor}), point});
  test.module.functions[leaf.id()].is_launched = true;
  test.module.functions[leaf.id()].is_batched = true;
  const Compiled stretch(test, leaf);
  const auto expected = [](std::int64_t x, std::int64_t y, std::int64_t& result) {
    return !__builtin_mul_overflow(x, x, &result) && !__builtin_mul_overflow(result, y, &result) &&
           !__builtin_sub_overflow(result, x, &result);
  };
  constexpr std::int64_t half = std::int64_t{1} << 31, count = 37;
  std::int64_t results[count];
  std::size_t whole = 0, stopped = 0;
  for (const std::int64_t first : {least, -half - 20, -half, std::int64_t{-20}, half - 20, half, 3 * half, most - 20}) {
    for (const std::int64_t step :
         {-half, std::int64_t{-1}, std::int64_t{1}, std::int64_t{7}, half / 4, half, 2 * half}) {
      for (const std::int64_t y : {least, -half - 1, -half, std::int64_t{0}, std::int64_t{3}, half - 1, half, most}) {
        std::int64_t last, result, reached = 0;
        if (__builtin_add_overflow(first, step * (count - 1), &last)) continue;  // no such loop
        while (reached < count && expected(first + reached * step, y, result)) ++reached;
        REQUIRE(stretch({first, step, count, reinterpret_cast<std::int64_t>(results), y}).value() == reached);
        for (std::int64_t i = 0; i < reached; ++i) {
          expected(first + i * step, y, result);
          REQUIRE(results[i] == result);
        }
        ++(reached == count ? whole : stopped);
      }
    }
  }
  CHECK(whole > 20);
  CHECK(stopped > 50);
}

TEST_CASE("a leaf computes with ints, and overflow fails with the place of the operation") {
  TestModule test;
  const Compiled add = binary(test, OpKind::add, int_, int_);
  CHECK(add({40, 2}).value() == 42);
  const Outcome overflow = add({most, 1});
  CHECK(overflow.status == raddle_leaf_integer_overflow);
  CHECK(overflow.failure.place.begin == 1);
  CHECK(overflow.failure.place.end == 2);

  CHECK(binary(test, OpKind::sub, int_, int_)({least, 1}).status == raddle_leaf_integer_overflow);
  const Compiled mul = binary(test, OpKind::mul, int_, int_);
  CHECK(mul({-6, 7}).value() == -42);
  CHECK(mul({most, 2}).status == raddle_leaf_integer_overflow);

  LeafBuilder neg(test, "neg");
  const Operand x = neg.parameter(int_), out = neg.output(int_);
  neg.add(OpKind::neg, {out}, {x});
  const Compiled negate(test, neg);
  CHECK(negate({5}).value() == -5);
  CHECK(negate({least}).status == raddle_leaf_integer_overflow);
}

TEST_CASE("quotients truncate, remainders have the dividend's sign, zero and the one overflow fail") {
  TestModule test;
  const Compiled idiv = binary(test, OpKind::idiv, int_, int_);
  CHECK(idiv({-7, 2}).value() == -3);
  CHECK(idiv({7, 0}).status == raddle_leaf_division_by_zero);
  CHECK(idiv({least, -1}).status == raddle_leaf_integer_overflow);
  const Compiled mod = binary(test, OpKind::mod, int_, int_);
  CHECK(mod({-7, 2}).value() == -1);
  CHECK(mod({7, -2}).value() == 1);
  CHECK(mod({least, -1}).value() == 0);
  CHECK(mod({7, 0}).status == raddle_leaf_division_by_zero);
}

TEST_CASE("floats keep their IEEE meaning") {
  TestModule test;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Compiled div = binary(test, OpKind::div, float_, float_);
  CHECK(div({bits(1.0), bits(0.0)}).real() == infinity);
  CHECK(std::isnan(div({bits(0.0), bits(0.0)}).real()));
  const Compiled less = binary(test, OpKind::lt, float_, boolean);
  CHECK(less({bits(1.0), bits(2.0)}).value() == 1);
  CHECK(less({bits(nan), bits(2.0)}).value() == 0);
  CHECK(binary(test, OpKind::ne, float_, boolean)({bits(nan), bits(nan)}).value() == 1);

  LeafBuilder leaf(test, "no_fma");  // x * y - z: contracted it would be 2^-60, not 0
  const Operand x = leaf.parameter(float_), y = leaf.parameter(float_), z = leaf.parameter(float_);
  const Operand out = leaf.output(float_);
  leaf.add(OpKind::sub, {out}, {leaf.op(OpKind::mul, float_, {x, y}), z});
  const double a = 1.0 + std::ldexp(1.0, -30);
  CHECK(Compiled(test, leaf)({bits(a), bits(a), bits(1.0 + std::ldexp(1.0, -29))}).real() == 0.0);
}

TEST_CASE("booleans, and an int as condition") {
  TestModule test;
  CHECK(binary(test, OpKind::and_, boolean, boolean)({1, 0}).value() == 0);
  CHECK(binary(test, OpKind::or_, boolean, boolean)({1, 0}).value() == 1);
  LeafBuilder leaf(test, "is_set");
  const Operand x = leaf.parameter(int_), out = leaf.output(boolean);
  leaf.if_(
      x, [&] { leaf.copy(out, leaf.truth(true)); }, [&] { leaf.copy(out, leaf.truth(false)); });
  const Compiled is_set(test, leaf);
  CHECK(is_set({2}).value() == 1);
  CHECK(is_set({0}).value() == 0);
}

TEST_CASE("switch takes the label's arm or the default") {
  TestModule test;
  LeafBuilder leaf(test, "choose");
  const Operand x = leaf.parameter(int_), out = leaf.output(int_);
  const auto give = [&](std::int64_t value) { return [&, value] { leaf.copy(out, leaf.number(value)); }; };
  leaf.switch_(x, {1, -5}, {give(10), give(50), give(0)});
  const Compiled choose(test, leaf);
  CHECK(choose({1}).value() == 10);
  CHECK(choose({-5}).value() == 50);
  CHECK(choose({7}).value() == 0);
}

TEST_CASE("a loop carries its variables at once, and gives their last values") {
  TestModule test;
  LeafBuilder leaf(test, "fibonacci");  // for (i = 0, a = 0, b = 1; i < n; i = i + 1, a = b, b = a + b)
  const Operand n = leaf.parameter(int_), a_out = leaf.output(int_), b_out = leaf.output(int_);
  const Operand i_out = leaf.variable(int_), zero = leaf.number(std::int64_t{0}), one = leaf.number(std::int64_t{1});
  leaf.loop(
      {i_out, a_out, b_out}, {int_, int_, int_}, {zero, zero, one},
      [&](const Operands& v) {
        return leaf.op(OpKind::lt, boolean, {v[0], n});
      },
      [&](const Operands& v) -> Operands {
        return {leaf.op(OpKind::add, int_, {v[0], one}), v[2], leaf.op(OpKind::add, int_, {v[1], v[2]})};
      });
  const Compiled fibonacci(test, leaf);
  const Outcome tenth = fibonacci({10});
  CHECK(tenth.results[0] == 55);
  CHECK(tenth.results[1] == 89);
  CHECK(fibonacci({0}).results[1] == 1);
  CHECK(fibonacci({100}).status == raddle_leaf_integer_overflow);
}

TEST_CASE("iterate tests after the body") {
  TestModule test;
  LeafBuilder leaf(test, "halvings");  // iterate i { } until (2 * i >= n)
  const Operand n = leaf.parameter(int_), out = leaf.output(int_);
  leaf.loop(
      {out}, {int_}, {leaf.number(std::int64_t{0})},
      [&](const Operands& v) {
        return leaf.op(OpKind::ge, boolean, {leaf.op(OpKind::mul, int_, {v[0], leaf.number(std::int64_t{2})}), n});
      },
      [&](const Operands& v) -> Operands {
        return {leaf.op(OpKind::add, int_, {v[0], leaf.number(std::int64_t{1})})};
      },
      /*test_after=*/true);
  const Compiled halvings(test, leaf);
  CHECK(halvings({9}).value() == 5);
  CHECK(halvings({-3}).value() == 0);
}

TEST_CASE("arrays are read within their bounds") {
  TestModule test;
  const auto get = [&](TypeId element) {
    LeafBuilder leaf(test, "get");
    const Operand array = leaf.parameter(test.types.array_of(int_, element)), index = leaf.parameter(int_);
    const Operand out = leaf.output(element);
    leaf.add(OpKind::array_get, {out}, {array, index});
    return Compiled(test, leaf);
  };
  const double reals[] = {1.5, 2.5, 3.5};
  const Compiled real = get(float_);
  CHECK(real({reinterpret_cast<std::intptr_t>(reals), 3, 2}).real() == 3.5);
  const Outcome outside = real({reinterpret_cast<std::intptr_t>(reals), 3, -1});
  CHECK(outside.status == raddle_leaf_index_out_of_range);
  CHECK(outside.failure.detail[0] == -1);
  CHECK(outside.failure.detail[1] == reinterpret_cast<std::intptr_t>(reals));
  CHECK(real({reinterpret_cast<std::intptr_t>(reals), 3, 3}).status == raddle_leaf_index_out_of_range);
  const std::uint8_t truths[] = {0, 1};
  CHECK(get(boolean)({reinterpret_cast<std::intptr_t>(truths), 2, 1}).value() == 1);

  LeafBuilder sum(test, "sum");  // of the elements of an int array, by size()
  const Operand array = sum.parameter(test.types.array_of(int_, int_)), out = sum.output(int_);
  const Operand end = sum.op(OpKind::call_builtin, int_, {array}, builtin("size"));
  const Operand zero = sum.number(std::int64_t{0});
  sum.loop(
      {sum.variable(int_), out}, {int_, int_}, {zero, zero},
      [&](const Operands& v) {
        return sum.op(OpKind::lt, boolean, {v[0], end});
      },
      [&](const Operands& v) -> Operands {
        const Operand element = sum.op(OpKind::array_get, int_, {array, v[0]});
        return {sum.op(OpKind::add, int_, {v[0], sum.number(std::int64_t{1})}),
                sum.op(OpKind::add, int_, {v[1], element})};
      });
  std::vector<std::int64_t> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * i);
  CHECK(Compiled(test, sum)({reinterpret_cast<std::intptr_t>(values.data()), 1000}).value() == 332833500);
  CHECK(Compiled(test, sum)({0, 0}).value() == 0);
}

TEST_CASE("leaves call leaves; a failure keeps the place within the one called, and the call") {
  TestModule test;
  LeafBuilder divide(test, "divide");
  const Operand a = divide.parameter(int_), b = divide.parameter(int_);
  const Operand quotient = divide.output(int_), rest = divide.output(int_);
  divide.add(OpKind::idiv, {quotient}, {a, b}).span = {3, 70, 75};
  divide.add(OpKind::mod, {rest}, {a, b});
  LeafBuilder caller(test, "caller");
  const Operand x = caller.parameter(int_), y = caller.parameter(int_), out = caller.output(int_);
  const Operand q = caller.variable(int_), r = caller.variable(int_);
  caller.call({q, r}, divide.id(), {x, y});
  caller.add(OpKind::add, {out}, {q, r});
  const Compiled code(test, caller);
  CHECK(code({17, 5}).value() == 3 + 2);
  const Outcome failed = code({17, 0});
  CHECK(failed.status == raddle_leaf_division_by_zero);
  CHECK(failed.failure.call_count == 1);
  CHECK(failed.failure.place.file == 3);
  CHECK(failed.failure.place.begin == 70);
  CHECK(failed.failure.place.end == 75);
}

TEST_CASE("calls that need nothing of each other are forked, and joined whoever makes them") {
  TestModule test;
  LeafBuilder divide(test, "divide");  // (int q, boolean exact) divide(int n, float[] a, boolean up, int by): recursive
  const TypeId floats = test.types.array_of(int_, float_);
  const Operand n = divide.parameter(int_), a = divide.parameter(floats), up = divide.parameter(boolean);
  const Operand by = divide.parameter(int_), quotient = divide.output(int_), exact = divide.output(boolean);
  divide.if_(
      divide.op(OpKind::eq, boolean, {n, divide.number(std::int64_t{0})}),
      [&] {
        const Operand size = divide.op(OpKind::call_builtin, int_, {a}, builtin("size"));
        divide.add(OpKind::idiv, {quotient}, {size, by}).span = {3, 70, 75};
        divide.copy(exact, up);
      },
      [&] {
        const Operand less = divide.op(OpKind::sub, int_, {n, divide.number(std::int64_t{1})});
        divide.call({quotient, exact}, divide.id(), {less, a, up, by});
      });
  LeafBuilder caller(test, "caller");  // (int sum, boolean any) caller(float[] a, int x, int y, int z)
  const Operand array = caller.parameter(floats),
                flags[] = {caller.truth(false), caller.truth(true), caller.truth(false)};
  const Operand by_each[] = {caller.parameter(int_), caller.parameter(int_), caller.parameter(int_)};
  const Operand sum = caller.output(int_), any = caller.output(boolean);
  Operands quotients, exacts;
  for (int i = 0; i < 3; ++i) {
    quotients.push_back(caller.variable(int_));
    exacts.push_back(caller.variable(boolean));
    caller.call({quotients[i], exacts[i]}, divide.id(), {caller.number(std::int64_t{5}), array, flags[i], by_each[i]});
  }
  const Operand two = caller.op(OpKind::add, int_, {quotients[0], quotients[1]});
  caller.add(OpKind::add, {sum}, {two, quotients[2]});
  const Operand either = caller.op(OpKind::or_, boolean, {exacts[0], exacts[1]});
  caller.add(OpKind::or_, {any}, {either, exacts[2]});
  const Compiled code(test, caller);

  const std::vector<double> elements(100);
  const auto address = reinterpret_cast<std::intptr_t>(elements.data());
  for (const bool shares : {false, true}) {
    TestWorker worker(shares);
    const Outcome good = code.call(worker, {address, 100, 1, 2, 5});
    CHECK(good.status == raddle_leaf_ok);
    CHECK(good.value() == 170);
    CHECK(good.results[1] == 1);
    CHECK(worker.shared == (shares ? 2 : 0));
    CHECK(worker.abandoned == 0);
    CHECK(worker.newest == &worker.first);
    for (int failing = 0; failing < 3; ++failing) {
      worker.abandoned = 0;
      std::vector<std::int64_t> words = {address, 100, 1, 2, 5};
      words[2 + failing] = 0;
      const Outcome bad = code.call(worker, words);
      CHECK(bad.status == raddle_leaf_division_by_zero);
      CHECK(bad.failure.place.begin == 70);
      CHECK(bad.failure.call_count == 1);
      CHECK(worker.abandoned == 2 - failing);
      CHECK(worker.newest == &worker.first);
    }
  }
}

TEST_CASE("recursion: fib") {
  TestModule test;
  LeafBuilder leaf(test, "fib");
  build_fib(leaf);
  CHECK(Compiled(test, leaf)({27}).value() == 196418);
}

TEST_CASE("recursion without end fails, in any thread; in tail position it is a loop") {
  TestModule test;
  LeafBuilder deep(test, "total"), tail(test, "total.1");
  build_total(deep, /*in_tail_position=*/false);
  build_total(tail, /*in_tail_position=*/true);
  const Compiled total(test, deep);
  CHECK(total({10'000}).value() == 50'005'000);
  CHECK(total({-1}).status == raddle_leaf_recursion_too_deep);
  std::int32_t status = -1;
  std::thread([&] { status = total({-1}).status; }).join();
  CHECK(status == raddle_leaf_recursion_too_deep);
  CHECK(total({10'000}).value() == 50'005'000);
  CHECK(Compiled(test, tail)({50'000'000, 0}).value() == 1'250'000'025'000'000);
}

TEST_CASE("library functions give what the interpreter gives, to the last bit, and fail where they are not defined") {
  TestModule test;
  const auto unary = [&](std::string_view name, TypeId type, TypeId result) {
    LeafBuilder leaf(test, std::string(name));
    const Operand x = leaf.parameter(type), out = leaf.output(result);
    leaf.add(OpKind::call_builtin, {out}, {x}).callee = builtin(name);
    return Compiled(test, leaf);
  };
  const Compiled exp = unary("exp", float_, float_), sqrt = unary("sqrt", float_, float_);
  for (double x = -3.0; x < 3.0; x += 0.37) CHECK(exp({bits(x)}).real() == vm::math::scalar::exp(x));
  CHECK(sqrt({bits(2.0)}).real() == std::sqrt(2.0));
  CHECK(sqrt({bits(-1.0)}).status == raddle_leaf_domain_error);
  CHECK(std::isnan(sqrt({bits(std::nan(""))}).real()));

  const Compiled to_int = unary("float2int", float_, int_);
  CHECK(to_int({bits(-2.9)}).value() == -2);
  CHECK(to_int({bits(-9223372036854775808.0)}).value() == least);
  CHECK(to_int({bits(9223372036854775808.0)}).status == raddle_leaf_domain_error);
  CHECK(to_int({bits(std::nan(""))}).status == raddle_leaf_domain_error);
  const Compiled magnitude = unary("abs", int_, int_);
  CHECK(magnitude({-3}).value() == 3);
  CHECK(magnitude({least}).status == raddle_leaf_integer_overflow);

  LeafBuilder square(test, "square");
  const Operand x = square.parameter(float_), out = square.output(float_);
  square.add(OpKind::pow, {out}, {x, square.number(2.0)});
  const Compiled squared(test, square);
  for (double value = 0.1; value < 40.0; value += 0.13)
    CHECK(squared({bits(value)}).real() == vm::math::scalar::pow(value, 2.0));
}

TEST_CASE("max of floats is NaN if one of them is") {
  TestModule test;
  LeafBuilder leaf(test, "larger");
  const Operand x = leaf.parameter(float_), y = leaf.parameter(float_), out = leaf.output(float_);
  leaf.add(OpKind::call_builtin, {out}, {x, y}).callee = builtin("max");
  const Compiled larger(test, leaf);
  CHECK(larger({bits(1.0), bits(2.0)}).real() == 2.0);
  CHECK(std::isnan(larger({bits(1.0), bits(std::nan(""))}).real()));
  CHECK(std::isnan(larger({bits(std::nan("")), bits(1.0)}).real()));
}

TEST_CASE("the LLVM text has every kernel") {
  TestModule test;
  LeafBuilder fib(test, "fib");
  build_fib(fib);
  const std::string kernels = vm::write_kernels(kernels_of(test, fib.id()));
  for (const bool optimised : {false, true}) {
    const auto text = Plugin(RADDLE_PLUGIN)
                          .llvm_text(kernels, std::vector<vm::KernelEntry>(1), /*unrolls_recursion=*/true, optimised);
    REQUIRE(text.has_value());
    CHECK(text->find("define i32 @raddle_leaf_0") != std::string::npos);
    CHECK((text->find(" alloca i64") == std::string::npos) == optimised);
  }
}

TEST_CASE("what is no kernel is refused with the reason") {
  const auto image = Plugin(RADDLE_PLUGIN).compile({.kernels = "no kernel"});
  REQUIRE(!image);
  CHECK(!image.error().empty());
}

}  // namespace raddle::codegen
