// Where rounding is not the question: signs of zeros, infinities, NaN, ends of ranges, as C's Annex F has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <numbers>

#include "tests/unit/vm/math/functions.hpp"

namespace raddle::vm::math::scalar {
namespace {

using test::infinity;
constexpr double none = std::numeric_limits<double>::quiet_NaN(), most = std::numeric_limits<double>::max(),
                 least = 0x1p-1074, pi = std::numbers::pi;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

#define CHECK_BITS(expression, expected) CHECK(bits(expression) == bits(expected))

TEST_CASE("mathematics: NaN in, the one NaN out") {
  for (const test::Function& function : test::functions) {
    CAPTURE(function.name);
    for (const std::uint64_t nan :
         {0x7ff8000000000000u, 0xfff8000000000001u, 0x7ff0000000000001u, 0xffffffffffffffffu}) {
      CHECK(bits(function.scalar(std::bit_cast<double>(nan), 2.0)) == test::nan_bits);
      if (function.count == 2) CHECK(bits(function.scalar(2.0, std::bit_cast<double>(nan))) == test::nan_bits);
    }
  }
}

TEST_CASE("mathematics: where a double's result is zero, infinite or NaN, so is a float32's, with its sign") {
  std::size_t count = 0;
  for (const test::Function& form : test::functions) {
    if (!form.is_float32) continue;
    CAPTURE(form.name);
    const auto* wide = std::find_if(std::begin(test::functions), std::end(test::functions),
                                    [&](const test::Function& each) { return each.name == mathematical_name(form); });
    for (const double x : test::hard_floats)
      for (const double y : test::hard_floats) {
        const double expected = wide->scalar(x, y);
        if (std::isfinite(expected) && expected != 0) continue;
        CAPTURE(x);
        CAPTURE(y);
        CHECK_BITS(form.scalar(x, y), expected);
        ++count;
      }
  }
  CHECK(count > 10'000);
}

TEST_CASE("mathematics: no number, so NaN") {
  for (const double x : {-1.0, -infinity, -least}) {
    CHECK(bits(log(x)) == test::nan_bits);
    CHECK(bits(log2(x)) == test::nan_bits);
    CHECK(bits(log10(x)) == test::nan_bits);
    CHECK(bits(log1p(x - 1)) == (x == -least ? bits(-infinity) : test::nan_bits));
  }
  for (const double x : {infinity, -infinity}) {
    CHECK(bits(sin(x)) == test::nan_bits);
    CHECK(bits(cos(x)) == test::nan_bits);
    CHECK(bits(tan(x)) == test::nan_bits);
  }
  for (const double x : {0x1.0000000000001p0, -2.0, infinity}) {
    CHECK(bits(asin(x)) == test::nan_bits);
    CHECK(bits(acos(x)) == test::nan_bits);
  }
  CHECK(bits(pow(-8.0, 1.0 / 3)) == test::nan_bits);
  CHECK(bits(pow(-8.0, -0.5)) == test::nan_bits);
}

TEST_CASE("mathematics: odd functions keep the sign, of zero and of the least number, too") {
  const auto odd = [](double (*function)(double), double x, double y) {
    CHECK_BITS(function(x), y);
    CHECK_BITS(function(-x), -y);
  };
  for (const auto function : {sin, tan, asin, atan, sinh, tanh, expm1, log1p, cbrt, erf}) odd(function, 0.0, 0.0);
  for (const auto function : {sin, tan, asin, atan, sinh, tanh, expm1, log1p, erf}) odd(function, least, least);
  odd(tanh, infinity, 1.0);
  odd(erf, infinity, 1.0);
  odd(sinh, infinity, infinity);
  odd(sinh, 711.0, infinity);
  odd(cbrt, infinity, infinity);
  odd(cbrt, 27.0, 3.0);
  odd(cbrt, least, 0x1p-358);
  odd(atan, infinity, pi / 2);
  odd(asin, 1.0, pi / 2);
}

TEST_CASE("mathematics: ends of ranges") {
  CHECK_BITS(exp(0.0), 1.0);
  CHECK_BITS(exp(-infinity), 0.0);
  CHECK_BITS(exp(infinity), infinity);
  CHECK_BITS(exp(709.782712893384), 0x1.fffffffffff2ap1023);
  CHECK_BITS(exp(0x1.62e42fefa39fp+9), infinity);
  CHECK_BITS(exp(-745.1332191019411), least);
  CHECK_BITS(exp(-745.1332191019412), 0.0);
  CHECK_BITS(exp2(1024.0), infinity);
  CHECK_BITS(exp2(1023.0), 0x1p1023);
  CHECK_BITS(exp2(-1074.0), least);
  CHECK_BITS(exp2(-1075.0), 0.0);
  CHECK_BITS(exp2(-1022.0), 0x1p-1022);
  CHECK_BITS(expm1(-infinity), -1.0);
  CHECK_BITS(expm1(710.0), infinity);
  CHECK_BITS(log(0.0), -infinity);
  CHECK_BITS(log(-0.0), -infinity);
  CHECK_BITS(log(1.0), 0.0);
  CHECK_BITS(log(infinity), infinity);
  CHECK_BITS(log2(least), -1074.0);
  CHECK_BITS(log2(0x1p1023), 1023.0);
  CHECK_BITS(log1p(-1.0), -infinity);
  CHECK_BITS(log1p(infinity), infinity);
  CHECK_BITS(cosh(0.0), 1.0);
  CHECK_BITS(cosh(-infinity), infinity);
  CHECK_BITS(acos(1.0), 0.0);
  CHECK_BITS(acos(-1.0), pi);
  CHECK_BITS(acos(0.0), pi / 2);
  CHECK_BITS(erfc(infinity), 0.0);
  CHECK_BITS(erfc(-infinity), 2.0);
  CHECK_BITS(erfc(0.0), 1.0);
  CHECK_BITS(erfc(27.3), 0.0);
  CHECK_BITS(cos(0.0), 1.0);
  for (int i = -307; i <= 308; ++i) CHECK_BITS(log10(std::stod("1e" + std::to_string(i))), static_cast<double>(i));
}

TEST_CASE("mathematics: angles of points on the axes") {
  for (const double y : {0.0, -0.0}) {
    CHECK_BITS(atan2(y, 1.0), y);
    CHECK_BITS(atan2(y, 0.0), y);
    CHECK_BITS(atan2(y, infinity), y);
    CHECK_BITS(atan2(y, -1.0), std::copysign(pi, y));
    CHECK_BITS(atan2(y, -0.0), std::copysign(pi, y));
    CHECK_BITS(atan2(y, -infinity), std::copysign(pi, y));
  }
  for (const double sign : {1.0, -1.0}) {
    CHECK_BITS(atan2(sign, 0.0), sign * pi / 2);
    CHECK_BITS(atan2(sign, -0.0), sign * pi / 2);
    CHECK_BITS(atan2(sign * infinity, 1.0), sign * pi / 2);
    CHECK_BITS(atan2(sign * infinity, infinity), sign * pi / 4);
    CHECK_BITS(atan2(sign * infinity, -infinity), sign * (3 * pi / 4));
    CHECK_BITS(atan2(sign, infinity), sign * 0.0);
    CHECK_BITS(atan2(sign, -infinity), sign * pi);
    CHECK_BITS(atan2(sign * least, most), sign * 0.0);
    CHECK_BITS(atan2(sign * most, least), sign * pi / 2);
    CHECK_BITS(atan2(sign * least, least), sign * pi / 4);
    CHECK_BITS(atan2(sign * most, most), sign * pi / 4);
  }
}

TEST_CASE("mathematics: powers") {
  for (const double x : {0.0, -0.0, 2.0, -2.0, infinity, -infinity, none}) {
    CHECK_BITS(pow(x, 0.0), 1.0);
    CHECK_BITS(pow(x, -0.0), 1.0);
    CHECK_BITS(pow(1.0, x), 1.0);
  }
  for (const double y : {infinity, -infinity}) {
    CHECK_BITS(pow(-1.0, y), 1.0);
    CHECK_BITS(pow(0.5, y), y > 0 ? 0.0 : infinity);
    CHECK_BITS(pow(-2.0, y), y > 0 ? infinity : 0.0);
    CHECK_BITS(pow(0.0, y), y > 0 ? 0.0 : infinity);
    CHECK_BITS(pow(-infinity, y), y > 0 ? infinity : 0.0);
  }
  CHECK_BITS(pow(-0.0, 3.0), -0.0);
  CHECK_BITS(pow(-0.0, 2.0), 0.0);
  CHECK_BITS(pow(-0.0, 0.5), 0.0);
  CHECK_BITS(pow(-0.0, -3.0), -infinity);
  CHECK_BITS(pow(-0.0, -2.0), infinity);
  CHECK_BITS(pow(-infinity, 3.0), -infinity);
  CHECK_BITS(pow(-infinity, 0.5), infinity);
  CHECK_BITS(pow(-infinity, -3.0), -0.0);
  CHECK_BITS(pow(infinity, -1.0), 0.0);
  CHECK_BITS(pow(-2.0, 3.0), -8.0);
  CHECK_BITS(pow(-1.0, 0x1p53 - 1), -1.0);
  CHECK_BITS(pow(-1.0, 0x1p53), 1.0);
  CHECK_BITS(pow(-2.0, 1025.0), -infinity);
  CHECK_BITS(pow(-2.0, -1075.0), -0.0);
  CHECK_BITS(pow(2.0, -1074.0), least);
  CHECK_BITS(pow(2.0, most), infinity);
  CHECK_BITS(pow(least, 1.0), least);
  CHECK_BITS(pow(most, 1.0), most);
  for (int i = 0; i <= 22; ++i) CHECK_BITS(pow(10.0, i), std::stod("1e" + std::to_string(i)));
  for (int i = 1; i <= 500; ++i) CHECK_BITS(pow(i, 2.0), static_cast<double>(i) * i);
}

TEST_CASE("mathematics: hypotenuses") {
  CHECK_BITS(hypot(3.0, 4.0), 5.0);
  CHECK_BITS(hypot(-0.0, 0.0), 0.0);
  CHECK_BITS(hypot(-3e300, 4e300), 5e300);
  CHECK_BITS(hypot(3 * least, -4 * least), 5 * least);
  CHECK_BITS(hypot(most, most), infinity);
  CHECK_BITS(hypot(most, 1.0), most);
  CHECK_BITS(hypot(none, -infinity), infinity);
  CHECK_BITS(hypot(infinity, none), infinity);
}

TEST_CASE("mathematics: inverse hyperbolic functions") {
  for (const double x : {0.0, 1e-300, least, infinity}) {
    CHECK_BITS(asinh(x), x);
    CHECK_BITS(asinh(-x), -x);
  }
  CHECK_BITS(asinh(most), 0x1.633ce8fb9f87ep9);  // log(2 most)
  CHECK_BITS(acosh(1.0), 0.0);
  CHECK_BITS(acosh(0x1.fffffffffffffp-1), none);
  CHECK_BITS(acosh(-infinity), none);
  CHECK_BITS(acosh(infinity), infinity);
  CHECK_BITS(acosh(most), 0x1.633ce8fb9f87ep9);
  CHECK_BITS(atanh(-0.0), -0.0);
  CHECK_BITS(atanh(least), least);
  CHECK_BITS(atanh(1.0), infinity);
  CHECK_BITS(atanh(-1.0), -infinity);
  CHECK_BITS(atanh(0x1.0000000000001p0), none);
}

TEST_CASE("mathematics: the logarithm of the gamma function") {
  for (const double pole : {0.0, -0.0, -1.0, -2.0, -1000.0, -0x1p52, -0x1p52 - 1, -most, -infinity, infinity})
    CHECK_BITS(lgamma(pole), infinity);
  CHECK_BITS(lgamma(1.0), 0.0);
  CHECK_BITS(lgamma(2.0), 0.0);
  CHECK_BITS(lgamma(3.0), log(2.0));
  CHECK_BITS(lgamma(0.5), 0x1.250d048e7a1bdp-1);  // log(pi) / 2
  CHECK_BITS(lgamma(least), 0x1.74385446d71c3p9);
  CHECK_BITS(lgamma(-least), lgamma(least));
  CHECK_BITS(lgamma(0x1.754d9278b51a7p1014), most);
  CHECK_BITS(lgamma(0x1.754d9278b51a8p1014), infinity);
}

TEST_CASE("mathematics: angles of many turns") {
  CHECK_BITS(sin(1e22), -0x1.b453ab76bf397p-1);
  CHECK_BITS(sin(0x1.6ac5b262ca1ffp849), 1.0);
  CHECK_BITS(cos(0x1.6ac5b262ca1ffp849), -0x1.14ae72e6ba22fp-61);
  CHECK_BITS(tan(0x1.6ac5b262ca1ffp849), -0x1.d9ba9a7975636p60);
  CHECK_BITS(sin(pi), 0x1.1a62633145c07p-53);
  CHECK_BITS(cos(pi / 2), 0x1.1a62633145c07p-54);
}

}  // namespace
}  // namespace raddle::vm::math::scalar
