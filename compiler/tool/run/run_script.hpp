#pragma once
#include <string>
#include <vector>

#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

/// Compiles and runs. @param arguments  the script's own   @return exit code
int run_script(Session& session, Script script, std::vector<std::string> arguments);

}  // namespace raddle::tool
