#pragma once
// What carries runs: workers, the memory of what waits, the world outside.
#include <vector>

#include "vm/calls/written_files.hpp"
#include "vm/external/outside.hpp"
#include "vm/interpret/loop_window.hpp"
#include "vm/interpret/placed_calls.hpp"
#include "vm/interpret/run.hpp"
#include "vm/memory/cell_store.hpp"
#include "vm/schedule/throttle.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// vm::run makes one for its program; a workspace keeps one for all programs that run beside each other. Owns all
/// cells, which end() destroys: the runs that they belong to are there until then.
class Machine {
 public:
  /// @param options  what is said there of workers, memory and programs outside
  explicit Machine(const RunOptions& options);

  /// Works until nothing is left to do, or the pool is stopped. Work injected meanwhile or later needs another call.
  void run_to_rest();
  /// Ends what is outside, removes half-written files, frees what still waits. No worker runs any more.
  void end();
  /// Workers' free memory for cells: only that worker's thread uses it.
  CellCache& cache_of(unsigned worker) { return caches_[worker].cache; }

  WorkerPool pool;
  CellStore cells;
  Throttle throttle;
  Outside outside;
  WrittenFiles written_files;
  LoopWindows loop_windows;
  const std::unique_ptr<PlacedCalls> placed_calls;  ///< null: memory has no limit

 private:
  struct alignas(64) WorkerCache {
    CellCache cache;
  };
  bool force_deferred_calls();

  std::vector<WorkerCache> caches_;  ///< by worker
};

}  // namespace raddle::vm
