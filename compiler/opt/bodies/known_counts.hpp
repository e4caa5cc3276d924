#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// What loops of whole-array operations need not do as it can be seen how many iterations they have:
/// - One with a single iteration is no loop: `A[:, 0:0] = B[:, n-1 : n-1];` has one over rows only. What it computes
///   waits for the bounds as before: its variable is the upper one.
/// - Nothing is repeated where what is stored is as large as the part it goes to, as in
///   `float inside[n - 2]; v[1 : end - 1] = inside;`.
void use_known_counts(ir::Module& module);

}  // namespace raddle::opt
