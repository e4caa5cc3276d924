#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// The product of a vector and a matrix, where each element of the vector is computed of the product of a row of that
/// matrix and another vector: both products are made part by part, so that the rows come from memory once.
///   before   z = matmul(X, w);                                  after   foreach part of the rows of X {
///            foreach i in [0:n-1] { e[i] = 1.0/(1.0+exp(-z[i])) - y[i]; }          their z; their e; their share of g
///            g = matmul(e, X);                                             }
/// The parts are those of `matmul(e, X)` and are added as there, and a row's z does not depend on its part: so the bits
/// are the same. Small matrices, and w that does not fit, are left as they were. Needs: fuse-loops, before
/// index-launches.
void join_products(ir::Module& module);

}  // namespace raddle::opt
