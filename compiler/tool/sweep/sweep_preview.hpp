#pragma once
// `raddle sweep -n`.
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"

namespace raddle::tool {

/// Prints the first commands that the sweep would run, and how many there are. Looks at points for two seconds at most.
/// @return an exit code
int preview_sweep(const SweepRequest& request, const SweepPlan& plan);

}  // namespace raddle::tool
