// The mathematics of AppKernels is that of scripts, vm/math, on workers as on GPUs: so results have the same bits, on
// every machine. What a kernel's file calls by the names of <cmath> comes here.
#ifndef RADDLE_KERNEL_MATH_H
#define RADDLE_KERNEL_MATH_H

#include <math.h>

#include "vm/math/functions.hpp"

#define RADDLE_MATH_FUNCTION(name, arguments) RADDLE_MATH_FUNCTION_OF_##arguments(name)
#define RADDLE_MATH_FUNCTION_OF_1(name) \
  extern "C" inline double name(double x) noexcept { return raddle::vm::math::name(x); }
#define RADDLE_MATH_FUNCTION_OF_2(name) \
  extern "C" inline double name(double x, double y) noexcept { return raddle::vm::math::name(x, y); }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_FUNCTION_OF_1
#undef RADDLE_MATH_FUNCTION_OF_2
#ifdef __NVPTX__
extern "C" inline double fma(double a, double b, double c) noexcept { return __nvvm_fma_rn_d(a, b, c); }
#endif

#endif
