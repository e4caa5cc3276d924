#pragma once
// The threads of a sweep's runs in this process: one for each run at a time.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "vm/interpret/run.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// A run that does not end some seconds after it was cancelled, as a function in C does not come back, is lost: what
/// came of it is told without it, and another thread takes the place of its own. Any thread calls all of it.
class RunThreads {
 public:
  using Clock = std::chrono::steady_clock;
  /// A run that is under way.
  struct Active {
    explicit Active(std::uint32_t worker);
    vm::CancelHook cancel;
    const std::uint32_t worker;  ///< vm::Attempt::worker
    const double started;        ///< seconds since 1970
    const Clock::time_point begin = Clock::now();
    bool is_late = false;  ///< its time was up. Guarded by the mutex, as all below
    Clock::time_point deadline;
    std::optional<Clock::time_point> cancelled = {};
    std::function<void(vm::Attempt)> tell_lost;
    bool is_told = false, is_lost = false;  ///< one of both at most: the thread tells what came of it, or it can not
  };
  struct Task {
    std::function<void(Active&)> run;                 ///< of what may_tell() allows it tells the outcome
    std::function<void(vm::Attempt)> tell_lost = {};  ///< called on another thread where the time was up
  };

  /// @param jobs  runs at once, at most: fewer if there can not be so many threads   @param timeout_s  of each; 0: none
  /// @throws std::system_error if not even a first thread, and the one that watches the time, can be started
  RunThreads(unsigned jobs, double timeout_s);
  /// @pre !has_lost()
  ~RunThreads();
  /// Runs it when a thread is free; not after end_all().
  void begin(Task task);
  /// By the thread of the run, before it tells what came of it. @return false: that was told already
  bool may_tell(Active& active);
  bool is_late(const Active& active);
  /// Cancels all, and returns when nothing is under way or to be told. Those that are lost then are told to nobody.
  void end_all();
  /// A run was lost, and its thread has not come back: it still uses all that it was given.
  bool has_lost();

 private:
  struct Lost {
    std::function<void(vm::Attempt)> tell;
    vm::Attempt attempt;
  };
  void work(std::uint32_t worker);
  void watch();
  // With mutex_ held:
  void add_worker(std::uint32_t worker);
  bool replace_lost();
  static Clock::time_point look_after(Active& active, Clock::time_point now);
  std::vector<Lost> take_lost(Clock::time_point& next);
  void wait(std::unique_lock<std::mutex>& lock, Clock::time_point until);

  const double timeout_s_;
  std::mutex mutex_;  // guards all below
  std::condition_variable arrived_, changed_;
  std::deque<Task> waiting_;
  std::list<Active> active_, lost_;
  std::vector<std::uint32_t> missing_;  ///< workers whose threads are lost, and that have no other one yet
  bool is_telling_ = false;             ///< of lost ones
  bool is_ended_ = false, is_closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::tool
