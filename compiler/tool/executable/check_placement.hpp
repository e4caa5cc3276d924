#pragma once
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::tool {

/// Warns of each `@gpu` that changes nothing: why its loop stays on the CPU, or that no loop calls its function.
/// @param module  optimised
void check_placement(const ir::Module& module, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace raddle::tool
