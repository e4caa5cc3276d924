#pragma once
// Who writes which array. An array closes when its writers have released it, so they must be counted exactly.
//
// Note [writers]. A direct operation of a region holds one writer of an array if it
// - is array_insert, array_row, bag_append or bag_row of the array, or of a row of it (rows have no writers of their
//   own: they close with the array they lie in, the *root*), or
// - contains, in regions nested in it at any depth, an operation that writes the array.
// So `array_new writers n` of a region has n = count_writing_ops() of that region, and when a nested region is entered
// the one writer of its operation becomes count_writing_ops() of the nested region (0: it is released).
// Calls write nothing: arrays are never passed for writing.
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// The array that `variable` is a row of, all the way up; `variable` itself if it is no row.
VarId root_array(const Function& function, VarId variable);

/// The root arrays and bags declared outside of `op`'s regions which `op` writes, itself or in its regions. No doubles.
std::vector<VarId> arrays_written(const Function& function, const Op& op);

/// How many direct operations of `region` hold a writer of `array`, a root.
std::uint32_t count_writing_ops(const Function& function, RegionId region, VarId array);

/// Sets `writers` of all array_new and bag_new. @return true if one has changed
bool count_writers(Function& function);

}  // namespace raddle::ir
