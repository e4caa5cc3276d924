#pragma once
// When what has run: what timelines and traces are drawn from.
#include <cstdint>
#include <vector>

namespace raddle::report {

/// One attempt at a point, a block of points that were done together, or a task of a script.
struct Span {
  double start_s = 0;  ///< since the run began
  double duration_s = 0;
  std::uint64_t first = 0;    ///< number of the point, or the least of the block
  std::uint64_t count = 1;    ///< points
  std::uint64_t failed = 0;   ///< among them
  std::uint64_t visited = 0;  ///< how many were read before it
  std::uint32_t lane = 0;
  double end_s() const { return start_s + duration_s; }
};

/// Orders them by their start, and gives each the lowest lane that is free then. @return how many lanes there are
/// @param rounding_s  one may end so much after the next one in its lane begins
std::uint32_t place_in_lanes(std::vector<Span>& spans, double rounding_s = 0);

/// How many were running in each of equal parts of the time, on average.
struct LoadBin {
  double ok = 0, failed = 0;
  std::uint64_t ended = 0;  ///< points
};
std::vector<LoadBin> load_of(const std::vector<Span>& spans, double from_s, double to_s, std::size_t bins);

}  // namespace raddle::report
