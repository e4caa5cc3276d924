#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Dense arrays of a few elements whose shape is known when compiling, as the state of a model or a point in space,
/// become their elements, and so do those that loops carry: what works on them becomes arithmetic, which leaves and
/// kernels can do. Calls of small functions that take or make such arrays are replaced by what they do, loops over them
/// by their iterations. Where an array is needed as a whole it is made of the elements.
///
/// Functions that make larger arrays by a few loops replace their calls, too, so that these loops can be fused with
/// others of the caller (fuse_loops.hpp).
/// Source: scalar replacement of aggregates, S. Muchnick, "Advanced Compiler Design and Implementation", 12.2
void replace_small_arrays(ir::Module& module);

}  // namespace raddle::opt
