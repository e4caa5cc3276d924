#pragma once
// Why a run that has come to rest is not finished.
#include <vector>

#include "vm/interpret/run.hpp"

namespace raddle::vm {

class Run;

/// The variables that armed strands wait for and that nothing left alive would assign: the roots of what is stuck. If
/// everything that waits waits for each other (a cycle), all of them. Empty: the run has finished.
/// @pre no worker runs
std::vector<StuckVariable> find_stuck(Run& run);

}  // namespace raddle::vm
