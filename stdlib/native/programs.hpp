#pragma once
// External programs started by library functions: the call ends when the program does, and holds no worker meanwhile.
#include <functional>
#include <string>
#include <vector>

#include "stdlib/native/functions.hpp"
#include "vm/external/outside.hpp"

namespace raddle::stdlib::native {

constexpr int exit_timeout = 124, exit_not_executable = 126, exit_not_found = 127, exit_signal = 128;  // as in shells

/// The exit code as a shell tells it, also for a program that could not be started or was ended.
int shell_exit_code(const vm::ProcessResult& result);

/// Starts the program of a call. `finish` makes the call's outcome of the result, on another thread.
Result start_program(Call call, vm::ProcessRequest request,
                     std::function<vm::BuiltinOutcome(const vm::ProcessResult&)> finish);
/// The same with what the program has written to standard output.
Result start_and_capture(Call call, std::vector<std::string> words,
                         std::function<vm::BuiltinOutcome(const vm::ProcessResult&, std::string output)> finish);

}  // namespace raddle::stdlib::native
