#include "compiler/tool/space/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/tool/formats/scan.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::sweep {
namespace {

namespace scalar = vm::math::scalar;  // draws are the same with any C library

constexpr const char* forms = "U(LOW,HIGH), logU(LOW,HIGH), intU(LOW,HIGH), N(MEAN,DEVIATION)";
constexpr double most_whole = 1e15;

double tail_quantile(double unit) {
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  const double q = std::sqrt(-2 * scalar::log(unit));
  return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
         ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
}

// Acklam's rational approximation (relative error 1.15e-9), then one step of Halley's method.
double normal_quantile(double unit) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double tail = 0.02425;
  double x = 0;
  if (unit < tail) {
    x = tail_quantile(unit);
  } else if (unit > 1 - tail) {
    x = -tail_quantile(1 - unit);
  } else {
    const double q = unit - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = 0.5 * scalar::erfc(-x / std::numbers::sqrt2) - unit;
  const double step = error * std::sqrt(2 * std::numbers::pi) * scalar::exp(x * x / 2);
  return x - step / (1 + x * step / 2);
}

}  // namespace

std::expected<Distribution, ArgumentError> Distribution::parse(std::string_view text, std::size_t offset) {
  const auto error = [](const Part& at, std::string message, std::string help = "") {
    return std::unexpected(ArgumentError{std::move(message), at.begin, at.end(), std::move(help)});
  };
  const Part whole{text, offset};
  const std::optional<FunctionCall> call = read_call(whole);
  if (!call) return error(whole, fmt::format("`{}` is no distribution", text), forms);
  const std::string_view name = call->name.text;
  if (!is_distribution(name)) return error(call->name, fmt::format("there is no distribution `{}`", name), forms);
  if (call->arguments.size() != 2)
    return error(whole, fmt::format("`{}` takes two numbers, not {}", name, call->arguments.size()), forms);
  double numbers[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<double> number = read_number(call->arguments[i].text);
    if (!number) return error(call->arguments[i], fmt::format("`{}` is no number", call->arguments[i].text));
    numbers[i] = *number;
  }
  Distribution made;
  made.kind_ = name == "N"      ? Kind::normal
               : name == "U"    ? Kind::uniform
               : name == "intU" ? Kind::whole
                                : Kind::log_uniform;
  made.first_ = numbers[0];
  made.second_ = numbers[1];
  if (made.kind_ == Kind::normal && !(made.second_ > 0))
    return error(call->arguments[1], "the standard deviation is not positive");
  constexpr double widest_draw = 9;  // in deviations: of the least unit that is drawn
  if (made.kind_ == Kind::normal && !std::isfinite(std::abs(made.first_) + widest_draw * made.second_))
    return error(whole, "some draws would lie beyond the largest float");
  if (made.kind_ != Kind::normal && !(made.first_ < made.second_))
    return error(whole, fmt::format("the low end {} is not below the high end {}", call->arguments[0].text,
                                    call->arguments[1].text));
  for (std::size_t i = 0; made.kind_ == Kind::whole && i < 2; ++i)
    if (numbers[i] != std::trunc(numbers[i]) || std::abs(numbers[i]) > most_whole)
      return error(call->arguments[i], "`intU` goes from one whole number to another, both are drawn",
                   "they may have 15 digits");
  if (made.kind_ == Kind::log_uniform && !(made.first_ > 0))
    return error(call->arguments[0], "`logU` is for positive values");
  return made;
}

double Distribution::quantile(double unit) const {
  switch (kind_) {
    case Kind::uniform:
      if (!std::isfinite(second_ - first_)) return first_ * (1 - unit) + second_ * unit;
      return first_ + (second_ - first_) * unit;
    case Kind::normal: return first_ + second_ * normal_quantile(unit);
    case Kind::log_uniform:
      if (!std::isnormal(second_ / first_)) return scalar::pow(first_, 1 - unit) * scalar::pow(second_, unit);
      return first_ * scalar::pow(second_ / first_, unit);
    case Kind::whole: return std::min(std::floor(first_ + (second_ - first_ + 1) * unit), second_);
  }
  return 0;
}

}  // namespace raddle::sweep
