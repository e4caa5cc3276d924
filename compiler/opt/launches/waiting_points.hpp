#pragma once
// Loops `foreach` whose points wait for one another, as those of the table of an alignment:
//   foreach i in [1 : n], j in [1 : m] { d[i, j] = f(d[i - 1, j], d[i, j - 1]); }
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Whether points of the loops, or of those in them, wait one by one for others: those of a launch do not, where they
/// read rows that other loops around it write.
bool has_waiting_points(const ir::Function& function, const std::vector<const ir::Op*>& loops);

/// Loops in `around`, itself among them, get the order in which elements are there when they are read, as far as `i +
/// 1` and `i - 1` in keys tell it: a loop over ascending points becomes one over descending ones. What they give is the
/// same in any order.
void order_waiting_points(ir::Module& module, ir::Function& function, ir::Op& around);

}  // namespace raddle::opt
