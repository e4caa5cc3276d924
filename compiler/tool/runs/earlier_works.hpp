#pragma once
// What was done at the points of a recorded run, where the script has changed since.
#include <vector>

#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// What was done at each point by the run, and by those that it goes back to, where it was something else than now; the
/// latest first. Ends before a run whose points have other keys by now for the same values: the script reads a
/// parameter as something else, or has begun or ceased to draw random numbers.
std::vector<sweep::EarlierWork> earlier_works(vm::RunRecord& record, const vm::RunRow& run, const SweepPlan& plan);

}  // namespace raddle::tool
