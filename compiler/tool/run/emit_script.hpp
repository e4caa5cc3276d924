#pragma once
// `raddle run --emit=STAGE`: what a stage hands to the next one, as text on standard output.
#include <string>
#include <vector>

#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

/// In the order of the stages.
std::vector<std::string> stage_names();
/// Prints the stage `session.options.emit`, one of these. @return exit code
int emit_script(Session& session, Script script);

}  // namespace raddle::tool
