#pragma once
// What the tests of vm/math share: all functions, and arguments for them.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "vm/math/scalar.hpp"

namespace raddle::vm::math::test {

struct Function {
  std::string_view name;
  int count;                         ///< of arguments
  double (*scalar)(double, double);  ///< of one it ignores the second
};

#define RADDLE_MATH_ARGUMENTS_1 x
#define RADDLE_MATH_ARGUMENTS_2 x, y
#define RADDLE_MATH_FUNCTION(name, count) \
  {#name, count, [](double x, [[maybe_unused]] double y) { return scalar::name(RADDLE_MATH_ARGUMENTS_##count); }},
inline constexpr Function functions[] = {
#include "vm/math/functions.def"
};
#undef RADDLE_MATH_FUNCTION

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

/// How many of each function, of which sanitizers take a fiftieth; RADDLE_MATH_ARGUMENTS says another number.
inline std::size_t argument_count(std::size_t usual) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  usual /= 50;
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
      {"exp", {-746, 710}},  {"exp2", {-1076, 1025}}, {"expm1", {-40, 710}}, {"log", {0, 4}},   {"log2", {0, 4}},
      {"log10", {0, 4}},     {"log1p", {-1, 4}},      {"pow", {0, 50}},      {"asin", {-1, 1}}, {"acos", {-1, 1}},
      {"sinh", {-711, 711}}, {"cosh", {-711, 711}},   {"tanh", {-20, 20}},   {"erf", {-6, 6}},  {"erfc", {-6, 28}},
      {"acosh", {1, 4}},     {"atanh", {-1, 1}},      {"lgamma", {-4, 12}}};
  for (const Line& line : lines)
    if (line.name == name) return line.range;
  return {-10, 10};
}

/// Random bits, numbers of the function's range, numbers of all sizes around 1; for two arguments such that belong
/// together, too. The same ones each time.
class Arguments {
 public:
  explicit Arguments(const Function& function) : name_(function.name), range_(range_of(function.name)) {}

  struct Pair {
    double x, y;
  };
  Pair next() {
    const std::uint64_t turn = turn_++;
    Pair made{draw(turn % 3), draw(turn / 3 % 3)};
    if (turn % 7 == 0) made.y = made.x * (1 + static_cast<double>(source_() % 100) * 0x1p-6);
    if (name_ == "pow" && turn % 2 == 0) {
      made.x = std::fabs(made.x);
      if (turn % 5 == 0) made.x = 1 + (draw(1) - 25) * 0x1p-20;
      const double logarithm = std::log(made.x);  // any will do: for a power that is neither 0 nor infinite
      if (logarithm != 0 && turn % 4 == 0) made.y = (draw(1) * 29 - 745) / logarithm;
    }
    return made;
  }

 private:
  double draw(std::uint64_t kind) {
    const std::uint64_t bits = source_();
    if (kind == 0) return std::bit_cast<double>(bits);
    if (kind == 1) return range_.low + (range_.high - range_.low) * (static_cast<double>(bits >> 11) * 0x1p-53);
    return std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | (1023 - 40 + (bits >> 32) % 60) << 52);
  }

  std::string_view name_;
  Range range_;
  std::uint64_t turn_ = 0;
  std::mt19937_64 source_{7};
};

}  // namespace raddle::vm::math::test
