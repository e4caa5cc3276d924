#pragma once
// No two results of a sweep may have one name: one would stand in the column of the other.
#include <optional>

#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"

namespace raddle::tool {

/// What is known before the first point: expressions of --collect say their names, and a script those of its
/// `@result`s. What JSON and CSV have is told by the point that has it.
std::optional<sweep::OptionError> fault_of_column_names(const SweepRequest& request, const SweepPlan& plan);

}  // namespace raddle::tool
