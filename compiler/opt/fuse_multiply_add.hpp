#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Computes `a*b + c`, `a*b - c` and `c - a*b` of floats with one rounding, as C compilers do by default where the
/// processor can: in one expression of the script, interpreted and compiled alike.
///   before   %1 = mul %a, %b         after   %x = mul_add %a, %b, %c
///            %x = add %1, %c
/// Where both sides are products (`x*x - y*y`) nothing is fused: the result would depend on the side, and would not be
/// 0 for x == y. Runs at every level and before everything that may move or share products.
void fuse_multiply_add(ir::Module& module);

}  // namespace raddle::opt
