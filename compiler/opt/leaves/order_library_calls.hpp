#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// The operation, or one within it, calls a function of a shared library.
bool has_library_call(const ir::Module& module, const ir::Function& function, const ir::Op& op);

/// With what depends on them: what can fail comes before, if it can.
void put_library_calls_last(const ir::Module& module, ir::Function& leaf);

}  // namespace raddle::opt
