#pragma once
// What the options of the tool and the environment say of how a script is run.
#include <expected>
#include <functional>
#include <string>

#include "compiler/tool/command/session.hpp"
#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// All but the script's own arguments, leaf compiler and cancel hook. @return or an exit code, all said
std::expected<vm::RunOptions, int> run_options(const Options& given, const std::string& script_path);

/// To raddle's own streams, by way of raddle.
/// @param unread  called when whoever has read one of them has gone, on any thread, before its programs hear of it
vm::ProgramOutputs own_streams(const std::function<void()>& unread);

}  // namespace raddle::tool
