#pragma once
// The functions of functions.def of many numbers: compiled for eight at once (lanes.hpp) and for each processor. The
// same bits as of one. From any thread.
#include <cstddef>
#include <string_view>

namespace raddle::vm::math {

/// @param x, y, result  aligned to 64 bytes; any may be the same; y is not looked at if there is one argument
/// @param count         a multiple of 8
namespace of_lanes {
#define RADDLE_MATH_FUNCTION(name, arguments) \
  void name(const double* x, const double* y, double* result, std::size_t count);
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
}  // namespace of_lanes

struct LaneFunction {
  std::string_view name;
  int argument_count;  ///< 1 or 2
  void (*compute)(const double* x, const double* y, double* result, std::size_t count);
};

/// @return nullptr if there is no such function; else it lives forever
const LaneFunction* lane_function(std::string_view name, int argument_count);

}  // namespace raddle::vm::math
