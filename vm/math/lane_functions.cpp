#include "vm/math/lane_functions.hpp"

#include "vm/math/functions.hpp"
#include "vm/math/lanes.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif

namespace raddle::vm::math {
namespace {

RADDLE_MATH_INLINE Lanes lanes_at(const double* numbers) {
  return Lanes(*reinterpret_cast<const Lanes::Numbers*>(numbers));
}
RADDLE_MATH_INLINE void put(double* numbers, const Lanes& lanes) {
  *reinterpret_cast<Lanes::Numbers*>(numbers) = lanes.numbers;
}

}  // namespace

#define RADDLE_MATH_LANES_1 lanes_at(x + i)
#define RADDLE_MATH_LANES_2 lanes_at(x + i), lanes_at(y + i)
#define RADDLE_MATH_FUNCTION(name, arguments)                                                                       \
  RADDLE_FOR_EACH_PROCESSOR void of_lanes::name(const double* x, [[maybe_unused]] const double* y, double* result,  \
                                                std::size_t count) {                                                \
    for (std::size_t i = 0; i < count; i += lane_count) put(result + i, math::name(RADDLE_MATH_LANES_##arguments)); \
  }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION

namespace {

#define RADDLE_MATH_FUNCTION(name, arguments) {#name, arguments, of_lanes::name},
constexpr LaneFunction all[] = {
#include "vm/math/functions.def"
};
#undef RADDLE_MATH_FUNCTION

}  // namespace

const LaneFunction* lane_function(std::string_view name, int argument_count) {
  for (const LaneFunction& function : all)
    if (function.name == name && function.argument_count == argument_count) return &function;
  return nullptr;
}

}  // namespace raddle::vm::math
