// The functions of functions.def and functions32.def of many numbers: of eight at once (lanes.hpp), compiled for each
// processor. The same bits as of one. From any thread.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "vm/math/processor.hpp"

namespace raddle::vm::math {

struct LaneFunction {
  std::string_view name;
  int argument_count;  ///< 1 or 2
  /// @param x, y, result  any may be the same; y is not looked at if there is one argument. Of a float32 form they are
  ///                      the doubles that the floats are
  /// @param count         a multiple of 8
  void (*compute)(const double* x, const double* y, double* result, std::size_t count);
};

/// The place of a function in lane_functions().
enum class LaneFunctionId {
#define RADDLE_MATH_FUNCTION(name, arguments) name,
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FUNCTION(name, arguments) name##_32,
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};

/// In the order of functions.def, then of functions32.def. @pre this processor can do what that one can
std::span<const LaneFunction> lane_functions(Processor processor);
/// Those of this processor.
std::span<const LaneFunction> lane_functions();

/// @return nullptr if there is no such function; else it lives forever
const LaneFunction* lane_function(std::string_view name, int argument_count);

}  // namespace raddle::vm::math
