#pragma once
// Files that surely are written several times, as their paths are known and equal.
#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

/// Reports pairs of variables that are both mapped to one path and written wherever one of them is, and mapped files
/// that are written by each iteration of a loop. What hangs on a condition is left to the run: it tells of every
/// second writer.
void check_paths(Context& context, const CollectedUse& use);

}  // namespace raddle::check_detail
