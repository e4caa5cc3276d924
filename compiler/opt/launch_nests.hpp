#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Makes `loop`, if it can be one, a nest of index launches: a `foreach t in [low:high:step]` whose iterations consist
/// of one index launch over a range that is the same for all of them, and of scalars that they compute for it. Both
/// loops together are a launch space of two dimensions, whose points need no frame for `t`. What an iteration computes
/// for the inner loop becomes a leaf function, the prelude of an ir::LaunchNest. The body stays, as that of any index
/// launch.
/// @pre index launches have been found
void make_launch_nest(ir::Module& module, ir::Function& around, ir::Op& loop);

}  // namespace raddle::opt
