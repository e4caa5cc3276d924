#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// Whether machine code can call it: a function of a shared library, not isolated, that takes int, float, boolean and
/// arrays of these with int keys, and returns one of the first three.
bool is_called_directly(const TypeStore& types, const Function& function);

/// Whether `leaf` itself calls such a function: only leaves of index launches do.
bool calls_library(const Module& module, const Function& leaf);

}  // namespace raddle::ir
