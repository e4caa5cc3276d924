#pragma once
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::tool {

/// Reports AppKernels whose file is not there or has no such function, also of functions that nobody calls: who calls
/// one later in a session is not to be told of a line that was taken.
void check_kernel_names(const ir::Module& module, Diagnostics& diagnostics);

}  // namespace raddle::tool
