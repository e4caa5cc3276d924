#include "vm/interpret/machine.hpp"

#include <algorithm>

#include "vm/interpret/deferred_call.hpp"
#include "vm/interpret/running_place.hpp"
#include "vm/kernel/reduce_points.hpp"
#include "vm/memory/memory_limit.hpp"

namespace raddle::vm {

namespace {

/// Loops stop making iterations when so many programs and calls wait for the outside.
std::uint32_t throttle_limit(const RunOptions& options) { return 1000 + 4 * options.process_budget.programs; }

unsigned domain_count(const WorkerPool& pool) {
  unsigned count = 1;
  for (unsigned i = 0; i < pool.capacity(); ++i) count = std::max(count, pool.domain_of(i) + 1);
  return count;
}

/// Enough iterations for all workers and all programs that run at once. Where memory has a limit what they call waits
/// for its turn, and the more calls there are to choose from, the better.
std::int64_t window_limit(const RunOptions& options, const WorkerPool& pool) {
  if (BoundedMemory::get()) return std::max<std::int64_t>(64, 4 * options.process_budget.programs);
  return std::max<std::int64_t>(8 * pool.capacity(), 4 * options.process_budget.programs);
}

/// Of an array that does not count where memory has a limit: what a stack has, as it has no part of that.
std::uint64_t leaf_room_limit() { return std::uint64_t{1} << (BoundedMemory::get() ? 23U : 32U); }

}  // namespace

Machine::Machine(const RunOptions& options)
    : pool(std::max(1u, options.workers), {.scheduler = options.scheduler,
                                           .order = options.queue_order,
                                           .scheduler_seed = options.scheduler_seed,
                                           .inlining = options.inlining,
                                           .leaf_room_limit = leaf_room_limit(),
                                           .reduce = reduce_points}),
      cells(options.call_memory_bytes != 0 ? options.call_memory_bytes : memory_limit_bytes() / 2, domain_count(pool)),
      throttle(pool, throttle_limit(options)),
      outside(options.process_budget, options.program_outputs, pool.capacity(), options.rank_variables),
      written_files(options.point_files, options.point),
      loop_windows(pool, window_limit(options, pool)),
      placed_calls(BoundedMemory::get() ? std::make_unique<PlacedCalls>(options.place, *BoundedMemory::get())
                                        : nullptr) {
  for (unsigned i = 0; i < pool.capacity(); ++i) caches_.push_back({CellCache(cells, pool.domain_of(i))});
}

void Machine::run_to_rest() {
  do {
    pool.run();
  } while (!pool.stopped() && (loop_windows.go_on() || force_deferred_calls()));
  running_place = nullptr;
}

void Machine::end() {
  outside.end();  // its callbacks use the pool and cells
  written_files.remove_partial();
  cells.destroy_all();
}

/// Nothing is left to do but calls that wait for inputs: they may be able to give some outputs without them.
/// @return true if there were such calls: the run goes on
bool Machine::force_deferred_calls() {
  std::vector<DeferredCall*> waiting;
  cells.for_each_live([&waiting](Cell& cell) {
    auto* call = dynamic_cast<DeferredCall*>(&cell);
    if (call && call->awaits_input && !call->is_replaced) waiting.push_back(call);
  });
  for (DeferredCall* call : waiting) {
    // it stays enlisted with its input's future
    DeferredCall* forced = call->replacement(caches_[0].cache);
    forced->is_forced = true;
    call->is_replaced = true;
    pool.inject(*forced);
  }
  return !waiting.empty();
}

}  // namespace raddle::vm
