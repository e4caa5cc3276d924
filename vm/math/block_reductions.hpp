#pragma once
// What a block of numbers comes to, in lanes, compiled for each processor (Note [for each processor] in vector.hpp).
// Number i goes to lane i % 8. All processors give the same bits, as a*b + c is nowhere contracted (CMakeLists.txt).
#include <array>
#include <cstddef>
#include <cstdint>

#include "vm/math/processor.hpp"

namespace raddle::vm::math {

inline constexpr std::size_t block_lanes = 8;

/// By lanes. Where a block has fewer numbers than lanes, the others have nothing.
struct FloatLanes {
  std::array<double, block_lanes> sums, losses;  ///< sums, and what rounding has lost of them (Knuth's TwoSum)
  std::array<double, block_lanes> least, greatest;
};
struct IntLanes {
  std::array<std::int64_t, block_lanes> high, low;  ///< sums of both halves of the numbers: none overflows
  std::array<std::int64_t, block_lanes> least, greatest;
};

/// Of one processor. @param count  of numbers, at most 2^31
struct BlockReductions {
  FloatLanes (*of_floats)(const double* numbers, std::size_t count);
  IntLanes (*of_ints)(const std::int64_t* numbers, std::size_t count);
  /// Sums of squared distances from near + rest.
  double (*squares_of_floats)(const double* numbers, std::size_t count, double near, double rest);
  /// @pre no distance from `near` overflows
  double (*squares_of_ints)(const std::int64_t* numbers, std::size_t count, std::int64_t near, double rest);
  double (*squares_of_wide_ints)(const std::int64_t* numbers, std::size_t count, double mean);
};

/// @pre this processor can do what that one can
const BlockReductions& block_reductions(Processor processor);

}  // namespace raddle::vm::math
