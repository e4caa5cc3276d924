#pragma once
// What stands for many in the report of a run that is stuck.
#include <vector>

#include "vm/diagnose/diagnosis.hpp"

namespace raddle::vm {

/// The same variable in many frames is named once, elements of one array with their number.
std::vector<StuckVariable> merge_variables(std::vector<StuckVariable> all);

/// Of cycles through the same statements, in other iterations, the first stands for all.
std::vector<StuckVariable> merge_cycles(std::vector<StuckVariable> all);

}  // namespace raddle::vm
