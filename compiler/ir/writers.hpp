#pragma once
// Who writes which array. An array closes when its writers have released it, so they must be counted exactly.
//
// Note [writers]. A direct operation of a region holds one writer of an array if it
// - is array_insert, array_hold, array_row, bag_append or bag_row of the array, or of a row of it (rows have no writers
//   of their own: they close with the array they lie in, the *root*), or
// - contains, in regions nested in it at any depth, an operation that writes the array.
// So `array_new writers n` of a region has as many writers as operations of the region hold one, and when a nested
// region is entered the one writer of its operation becomes as many as the nested region has (0: it is released).
// Calls write nothing: arrays are never passed for writing.
//
// This rule stands here only. Whoever cuts regions otherwise (emit makes a step of its own of a loop's body) asks for
// the operations and regions that the steps consist of.
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// The writers of one function, which must outlive this and not change meanwhile.
class Writers {
 public:
  explicit Writers(const Function& function);

  /// The array that `variable` is a row of, all the way up; `variable` itself if it is no row.
  VarId root(VarId variable) const;
  /// The root arrays and bags declared outside of `op`'s regions of which `op` holds a writer. Sorted, no doubles.
  std::vector<VarId> held_by(const Op& op) const;
  /// Those declared outside of `region` that its operations write. Sorted, no doubles.
  std::vector<VarId> written_in(RegionId region) const;
  /// In `region` or in one nested in it.
  bool is_declared_in(VarId variable, RegionId region) const;

 private:
  void add_written(const Op& op, std::vector<VarId>& written) const;

  const Function& function_;
  std::vector<VarId> row_of_;  ///< by variable
};

/// Arrays and bags that loops around a region write, and that are declared outside of these. No order.
std::vector<VarId> written_by_loops_around(const Function& function, RegionId region);

/// Sets `writers` of all array_new and bag_new. @return true if one has changed
bool count_writers(Function& function);

}  // namespace raddle::ir
