#pragma once
// Loops around an index launch.
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// The only `foreach` of the loop's own body, if it is an index launch over a range; else null.
const Op* launch_within(const Function& function, const Op& loop);

/// Variables of the outer loop's body from which `inner`, the launch within, takes something: captures, then those of
/// the projection, then keys that are the same for all of its points; each once. A nest's prelude computes them.
std::vector<VarId> nest_values(const Function& function, const Op& outer, const Op& inner);

}  // namespace raddle::ir
