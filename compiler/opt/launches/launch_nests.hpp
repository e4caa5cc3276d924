#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Makes `loop`, if it can be one, a nest of index launches: a `foreach t in [low:high:step]` whose iterations consist
/// of one index launch over a range that is the same for all of them, and of scalars that they compute for it. Both
/// loops together are a launch space of two dimensions, whose points need no frame for `t`. What an iteration computes
/// for the inner loop becomes a leaf function, the prelude of an ir::LaunchNest. The body stays, as that of any index
/// launch.
/// @pre index launches have been found
/// @return whether it is one now
bool make_launch_nest(ir::Module& module, ir::Function& around, ir::Op& loop);

/// Note [collapsed nests]. A loop whose iterations consist of one nest over a range that is the same for all, and of
/// numbers that can not fail, becomes one loop with the nest's outer loop: its iterations are numbered through, and
/// each computes the variables of both loops. So a space of three or more dimensions is one nest, which is opened once,
/// shared out as one, and handed to devices as one. For messages ir::Op::collapsed says which loops there were.
/// @pre nests have been made
void collapse_nests(ir::Module& module, ir::Function& around);

}  // namespace raddle::opt
