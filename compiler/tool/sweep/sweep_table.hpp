#pragma once
// The table that a sweep ends with.
#include <expected>
#include <string>

#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// Writes it to the file or to standard output, as the request says; for people an excerpt.
/// @param run  whose id it is   @return  or why not, for the user; "": that has been said
std::expected<void, std::string> write_sweep_table(const SweepRequest& request, const SweepPlan& plan,
                                                   vm::RunRecord& record, const std::string& run);

}  // namespace raddle::tool
