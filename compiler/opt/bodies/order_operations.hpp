#pragma once
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Sorts the operations of each region so that each follows those that assign its operands (nested regions count for
/// the operation that holds them). Operations that do not depend on each other keep their order; those of a cycle keep
/// theirs among themselves.
///   before   %y = add %x, 1          after   %x = copy 3
///            %x = copy 3                     %y = add %x, 1
/// Needed by infer-leaves and code generation; strands are shorter for it.
void order_operations(ir::Module& module);

/// The operations of a region, so that each follows those that assign its operands, or put something into arrays and
/// structures that it reads: for who does them one after the other.
std::vector<const ir::Op*> in_order_of_data(const ir::Function& function, const ir::Region& region);

}  // namespace raddle::opt
