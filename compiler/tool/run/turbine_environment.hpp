#pragma once
// What the environment says of a run by Turbine's names, besides the settings of apps: hooks, and where output goes.
#include <string>

#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// Standard output goes to the file that TURBINE_STDOUT names, if it does. @return the text of an error, or ""
std::string redirect_output();

/// Before the run: TURBINE_HOME is where the tool is installed, unless it is set. Runs TURBINE_LEADER_HOOK_STARTUP and
/// TURBINE_WORKER_HOOK_STARTUP; what they set is for what their ranks start.
/// @return the text of an error, or ""
std::string begin_ranks(vm::RunOptions& options);
/// After the run: the hooks of its end.
std::string end_ranks(const vm::RunOptions& options);

}  // namespace raddle::tool
