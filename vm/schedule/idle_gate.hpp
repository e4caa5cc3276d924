#pragma once
// Where workers without work wait, and where the end of a run is found.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace raddle::vm {

/// Sleeping has two phases: announce(), look at every queue once more, then sleep() or cancel().
///
/// No wake-up is lost: a pusher publishes its task (seq_cst store), then loads announced_ (seq_cst); a worker adds
/// itself to announced_ (seq_cst), then loads the queues (seq_cst). In the single total order of these four one comes
/// last: either the worker sees the task, or the pusher sees the worker and moves epoch_ on under the mutex, so that
/// sleep() with the older key returns.
///
/// The run is over when every worker sleeps, nothing is held and nothing injected: a sleeping worker has found its own
/// deque empty, only running workers push, and a worker is counted as asleep under the mutex alone.
class IdleGate {
 public:
  explicit IdleGate(unsigned worker_count) : worker_count_(worker_count) {}

  /// @return the key for sleep()
  std::uint64_t announce() {
    announced_.fetch_add(1, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex_);
    return epoch_;
  }
  void cancel() { announced_.fetch_sub(1, std::memory_order_relaxed); }

  /// Sleeps until notified since announce(), or the run ends.
  /// @param nothing_injected  called under the gate's mutex
  /// @return false if the run is over
  template <typename NothingInjected>
  bool sleep(std::uint64_t key, const NothingInjected& nothing_injected) {
    std::unique_lock lock(mutex_);
    if (epoch_ == key && !over_) {
      ++asleep_;
      end_if_quiescent(nothing_injected());
      while (epoch_ == key && !over_) wake_.wait(lock);
      --asleep_;
    }
    cancel();
    return !over_;
  }

  /// Wakes one worker if any sleeps or is about to. After the work was published.
  void notify_one() {
    if (announced_.load(std::memory_order_seq_cst) == 0) return;
    const std::lock_guard lock(mutex_);
    ++epoch_;
    wake_.notify_one();
  }

  void hold() {
    const std::lock_guard lock(mutex_);
    ++holds_;
  }
  template <typename NothingInjected>
  void release_hold(const NothingInjected& nothing_injected) {
    const std::lock_guard lock(mutex_);
    --holds_;
    end_if_quiescent(nothing_injected());
  }

  /// Ends the run: all sleepers return false.
  void end() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    wake_.notify_all();
  }
  void restart() {
    const std::lock_guard lock(mutex_);
    over_ = false;
  }

 private:
  void end_if_quiescent(bool nothing_injected) {
    if (asleep_ != worker_count_ || holds_ != 0 || !nothing_injected) return;
    over_ = true;
    wake_.notify_all();
  }

  const unsigned worker_count_;
  std::atomic<unsigned> announced_{0};  // workers between announce() and cancel() or the end of sleep()
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t epoch_ = 0;  // guarded by mutex_, as all below
  unsigned asleep_ = 0;
  std::uint64_t holds_ = 0;
  bool over_ = false;
};

}  // namespace raddle::vm
