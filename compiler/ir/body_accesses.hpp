#pragma once
// Which elements of arrays from outside an iteration reads and writes: what opt/leaves finds a launch's
// accesses by, and verify() compares them with.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

struct BodyAccess {
  const Op* op = nullptr;
  AccessMode mode = AccessMode::read;
  Operand array;              ///< from outside of the loop: an array, or an updateable
  std::vector<Operand> keys;  ///< from the outside in: of rows, then of the element; none of an updateable
  /// How many keys of rows, from the first one on, come from outside of the loop, so that they are the same for all
  /// points. Of a write; a read has 0.
  std::size_t fixed_keys = 0;
  /// Of a row whose elements operations of the loop's own body write: all of them, by element.
  std::vector<const Op*> elements = {};
};

/// What is a row: elements that a loop within writes, or as many operations of the body as the row is long, too.
enum class RowsBy : std::uint8_t { loops, loops_and_operations };

/// What the operations of a loop's own body do with what is declared outside, in their order.
struct BodyAccesses {
  std::vector<BodyAccess> reads;   ///< array_get of an element that is no array itself
  std::vector<BodyAccess> writes;  ///< array_insert, update; then rows: array_insert of a loop within
  std::vector<BodyAccess> inside;  ///< the same of what an iteration makes for itself
  std::vector<const Op*> rows;     ///< array_get and array_row that lead to those
  std::vector<const Op*> holds;    ///< array_hold: a launch updates before it releases arrays
};

/// As part of a launch, with the keys that are the same for all points; those that differ are still to come.
Access with_same_keys(const BodyAccess& access);

BodyAccesses body_accesses(const Module& module, const Function& function, const Op& loop,
                           RowsBy rows_by = RowsBy::loops);

}  // namespace raddle::ir
