// Compiled for each processor: Note [for each processor] in vector.hpp.
#include "vm/math/functions.hpp"
#include "vm/math/functions32.hpp"
#include "vm/math/lane_functions.hpp"
#include "vm/math/lanes.hpp"

namespace raddle::vm::math {
namespace {

RADDLE_MATH_INLINE Lanes lanes_at(const double* numbers) { return Lanes(Lanes::Numbers::load(numbers)); }

using FloatLanes = LanesOf<float>;
RADDLE_MATH_INLINE FloatLanes float_lanes_at(const double* numbers) {
  return FloatLanes(each_lane<float>([&](int part, int lane) RADDLE_MATH_LAMBDA {
    return static_cast<float>(numbers[part * FloatLanes::Numbers::part_lanes + lane]);
  }));
}
RADDLE_MATH_INLINE void store(const FloatLanes& lanes, double* result) {
  const Lanes wide(each_lane<double>([&](int part, int lane) RADDLE_MATH_LAMBDA {
    return static_cast<double>(lanes.numbers[part * Lanes::Numbers::part_lanes + lane]);
  }));
  wide.numbers.store(result);
}

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

#define RADDLE_MATH_FLOAT_LANES_1 float_lanes_at(x + i)
#define RADDLE_MATH_FLOAT_LANES_2 float_lanes_at(x + i), float_lanes_at(y + i)
#define RADDLE_MATH_FUNCTION(name, arguments)                                                                   \
  static void name##_32(const double* x, [[maybe_unused]] const double* y, double* result, std::size_t count) { \
    for (std::size_t i = 0; i < count; i += lane_count)                                                         \
      store(math::name##_32(RADDLE_MATH_FLOAT_LANES_##arguments), result + i);                                  \
  }
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};

constexpr LaneFunction all[] = {
#define RADDLE_MATH_FUNCTION(name, arguments) {#name, arguments, OfLanes::name},
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
#define RADDLE_MATH_FUNCTION(name, arguments) {#name "_32", arguments, OfLanes::name##_32},
#include "vm/math/functions32.def"
#undef RADDLE_MATH_FUNCTION
};

}  // namespace

namespace RADDLE_PROCESSOR {
std::span<const LaneFunction> lane_functions() { return all; }
}  // namespace RADDLE_PROCESSOR

}  // namespace raddle::vm::math
