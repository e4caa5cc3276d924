#pragma once
// Code in Python and R that is asked for by code in Tcl, and functions in these that a script declares.
#include <string>
#include <vector>

#include "vm/foreign/code_request.hpp"

namespace raddle::stdlib::native {

/// Blocks until it has run. A vm::RunCode.
std::expected<std::string, std::string> run_code(vm::Outside& outside, const vm::CodeRequest& request);

/// The command of a process that makes calls of functions which a script declares by `@python`.
std::vector<std::string> python_function_command();
/// Likewise by `@r`.
std::vector<std::string> r_function_command();

}  // namespace raddle::stdlib::native
