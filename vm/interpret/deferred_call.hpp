#pragma once
// Native work that waits for its inputs.
#include "vm/memory/cell_store.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

/// Waits for all inputs, one after the other, though what it computes may need only some of them. So should a run come
/// to rest while it waits, another one goes in its place, which is interpreted.
/// In exactly one of: a future's waiters, the leaf table's list, a queue of the pool, a worker.
class DeferredCall : public Cell, public Waiter {
 public:
  /// The one that is to go in its place, which takes over what this one holds. @pre no worker runs
  virtual DeferredCall* replacement(CellCache& cache) = 0;

  bool awaits_input = false;  ///< read when the run has come to rest
  bool is_forced = false;     ///< goes in the place of another: is interpreted now
  bool is_replaced = false;   ///< by a forced one: has nothing to do any more when its input comes
};

}  // namespace raddle::vm
