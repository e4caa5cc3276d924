#include "vm/math/scalar.hpp"

#include "vm/math/functions.hpp"
#include "vm/math/functions32.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v3", "default")]]  // the first has fma
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif

namespace raddle::vm::math::scalar {

#define RADDLE_MATH_PARAMETERS_1 double x
#define RADDLE_MATH_PARAMETERS_2 double x, double y
#define RADDLE_MATH_ARGUMENTS_1 x
#define RADDLE_MATH_ARGUMENTS_2 x, y
#define RADDLE_MATH_FUNCTION(name, count)                                 \
  RADDLE_FOR_EACH_PROCESSOR double name(RADDLE_MATH_PARAMETERS_##count) { \
    return math::name<double>(RADDLE_MATH_ARGUMENTS_##count);             \
  }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#undef RADDLE_MATH_PARAMETERS_1
#undef RADDLE_MATH_PARAMETERS_2
#define RADDLE_MATH_PARAMETERS_1 float x
#define RADDLE_MATH_PARAMETERS_2 float x, float y
#define RADDLE_MATH_FUNCTION(name, count)                                     \
  RADDLE_FOR_EACH_PROCESSOR float name##_32(RADDLE_MATH_PARAMETERS_##count) { \
    return math::name##_32<float>(RADDLE_MATH_ARGUMENTS_##count);             \
  }
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION

}  // namespace raddle::vm::math::scalar
