#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Computes `a*b + c`, `a*b - c` and `c - a*b` of floats with one rounding, as C compilers do by default where the
/// processor can: in one expression of the script, interpreted and compiled alike. In functions that have a `for` loop
/// or recursion, and in those that they call, where the time goes; elsewhere `sqrt(p - z * z)` is what it would be in
/// Python, as it is in the script's own statements. Which functions these are does not depend on the level, nor on
/// whether the script is run or swept.
///   before   %1 = mul %a, %b         after   %x = mul_add %a, %b, %c
///            %x = add %1, %c
/// Where both sides are products (`x*x - y*y`) nothing is fused: the result would depend on the side, and would not be
/// 0 for x == y. Runs at every level and before everything that may move or share products.
void fuse_multiply_add(ir::Module& module);

}  // namespace raddle::opt
