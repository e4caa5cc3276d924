#pragma once
#include <cstdint>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// As many elements are computed by one worker in the time that a launch takes.
inline constexpr std::int64_t most_chain_elements = 1024;

/// Makes an index launch of a loop whose iterations work with arrays of their own:
///   foreach i in [0:n-1] { d = p - p[i, :]; r = sum(d * d, axis=1); a[i, :] = matmul(m / r, d); }
/// Its kernel has all of an iteration: what that calls is put in its place, dense arrays become elements and extents
/// that are known, each whole-array loop a loop of the kernel (Note [own arrays] in vm/kernel/kernel.hpp), sums along
/// an axis and products of a vector such loops, too. What an iteration writes are elements whose key is affine in its
/// number, and rows, all elements that have it as their first index. The kernel fails where anything is not as it is
/// taken to be (a slice that does not fit, an array that has to be repeated, a branch that can not be a part of it):
/// that iteration is interpreted, for which the loop's body stays as it is. `for` and `iterate` are loops of the
/// kernel, too: own arrays that they fill element by element are tracked (Note [tracked arrays] in ir/module.hpp), and
/// those that they make anew in each round and carry on lie in memory that is there before them. Nothing happens if the
/// iterations do something else, or have no array of their own. Needs: infer-leaves.
/// @param is_alone  nothing ir::waits_for_others(): such a loop begins when the arrays that it reads are there, as an
///                  iteration that is interpreted takes long
/// A short chain (Op::is_chain): its kernel fails where a loop in a loop in order has more than most_chain_elements.
void launch_flat_body(ir::Module& module, ir::Function& around, ir::Op& loop, bool is_alone);

}  // namespace raddle::opt
