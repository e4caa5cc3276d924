#pragma once
// The functions of functions.def and functions32.def of one number, compiled for the processor that the tool runs on.
// The same bits everywhere: see README.md. They have no errors; where there is no number the result is the NaN of
// number.hpp. From any thread.

namespace raddle::vm::math::scalar {

#define RADDLE_MATH_PARAMETERS_1 double x
#define RADDLE_MATH_PARAMETERS_2 double x, double y
#define RADDLE_MATH_FUNCTION(name, count) double name(RADDLE_MATH_PARAMETERS_##count);
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_PARAMETERS_1
#undef RADDLE_MATH_PARAMETERS_2
#define RADDLE_MATH_PARAMETERS_1 float x
#define RADDLE_MATH_PARAMETERS_2 float x, float y
#define RADDLE_MATH_FUNCTION(name, count) float name##_32(RADDLE_MATH_PARAMETERS_##count);
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_PARAMETERS_1
#undef RADDLE_MATH_PARAMETERS_2

}  // namespace raddle::vm::math::scalar
