#pragma once
// Which loops can be index launches, asked before any is made: by infer-leaves, of what reductions in leaves compute,
// and by passes that make one loop of several.
#include "compiler/ir/module.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"

namespace raddle::opt {

/// Ints, or the elements of an array with int keys.
bool has_launch_space(const ir::Module& module, const ir::Function& function, const ir::Op& loop);

/// True if the loop is an index launch without a projection, and calls no C functions. @pre leaves are inferred
bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop);
/// The same while leaves are being inferred.
bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop, const IsLeaf& is_leaf);

/// True if the loop is one with a projection, and calls no C functions. @pre leaves are inferred
bool is_projected_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop);

/// What a ProjectedLaunch computes. Keys that take long to compute would be computed twice if a value depends on them,
/// and for points that only wait.
bool may_be_launched(const ir::Module& module, const ir::Function& computation, const ir::Function& projection);

}  // namespace raddle::opt
