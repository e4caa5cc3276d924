#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "tests/unit/compiler/codegen/compiled_leaf.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::codegen {
namespace {

/// A leaf of two operands of `type` that is one operation.
Compiled binary(TestModule& test, OpKind kind, TypeId type, TypeId result) {
  LeafBuilder leaf(test, "binary");
  const Operand left = leaf.parameter(type), right = leaf.parameter(type), out = leaf.output(result);
  leaf.add(kind, {out}, {left, right});
  return Compiled(test, leaf);
}

}  // namespace

TEST_CASE("a launched leaf makes many calls, up to the one that fails") {
  TestModule test;
  LeafBuilder leaf(test, "launched");
  const Operand point = leaf.parameter(int_), dividend = leaf.parameter(int_), out = leaf.output(int_);
  leaf.add(OpKind::idiv, {out}, {dividend, point});
  test.entries[leaf.id()] = vm::KernelEntry::points;
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
  test.entries[leaf.id()] = vm::KernelEntry::points;
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
  // whole rows lie 2, 2 and 1 elements apart, results one behind the other
  const std::int64_t distances[] = {16, 16, 1, 16, 2};
  std::int64_t words[] = {7,
                          1,
                          5,
                          address(quotients),
                          address(opposites),
                          address(dividends),
                          address(divisors),
                          address(truths),
                          100,
                          1,
                          address(distances)};
  TestWorker worker;
  std::int64_t made = -1;
  raddle_leaf_failure failure = {};
  CHECK(loaded->code()(&worker, words, &made, &failure) == raddle_leaf_ok);
  CHECK(made == 3);  // then by 0
  for (const std::int64_t quotient : {quotients[0], quotients[1], quotients[2]}) CHECK(quotient == 110);
  CHECK(opposites[0] == 1);
  CHECK(opposites[1] == 0);

  words[2] = 2;  // points of a row
  words[9] = 2;
  made = -1;
  CHECK(loaded->code()(&worker, words, &made, &failure) == raddle_leaf_ok);
  CHECK(made == 2);  // the second row's last point fails: of that row none counts
  for (const std::int64_t quotient : {quotients[0], quotients[1], quotients[2]}) CHECK(quotient == 110);
  words[9] = 1;
  words[2] = 1;
  words[5] = address(dividends + 4);
  words[6] = address(divisors + 4);
  CHECK(loaded->code()(&worker, words, &made, &failure) == raddle_leaf_ok);
  CHECK(made == 1);
  CHECK(quotients[0] == 110);
}

TEST_CASE("a stretch of ints that begins, ends or captures around 32 and 64 bits stops at the first overflow") {
  TestModule test;
  LeafBuilder leaf(test, "arithmetic");
  const Operand point = leaf.parameter(int_), factor = leaf.parameter(int_), out = leaf.output(int_);
  const Operand square = leaf.op(OpKind::mul, int_, {point, point});
  leaf.add(OpKind::sub, {out}, {leaf.op(OpKind::mul, int_, {square, factor}), point});
  test.entries[leaf.id()] = vm::KernelEntry::lanes;
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
