#pragma once
// Code in Python and R that is asked for by code in Tcl.
#include "vm/foreign/code_request.hpp"

namespace raddle::stdlib::native {

/// Blocks until it has run. A vm::RunCode.
std::expected<std::string, std::string> run_code(vm::Outside& outside, const vm::CodeRequest& request);

}  // namespace raddle::stdlib::native
