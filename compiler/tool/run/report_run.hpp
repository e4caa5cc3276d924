#pragma once
// How a run ended, told to the user.
#include <optional>
#include <vector>

#include "compiler/codegen/background_compiler.hpp"
#include "compiler/ir/module.hpp"
#include "compiler/tool/command/session.hpp"
#include "vm/device/devices.hpp"
#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// What went wrong as findings: failures, or the variables that nothing sets.
void add_findings(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunResult& result);

/// Failures in whose place the script has something else, as warnings.
void add_replaced(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunResult& result);

/// Prints failures, or the variables that nothing sets, to stderr in the form of compile errors.
/// @param signal  that cancelled the run, 0 if none did
/// @return        the exit code
int report_run(Session& session, const vm::RunResult& result, int signal);

/// `--stats`, to stderr.
/// @param devices    null: there are none
/// @param obstacles  why something has not gone to devices
void print_statistics(const SourceMap& sources, const vm::RunResult& result, const codegen::LeafCounters& leaves,
                      vm::Devices* devices, const std::vector<vm::DeviceObstacle>& obstacles);

/// Of functions that take long, and that the script calls by themselves, which no device does.
std::vector<vm::DeviceObstacle> obstacles_of_single_calls(const SourceMap& sources, const vm::Program& program);

/// Likewise: a line for each loop of the script that can be no kernel, and for what reason.
void print_interpreted_loops(const SourceMap& sources, const ir::Module& module);

}  // namespace raddle::tool
