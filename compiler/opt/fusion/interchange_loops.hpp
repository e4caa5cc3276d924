#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// A `for` that computes arrays element by element, each from those with its number, is one loop over the elements, in
/// which the `for` carries numbers:
///   before   for (x = x0, int t = 0; t < n; t = t + 1, x = x + h * f(x)) {}
///   after    foreach i { for (u = x0[i], int t = 0; t < n; t = t + 1, u = u + h * f(u)) {}  x[i] = u; }
/// No array is made but those that the `for` ends with, and the loop over the elements is an index launch. What is
/// computed is the same to the last bit.
/// Needs: fuse-loops, which leaves few loops in the body.
void interchange_loops(ir::Module& module);

}  // namespace raddle::opt
