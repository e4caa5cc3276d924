#pragma once
// Bounds how far a loop runs ahead of its iterations.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "vm/schedule/task.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class LoopWindow;
class WorkerPool;

/// The loops of a run that are kept. It may be iterations of a kept loop that all others wait for: so when nothing else
/// is left to do they all go on.
class LoopWindows {
 public:
  /// @param limit  open iterations of a loop beyond which it is kept, at first
  LoopWindows(WorkerPool& pool, std::int64_t limit) : pool_(pool), limit_(limit) {}
  std::int64_t limit() const { return limit_; }
  /// Injects the kept loops, each with twice its limit. Any thread. @return false: there are none
  bool go_on();

 private:
  friend class LoopWindow;
  void add(LoopWindow& window);
  void remove(LoopWindow& window);

  WorkerPool& pool_;
  const std::int64_t limit_;
  std::mutex mutex_;  ///< guards kept_ and the windows' index_
  std::vector<LoopWindow*> kept_;
};

/// The iterations of one loop (of one piece of it, if it was split) that have been begun and wait for something; points
/// of an index launch that were begun together count as one. If there are too many, what is left of the loop is kept
/// until they have ended: what it needs has likely been computed by then, in order, so that the next iterations need
/// not wait. If they take long, each of them, it goes on when half of them have ended.
///
/// A kept loop is not forgotten: keep() shows it (seq_cst), then reads the count (seq_cst); whoever closes an iteration
/// lowers the count (seq_cst), then looks for a kept loop (seq_cst). One of both sees the other; who takes it by
/// exchange has it.
class LoopWindow final : public HeapObject {
 public:
  /// @param base  open iterations that do not end without the loop
  LoopWindow(LoopWindows& all, std::int64_t base) : all_(all), base_(base), limit_(all.limit()) {}

  /// By whoever runs the loop.
  void open() { open_.fetch_add(1, std::memory_order_relaxed); }
  bool is_full() const { return left() <= 0; }
  bool has_open() const { return open_.load(std::memory_order_relaxed) > base_; }
  /// Iterations have waited for later ones: the loop went on because nothing else was left to do.
  bool was_raised() const { return limit_.load(std::memory_order_relaxed) != all_.limit(); }
  /// How many more iterations may be open.
  std::int64_t left() const { return limit_.load(std::memory_order_relaxed) - open_.load(std::memory_order_relaxed); }
  /// Keeps what is left of the loop; it may run at once, so the caller needs a reference of its own. @return false: its
  /// iterations have ended meanwhile, go on
  bool keep(Task& rest);
  /// An iteration has ended, or the points that were begun together have. Any thread.
  /// @return the loop, if it is to go on: the caller queues it
  Task* close(std::int64_t points = 1);

 private:
  friend class LoopWindows;
  Task* take() { return kept_.exchange(nullptr, std::memory_order_acq_rel); }

  LoopWindows& all_;
  const std::int64_t base_;
  std::atomic<std::int64_t> limit_;  ///< relaxed: a bound, and not a sharp one
  std::atomic<std::int64_t> open_{0};
  std::atomic<Task*> kept_{nullptr};
  std::atomic<std::int64_t> kept_at_ns_{0};  ///< relaxed: a closer may see that of another time
  std::atomic<std::int64_t> ended_{0};       ///< relaxed, likewise: iterations and points, since the loop is kept
  std::size_t index_ = 0;                    ///< in LoopWindows::kept_, while it is there
};

}  // namespace raddle::vm
