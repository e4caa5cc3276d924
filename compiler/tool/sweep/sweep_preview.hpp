#pragma once
// `raddle sweep -n`: what there is to be run.
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"

namespace raddle::tool {

/// Prints the first commands that the sweep would run, and how many there are. Looks at points for two seconds at most.
/// @return an exit code
int preview_sweep(const SweepRequest& request, const SweepPlan& plan);

/// Whether the record lacks some point, so that something is run. Looks at all points if it must; false if --where
/// fails.
bool has_runs(const SweepRequest& request, const SweepPlan& plan);

}  // namespace raddle::tool
