#pragma once
// Checked trees to dataflow IR. What the script's text means is decided in check; here every construct gets its
// operations (compiler/ir/ops.def), in text order.
#include "compiler/check/checked_program.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle {

/// @param program      checked without errors; lent to the module (types) for as long as the module is used
/// @param diagnostics  gets `not_supported` for what can not be lowered yet; the module is incomplete then
/// @return             functions[entry] holds the top-level statements of all modules; its parameters are the script's
///                     `@param`s, its outputs the `@result`s. Globals that a function reads are further parameters of
///                     it
ir::Module lower(CheckedProgram& program, SourceMap& sources, Diagnostics& diagnostics);

}  // namespace raddle
