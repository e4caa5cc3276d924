#pragma once
// A function of the IR's text.
#include "compiler/ir/module_text.hpp"

namespace raddle::ir {

/// Reads what stands behind its name.
void read_function(ModuleText& text, Function& function);

}  // namespace raddle::ir
