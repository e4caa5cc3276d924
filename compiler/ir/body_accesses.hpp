#pragma once
// Which elements a point of an index launch reads and writes.
#include <cstddef>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

struct LaunchAccess {
  const Op* op = nullptr;
  Operand array;              ///< from outside of the loop: an array, or an updateable
  std::vector<Operand> keys;  ///< from the outside in: of rows, then of the element; none of an updateable
  /// How many keys of rows, from the first one on, come from outside of the loop, so that they are the same for all
  /// points. Of a write; a read has 0.
  std::size_t fixed_keys = 0;
};

/// What the operations of a loop's own body do with what is declared outside, in their order.
struct LaunchAccesses {
  std::vector<LaunchAccess> reads;   ///< array_get of an element that is no array itself
  std::vector<LaunchAccess> writes;  ///< array_insert, update
  std::vector<const Op*> rows;       ///< array_get and array_row that lead to those
};

LaunchAccesses launch_accesses(const Module& module, const Function& function, const Op& loop);

}  // namespace raddle::ir
