#pragma once
// The calls that compiled leaves have forked: one list for each worker. See Note [forks] in vm/program/leaf_abi.hpp.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>

#include "vm/program/leaf_abi.hpp"
#include "vm/schedule/work_stealing_deque.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// A forked call that has been shared. Made and freed by the worker that forked it; its record lies on that worker's
/// stack until the call has ended.
class ForkTask final : public Task {
 public:
  explicit ForkTask(raddle_leaf_fork& fork) : site_(*fork.site), words_(reinterpret_cast<std::int64_t*>(&fork + 1)) {}
  /// On another worker than the one that forked it.
  void run(Worker& worker) override;
  /// On the worker that forked it.
  std::int32_t run_here(raddle_leaf_worker& worker, raddle_leaf_failure& failure);
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  /// @pre has_ended()
  std::int32_t outcome(raddle_leaf_failure* failure) const;

 private:
  const raddle_leaf_fork_site& site_;
  std::int64_t* const words_;
  std::int32_t status_ = raddle_leaf_ok;          ///< published by ended_, as the results and the next
  std::unique_ptr<raddle_leaf_failure> failure_;  ///< unless status_ is ok
  std::atomic<bool> ended_{false};                ///< released by the worker that ran it, which then forgets the task
};

/// Forked calls of one worker. Only its own thread calls these, but for steal() and is_empty().
class LeafForks final : public raddle_leaf_worker {
 public:
  /// @param idle_workers  how many workers look for work
  LeafForks(Worker& worker, const std::atomic<std::int32_t>& idle_workers, Inlining inlining);
  LeafForks(const LeafForks&) = delete;
  LeafForks& operator=(const LeafForks&) = delete;

  /// A shared call that nobody has begun, nullptr if there is none or another worker was faster.
  Task* steal() { return shared_.steal(); }
  bool is_empty() const { return shared_.is_empty(); }
  std::uint64_t shared_count() const { return shared_count_; }

  void set_stack_limit(const void* limit) {
    std::atomic_ref<const void*>(stack_limit).store(limit, std::memory_order_relaxed);
  }
  const void* current_stack_limit() {
    return std::atomic_ref<const void*>(stack_limit).load(std::memory_order_relaxed);
  }
  /// Any thread: what runs is to come back, the run ends.
  void interrupt() { set_stack_limit(reinterpret_cast<const void*>(~std::uintptr_t{0})); }

 private:
  void share_oldest();
  bool is_due();
  std::int32_t end(raddle_leaf_fork& fork, raddle_leaf_failure* failure);

  Worker& worker_;
  const Inlining inlining_;
  raddle_leaf_fork first_{};         ///< the end of the list; no call
  raddle_leaf_fork* newest_shared_;  ///< it and all older ones are shared: sharing goes from the oldest on
  std::deque<ForkTask> tasks_;       ///< of the shared calls, in the order of the list: the youngest ends first
  WorkStealingDeque shared_;         ///< likewise
  std::chrono::steady_clock::time_point last_shared_at_{};
  std::uint64_t shared_count_ = 0;
};

}  // namespace raddle::vm
