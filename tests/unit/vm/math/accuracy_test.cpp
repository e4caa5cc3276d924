// Each function beside MPFR, which has the right result: at most one unit of the last place away, but for lgamma of
// negative numbers.
// RADDLE_MATH_ARGUMENTS=1000000 takes as many arguments and prints the worst of each, as vm/math/README.md has them.
#include <doctest/doctest.h>
#include <mpfr.h>

#include <algorithm>
#include <cstdio>

#include "tests/unit/vm/math/functions.hpp"

namespace raddle::vm::math::test {
namespace {

/// As the other functions of MPFR.
int mpfr_lgamma(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign = 0;
  return ::mpfr_lgamma(result, &sign, x, rounding);
}

class Exact {
 public:
  Exact() { mpfr_inits2(53, x_, y_, nullptr), mpfr_inits2(200, result_, distance_, nullptr); }
  ~Exact() { mpfr_clears(x_, y_, result_, distance_, nullptr); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  void compute(std::string_view name, double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN), mpfr_set_d(y_, y, MPFR_RNDN);
#define RADDLE_MATH_MPFR_1 x_
#define RADDLE_MATH_MPFR_2 x_, y_
#define RADDLE_MATH_FUNCTION(function, count) \
  if (name == #function) mpfr_##function(result_, RADDLE_MATH_MPFR_##count, MPFR_RNDN);
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
  }

  /// How far `found` is away, in units of the exact result's last place as a double, or a float; infinite where one is
  /// no number.
  double distance(double found, bool is_float32) {
    const double nearest = is_float32 ? mpfr_get_flt(result_, MPFR_RNDN) : mpfr_get_d(result_, MPFR_RNDN);
    const mpfr_exp_t least = is_float32 ? -149 : -1074, digits = is_float32 ? 24 : 53;
    if (std::isnan(nearest)) return std::bit_cast<std::uint64_t>(found) == nan_bits ? 0 : infinity;
    if (!std::isfinite(nearest) || !std::isfinite(found)) return nearest == found ? 0 : infinity;
    const mpfr_exp_t exponent = mpfr_zero_p(result_) ? least : mpfr_get_exp(result_) - digits;
    mpfr_sub_d(distance_, result_, found, MPFR_RNDN);
    mpfr_mul_2si(distance_, distance_, -std::max(exponent, least), MPFR_RNDN);
    return std::fabs(mpfr_get_d(distance_, MPFR_RNDU));
  }

 private:
  mpfr_t x_, y_, result_, distance_;
};

/// In units of the last place of the result. Of negative numbers lgamma loses 2^-50 of lgamma(-x), or of 1.
double allowed_distance(const Function& function, double x, double found) {
  if (function.name != "lgamma" || x >= 0 || !std::isfinite(found)) return 1.0;
  const double most = std::max({1.0, std::fabs(found), std::fabs(scalar::lgamma(-x))});
  return std::max(1.0, std::ldexp(most, -50) / (std::nextafter(std::fabs(found), infinity) - std::fabs(found)));
}

void check(Exact& exact, const Function& function, Arguments::Pair at, double& worst) {
  const double found = function.scalar(at.x, at.y);
  exact.compute(mathematical_name(function), at.x, at.y);
  const double distance = exact.distance(found, function.is_float32), allowed = allowed_distance(function, at.x, found);
  if (allowed == 1.0) worst = std::max(worst, distance);
  if (distance > allowed) {
    CAPTURE(function.name);
    CAPTURE(std::bit_cast<std::uint64_t>(at.x));
    CAPTURE(std::bit_cast<std::uint64_t>(at.y));
    CHECK(distance <= allowed);
  }
}

TEST_CASE("mathematics: at most one unit of the last place from the right result") {
  const std::size_t count = argument_count(5'000);
  Exact exact;
  for (const Function& function : functions) {
    double worst = 0;
    for (const double x : hard_numbers_of(function))
      for (const double y : hard_numbers_of(function)) {
        check(exact, function, {x, y}, worst);
        if (function.count == 1) break;
      }
    Arguments arguments(function);
    for (std::size_t i = 0; i < count; ++i) check(exact, function, arguments.next(), worst);
    CHECK(worst >= 0.49);  // else nothing was compared
    if (std::getenv("RADDLE_MATH_ARGUMENTS"))
      std::printf("%-8s %.4f units of %zu arguments\n", function.name.data(), worst, count);
  }
}

}  // namespace
}  // namespace raddle::vm::math::test
