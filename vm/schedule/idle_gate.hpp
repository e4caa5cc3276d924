#pragma once
// Where workers without work wait, and where the end of a run is found.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace raddle::vm {

/// The protocol as single steps, each of them atomic. IdleGate makes them so: announce() and someone_announced() are
/// one seq_cst access, all others are made under its mutex. Sleepers are signalled after that. idle_gate_model_test.cpp
/// makes all of it in every order that there is, and the simulated machines of tests/bench/scheduler on their own
/// clock.
///
/// Sleeping has two phases: announce(), look at every queue once more, then fall asleep or cancel().
///
/// No wake-up is lost: a pusher publishes its task (seq_cst store), then loads unpromised (seq_cst); a worker adds
/// itself to unpromised (seq_cst), then loads the queues (seq_cst). In the single total order of these four one comes
/// last: either the worker sees the task, or the pusher sees the worker and makes a promise, with which a sleeper gets
/// up and without which nobody sleeps while one is open. Whoever moves tasks from queue to queue does as a pusher does,
/// as tasks on their way are seen by nobody.
///
/// One wake-up for each new task and no more: a worker that has been promised one is not counted as unpromised, so that
/// pushes are silent as soon as every sleeper is on its way. Whoever leaves for good hands on what it may have been
/// promised.
///
/// The run is over when every worker sleeps, nothing is held, promised, or injected: a sleeping worker has found all
/// queues empty, only running workers push, and a worker is counted as asleep under the mutex alone.
template <typename Count>  // std::atomic<unsigned>; unsigned where one thread makes all steps
struct IdleSteps {
  explicit IdleSteps(unsigned worker_count) : workers(worker_count) {}

  void announce() { ++unpromised; }
  bool someone_announced() const { return unpromised != 0; }
  /// @return false: there was nobody to wake
  bool promise() {
    if (unpromised == 0) return false;
    --unpromised;
    ++promises;
    return true;
  }
  void promise_all() {
    while (promise()) {
    }
  }
  /// Work was found after all. Promises are left to others as long as they are enough for them.
  void cancel() {
    if (unpromised != 0)
      --unpromised;
    else
      --promises;
  }
  bool may_get_up() const { return over || promises > 0; }
  void fall_asleep(bool nothing_injected) {
    ++asleep;
    end_if_quiescent(nothing_injected);
  }
  /// @pre may_get_up()
  void get_up() { --asleep; }
  /// The second phase ends otherwise than by cancel(). @pre may_get_up() @return false if the run is over
  bool depart() {
    if (promises > 0)
      --promises;
    else
      --unpromised;
    return !over;
  }
  void end_if_quiescent(bool nothing_injected) {
    if (asleep == workers && promises == 0 && holds == 0 && nothing_injected) over = true;
  }

  unsigned workers;
  Count unpromised{0};  // workers in the second phase whom nobody has promised to wake
  unsigned promises = 0;
  unsigned asleep = 0;
  std::uint64_t holds = 0;
  bool over = false;
};

/// `nothing_injected` is a function, called under the gate's mutex.
class IdleGate {
 public:
  explicit IdleGate(unsigned worker_count) : steps_(worker_count) {}

  void announce() { steps_.announce(); }
  void cancel() {
    const std::lock_guard lock(mutex_);
    steps_.cancel();
  }
  /// After announce() and a look at all queues: sleeps until promised work, or the end.
  /// @return false if the run is over
  template <typename NothingInjected>
  bool sleep(const NothingInjected& nothing_injected) {
    std::unique_lock lock(mutex_);
    if (!steps_.may_get_up()) {
      steps_.fall_asleep(nothing_injected());
      if (steps_.over) wake_.notify_all();
      while (!steps_.may_get_up()) wake_.wait(lock);
      steps_.get_up();
    }
    return steps_.depart();
  }

  /// Wakes one worker if any sleeps or is about to. After the work was published. The gate outlives the call: the
  /// caller is a worker, has a hold, or is who destroys the gate.
  void notify_one() {
    if (!steps_.someone_announced()) return;
    {
      const std::lock_guard lock(mutex_);
      if (!steps_.promise()) return;
    }
    wake_.notify_one();  // without the lock, which whoever gets up needs at once
  }
  void notify_all() {
    const std::lock_guard lock(mutex_);
    steps_.promise_all();
    wake_.notify_all();
  }

  void hold() {
    const std::lock_guard lock(mutex_);
    ++steps_.holds;
  }
  template <typename NothingInjected>
  void release_hold(const NothingInjected& nothing_injected, std::uint64_t count = 1) {
    const std::lock_guard lock(mutex_);
    steps_.holds -= count;
    steps_.end_if_quiescent(nothing_injected());
    if (steps_.over) wake_.notify_all();
  }

  /// A worker more, before it begins; or one less, which has nothing left.
  void add_worker() {
    const std::lock_guard lock(mutex_);
    ++steps_.workers;
  }
  template <typename NothingInjected>
  void remove_worker(const NothingInjected& nothing_injected) {
    const std::lock_guard lock(mutex_);
    --steps_.workers;
    steps_.end_if_quiescent(nothing_injected());
    if (steps_.over) wake_.notify_all();
  }

  /// Ends the run: all sleepers return false.
  void end() {
    const std::lock_guard lock(mutex_);
    steps_.over = true;
    wake_.notify_all();
  }
  void restart() {
    const std::lock_guard lock(mutex_);
    steps_.over = false;
  }

 private:
  std::mutex mutex_;  // guards all below, but for unpromised, which is also read and raised without it
  std::condition_variable wake_;
  IdleSteps<std::atomic<unsigned>> steps_;
};

}  // namespace raddle::vm
