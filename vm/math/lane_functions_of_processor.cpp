// Compiled for each processor: Note [for each processor] in vector.hpp.
#include "vm/math/functions.hpp"
#include "vm/math/lane_functions.hpp"
#include "vm/math/lanes.hpp"

namespace raddle::vm::math {
namespace {

RADDLE_MATH_INLINE Lanes lanes_at(const double* numbers) { return Lanes(Lanes::Numbers::load(numbers)); }

struct OfLanes {
#define RADDLE_MATH_LANES_1 lanes_at(x + i)
#define RADDLE_MATH_LANES_2 lanes_at(x + i), lanes_at(y + i)
#define RADDLE_MATH_FUNCTION(name, arguments)                                                              \
  static void name(const double* x, [[maybe_unused]] const double* y, double* result, std::size_t count) { \
    for (std::size_t i = 0; i < count; i += lane_count)                                                    \
      math::name(RADDLE_MATH_LANES_##arguments).numbers.store(result + i);                                 \
  }
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
};

#define RADDLE_MATH_FUNCTION(name, arguments) {#name, arguments, OfLanes::name},
constexpr LaneFunction all[] = {
#include "vm/math/functions.def"
};
#undef RADDLE_MATH_FUNCTION

}  // namespace

namespace RADDLE_PROCESSOR {
std::span<const LaneFunction> lane_functions() { return all; }
}  // namespace RADDLE_PROCESSOR

}  // namespace raddle::vm::math
