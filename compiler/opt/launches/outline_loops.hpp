#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// A `for` or `iterate` that only computes numbers becomes a leaf function, and a call of it: so its iterations are
/// machine code, also where the function around it can be no leaf, as the script itself never is. Loops whose inputs
/// may come after something has come out of them stay.
/// @pre operations are ordered, leaves and index launches are found
void outline_loops(ir::Module& module);

}  // namespace raddle::opt
