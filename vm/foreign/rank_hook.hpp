#pragma once
// Tcl that a rank runs before and after a run: `TURBINE_WORKER_HOOK_STARTUP` and its like.
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace raddle::vm {

/// Runs it in a process of its own, as what it sets in the environment is the rank's alone.
/// @param variables  that the rank has set already
/// @return           those that it has set or changed, or the text of an error
std::expected<std::vector<std::pair<std::string, std::string>>, std::string> run_rank_hook(
    const std::string& script, std::int32_t rank, unsigned workers,
    const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace raddle::vm
