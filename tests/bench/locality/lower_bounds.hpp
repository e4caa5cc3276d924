#pragma once
// The fewest loads that a program can do with.
#include <cstdint>

#include "tests/bench/locality/task_graph.hpp"

namespace raddle::locality {

/// In tiles.
struct LowerBounds {
  double compulsory = 0;  ///< each input once
  double leading = 0;     ///< the leading term of a bound for large matrices
  double proved = 0;      ///< for this size
  double usual = 0;       ///< the greater one of the first two: what loads are compared with
};

/// Sources: Beaumont, Eyraud-Dubois, Verite, Langou 2022 (Cholesky); Smith, Lowery, Langou, van de Geijn 2017 (the
/// product of tiles, and the
/// updates of LU at its intensity). Of the product of rows and columns: a task is charged to the later
/// loaded one of its inputs, which meets at most one less than fit.
/// @param memory_tiles  of each device
LowerBounds lower_bounds(Program program, unsigned tiles, std::int64_t memory_tiles, unsigned devices);

}  // namespace raddle::locality
