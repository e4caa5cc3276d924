#pragma once
// What is computed from itself, directly or in a circle.
#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

/// Reports what is assigned a value made of its own: `sum = sum + i`, `A[i] = A[i] + 1`. Then each circle of variables,
/// elements and fields of which every one is assigned at one place only, by a value that surely waits for the next one,
/// and of arrays that are closed only after the next one: none of them can ever be set. The variables are silenced.
/// @param use  indexed by VariableId
void report_cycles(Context& context, const std::vector<VariableUse>& use);

}  // namespace raddle::check_detail
