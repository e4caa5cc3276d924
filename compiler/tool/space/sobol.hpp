#pragma once
#include <cstdint>

namespace raddle::sweep {

inline constexpr unsigned most_sobol_dimensions = 21;

/// Sobol's sequence: number `index` of `dimension` (from 0) as a multiple of 2^-32. Any 2^k numbers that begin at a
/// multiple of 2^k fill each of 2^k equal intervals once.
/// Source: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections" (2008), direction
/// numbers new-joe-kuo-6.
std::uint32_t sobol(std::uint64_t index, unsigned dimension);

}  // namespace raddle::sweep
