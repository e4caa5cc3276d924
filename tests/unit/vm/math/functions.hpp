#pragma once
// What the tests of vm/math share: all functions, and arguments for them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/math/scalar.hpp"

namespace raddle::vm::math::test {

struct Function {
  std::string_view name;
  int count;                         ///< of arguments
  double (*scalar)(double, double);  ///< of one it ignores the second; of a float32 form both are rounded first
  bool is_float32 = false;
};

#define RADDLE_MATH_ARGUMENTS_1 x
#define RADDLE_MATH_ARGUMENTS_2 x, y
#define RADDLE_MATH_FUNCTION(name, count) \
  {#name, count, [](double x, [[maybe_unused]] double y) { return scalar::name(RADDLE_MATH_ARGUMENTS_##count); }},
inline constexpr Function functions[] = {
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FLOATS_1 static_cast<float>(x)
#define RADDLE_MATH_FLOATS_2 static_cast<float>(x), static_cast<float>(y)
#define RADDLE_MATH_FUNCTION(name, count) \
  {#name "_32", count,                    \
   [](double x, [[maybe_unused]] double y) -> double { return scalar::name##_32(RADDLE_MATH_FLOATS_##count); }, true},
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};

/// Without `_32`.
inline std::string_view mathematical_name(const Function& function) {
  return function.name.substr(0, function.name.size() - (function.is_float32 ? 3 : 0));
}

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::uint64_t nan_bits = 0x7ff8000000000000;

/// Zeros, ends of what numbers there are and of the ranges of functions, NaNs of several bits.
inline constexpr double hard_numbers[] = {0.0,
                                          -0.0,
                                          1.0,
                                          -1.0,
                                          0.5,
                                          -0.5,
                                          2.0,
                                          -2.0,
                                          3.0,
                                          -3.0,
                                          27.0,
                                          -27.0,
                                          10.0,
                                          1000.0,
                                          0.3,
                                          -0.3,
                                          5.9,
                                          6.0,
                                          27.2,
                                          27.3,
                                          0x1p-1074,
                                          -0x1p-1074,
                                          0x1.fffffffffffffp-1023,
                                          0x1p-1022,
                                          -0x1p-1022,
                                          0x1.fffffffffffffp1023,
                                          -0x1.fffffffffffffp1023,
                                          infinity,
                                          -infinity,
                                          std::numeric_limits<double>::quiet_NaN(),
                                          std::bit_cast<double>(0xfff8000000000001),
                                          std::bit_cast<double>(0x7ff0000000000001),
                                          709.782712893384,
                                          0x1.62e42fefa39fp+9,
                                          -745.1332191019411,
                                          -745.1332191019412,
                                          1024.0,
                                          -1074.0,
                                          -1075.0,
                                          710.4758600739439,
                                          0x1.633ce8fb9f87ep+9,
                                          1048576.0,
                                          0x1.fffffffffffffp19,
                                          0x1.921fb54442d18p0,
                                          0x1.921fb54442d18p1,
                                          0x1.6ac5b262ca1ffp849,  // the double that is nearest to a multiple of pi/2
                                          1e22,
                                          0x1p52,
                                          0x1p53,
                                          0x1p53 - 1,
                                          -0x1p53 + 1,
                                          0x1p60,
                                          1e155,
                                          1e-155,
                                          1e300,
                                          -1e-300,
                                          0x1.fffffffffffffp-1,
                                          0x1.0000000000001p0,
                                          -0x1.fffffffffffffp-1,
                                          -0x1.0000000000001p0};

/// The same for float32.
inline constexpr double hard_floats[] = {0.0,
                                         -0.0,
                                         1.0,
                                         -1.0,
                                         0.5,
                                         -0.5,
                                         2.0,
                                         -2.0,
                                         3.0,
                                         -3.0,
                                         27.0,
                                         -27.0,
                                         10.0,
                                         1000.0,
                                         0.3f,
                                         -0.3f,
                                         3.9f,
                                         4.0,
                                         10.05f,
                                         10.06f,
                                         0x1p-149,
                                         -0x1p-149,
                                         0x1.fffffcp-127,
                                         0x1p-126,
                                         -0x1p-126,
                                         0x1.fffffep127,
                                         -0x1.fffffep127,
                                         infinity,
                                         -infinity,
                                         std::numeric_limits<double>::quiet_NaN(),
                                         std::bit_cast<double>(0xfff8000000000001),
                                         0x1.62e42ep6,
                                         0x1.62e43p6,
                                         -0x1.9fe368p6,
                                         -0x1.9fe36ap6,
                                         128.0,
                                         -149.0,
                                         -150.0,
                                         0x1.65a9f8p6,
                                         0x1.65a9fap6,
                                         131072.0,
                                         0x1.fffffep16,
                                         0x1.921fb6p0,
                                         0x1.921fb6p1,
                                         0x1.d4fbcep45,
                                         0x1p23,
                                         0x1p24,
                                         0x1p24 - 1,
                                         -0x1p24 + 1,
                                         0x1p60,
                                         1e19f,
                                         1e-19f,
                                         1e38f,
                                         -1e-38f,
                                         0x1.fffffep-1,
                                         0x1.000002p0,
                                         -0x1.fffffep-1,
                                         -0x1.000002p0};
inline std::span<const double> hard_numbers_of(const Function& function) {
  return function.is_float32 ? std::span<const double>(hard_floats) : std::span<const double>(hard_numbers);
}

/// How many of each function, with sanitizers at most 20,000; RADDLE_MATH_ARGUMENTS says another number.
inline std::size_t argument_count(std::size_t usual) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  usual = std::min<std::size_t>(usual, 20'000);
#endif
  const char* wanted = std::getenv("RADDLE_MATH_ARGUMENTS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

/// Where a function does something else than overflow.
struct Range {
  double low, high;
};
inline Range range_of(std::string_view name) {
  struct Line {
    std::string_view name;
    Range range;
  };
  static constexpr Line lines[] = {
      {"exp", {-746, 710}},    {"exp2", {-1076, 1025}}, {"expm1", {-40, 710}},  {"log", {0, 4}},
      {"log2", {0, 4}},        {"log10", {0, 4}},       {"log1p", {-1, 4}},     {"pow", {0, 50}},
      {"asin", {-1, 1}},       {"acos", {-1, 1}},       {"sinh", {-711, 711}},  {"cosh", {-711, 711}},
      {"tanh", {-20, 20}},     {"erf", {-6, 6}},        {"erfc", {-6, 28}},     {"acosh", {1, 4}},
      {"atanh", {-1, 1}},      {"lgamma", {-4, 12}},    {"exp_32", {-104, 89}}, {"exp2_32", {-151, 128}},
      {"expm1_32", {-18, 89}}, {"log_32", {0, 4}},      {"log2_32", {0, 4}},    {"log10_32", {0, 4}},
      {"log1p_32", {-1, 4}},   {"pow_32", {0, 12}},     {"asin_32", {-1, 1}},   {"acos_32", {-1, 1}},
      {"sinh_32", {-90, 90}},  {"cosh_32", {-90, 90}},  {"tanh_32", {-10, 10}}, {"erf_32", {-4, 4}},
      {"erfc_32", {-4, 10.1}}};
  for (const Line& line : lines)
    if (line.name == name) return line.range;
  return {-10, 10};
}

/// Random bits, numbers of the function's range, numbers of all sizes around 1; for two arguments such that belong
/// together, too. The same ones each time.
class Arguments {
 public:
  explicit Arguments(const Function& function)
      : name_(mathematical_name(function)), is_float32_(function.is_float32), range_(range_of(function.name)) {}

  struct Pair {
    double x, y;
  };
  Pair next() {
    const std::uint64_t turn = turn_++;
    Pair made{draw(turn % 3), draw(turn / 3 % 3)};
    if (turn % 7 == 0) made.y = made.x * (1 + static_cast<double>(source_() % 100) * 0x1p-6);
    if (name_ == "pow" && turn % 2 == 0) {
      made.x = std::fabs(made.x);
      if (turn % 5 == 0) made.x = 1 + (draw(1) - range_.high / 2) * 0x1p-20;
      if (is_float32_) made.x = static_cast<float>(made.x);
      const double logarithm = std::log(made.x);  // any will do: for a power that is neither 0 nor infinite
      const double size = is_float32_ ? 16 : 29;
      if (logarithm != 0 && turn % 4 == 0) made.y = (draw(1) * size - (is_float32_ ? 104 : 745)) / logarithm;
    }
    if (is_float32_) made = {static_cast<float>(made.x), static_cast<float>(made.y)};
    return made;
  }

 private:
  double draw(std::uint64_t kind) {
    const std::uint64_t bits = source_();
    if (kind == 0)
      return is_float32_ ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
    if (kind == 1) return range_.low + (range_.high - range_.low) * (static_cast<double>(bits >> 11) * 0x1p-53);
    return std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | (1023 - 40 + (bits >> 32) % 60) << 52);
  }

  std::string_view name_;
  bool is_float32_;
  Range range_;
  std::uint64_t turn_ = 0;
  std::mt19937_64 source_{7};
};

}  // namespace raddle::vm::math::test
