#pragma once
// Cuts the regions of a function into strands and decides which variables are private.
//
// The key of a step is the set of root variables it awaits. Roots are variables that are set later than the step that
// assigns them has run (calls, elements, branches) or that come from outside; a variable that a step makes at once has
// that step's key. Steps of equal keys form one strand: they can go at the same moment. What a strand awaits are the
// variables that its steps read and that others make: by subset of keys no two strands can wait for each other unless
// the script's own data do.
//
// before                                   after (x, y parameters)
//   %a = add %x, 1                           strand awaits x:     a = x + 1; b = a * a
//   %b = mul %a, %a                          strand awaits b, y:  c = b + y
//   %c = add %b, %y
//
// In a nested region, what the strand around it has awaited or made before entering needs no waiting.
#include "compiler/emit/function_plan.hpp"

namespace raddle::emit {

/// Fills RegionPlan::strands, strand_of and VariablePlan::is_private.
void partition_strands(FunctionPlan& plan);

}  // namespace raddle::emit
