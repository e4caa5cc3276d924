#pragma once
// Which files that points have read were other ones in another run.
#include <string>
#include <vector>

#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/runs/value_difference.hpp"

namespace raddle::tool {

/// Files of a point, each with what vm::Attempt::inputs has of it.
struct PointFiles {
  NamedValues read, written;
};
/// @param inputs  vm::Attempt::inputs of a point
PointFiles files_of_point(const std::string& inputs);

struct InputDifference {
  ValueDifference file;      ///< its path, and what names its content; none: not read
  std::uint64_t points = 0;  ///< that have read it
};

/// Of points that both runs have; by the files' names.
std::vector<InputDifference> input_differences(const RunTable& before, const RunTable& after);

}  // namespace raddle::tool
