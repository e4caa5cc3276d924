#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Loops of whole-array expressions over the same points, which read an array in common and pass nothing on, become one
/// loop: the array comes from memory once, and what both compute is computed once.
///   before   foreach i { p[i] = x[i] + 0.1*(x[i]*y[i]); }    after   foreach i { u = x[i]; v = y[i]; w = u*v;
///            foreach i { q[i] = y[i] - x[i]*y[i]; }                              p[i] = u + 0.1*w; q[i] = v - w; }
/// It begins when all is there that either of them reads. So what only one of them reads must follow from what both
/// read, by operations on whole arrays. Source: sibling fusion of MLIR's affine loops; a window of launches, as
/// published (fuse_loops.hpp), has them in one group, too. Needs: join-products, which looks for one loop between two
/// products.
void fuse_siblings(ir::Module& module);

}  // namespace raddle::opt
