#pragma once
// The library's signatures in the form in which overloads are resolved.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// Enters the builtins that are always there or whose module is imported into `context.callables`, the others into
/// `context.not_imported`. Default values are kept in CheckedProgram::builtin_defaults.
void declare_builtins(Context& context);

}  // namespace raddle::check_detail
