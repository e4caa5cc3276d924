#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// What goes through a loop mostly keeps its shape: `for (x = x0, ..; x = x + 0.001 * f(x))`. An array that a loop
/// carries is taken to have the shape that it begins with; if what follows from this is that it keeps it, the extents
/// in the loop and behind it are those before it. Operators of arrays whose shapes are the same whenever they are there
/// repeat nothing: of their two loops one is left, which fuse-loops can work with.
/// And arrays that are given to functions, which stand in the place of their calls, need not be looked at once more.
void use_known_shapes(ir::Module& module);
void use_known_shapes(ir::Module& module, ir::Function& function);

/// A part of it: `if (n == k)` of equal extents is decided.
void take_branches_of_equal_extents(ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
