#pragma once
// Loops around an index launch.
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

struct LaunchNest {
  const Op* inner = nullptr;  ///< the launch; null: there is none, or more than one
  /// Variables of the outer loop's body from which the launch takes something: captures, then those of the projection,
  /// then keys of the rows that it writes; each once.
  std::vector<VarId> values;
};

/// What a nest of index launches consists of (opt/launch_nests.hpp). `loop` is the outer one.
LaunchNest launch_nest(const Module& module, const Function& function, const Op& loop);

}  // namespace raddle::ir
