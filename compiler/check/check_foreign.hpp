#pragma once
// Functions of shared libraries and in Tcl: what can cross the border.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After the types of the formals are known.
void check_foreign(Context& context, const ast::FunctionDefinition& function);

}  // namespace raddle::check_detail
