#pragma once
// Functions and constants of all modules, before any body is looked at.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// Enters every function into CheckedProgram::functions and `context.callables`; its formals get types and variables.
/// After declare_types, before declare_builtins (scripts' overloads come first).
void declare_functions(Context& context);
/// Enters every `global const` into `context.globals`. After declare_builtins.
void declare_constants(Context& context);
/// Default values of formals. After declare_constants, which they may name.
void check_default_values(Context& context);
/// Unknown pragmas.
void check_pragmas(Context& context);

}  // namespace raddle::check_detail
