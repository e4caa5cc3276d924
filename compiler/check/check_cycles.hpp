#pragma once
// Variables that are computed from each other in a circle.
#include "compiler/check/variable_use.hpp"

namespace raddle::check_detail {

/// Reports each circle of variables of which every one is assigned at one place only, by a value that surely waits for
/// the next one: none of them can ever be set. The variables are silenced.
/// @param use  indexed by VariableId
void report_cycles(Context& context, const std::vector<VariableUse>& use);

}  // namespace raddle::check_detail
