#pragma once
// Workers on a virtual clock: each runs ordinary code, and time passes only where that code says so.
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace raddle::simulated {

using Nanoseconds = std::int64_t;

/// Each worker has a stack of its own, all of them share one thread; whoever is earliest runs. So what workers do to
/// what they share happens in the order of their clocks, and a run can be repeated exactly.
class VirtualClock {
 public:
  /// Runs `body` for each of `count` workers, from time 0 on, until all have returned.
  void run(unsigned count, const std::function<void(unsigned)>& body);

  /// Of the worker that runs.
  Nanoseconds now() const { return fibers_[running_].now; }
  /// Time for a thing that nobody else sees.
  void spend(Nanoseconds time) { fibers_[running_].now += time; }
  /// Others go first until it is `time` here. @pre time >= now()
  void wait_until(Nanoseconds time);
  void wait(Nanoseconds time) { wait_until(now() + time); }
  /// Until another worker calls wake().
  void sleep();
  void wake(unsigned worker, Nanoseconds at) { ready_.push({at, worker}); }

 private:
  struct Fiber {
    Nanoseconds now = 0;
    bool has_begun = false;
    std::unique_ptr<char[]> stack;
    ucontext_t begin{};
    jmp_buf resume{};
  };
  struct Turn {
    Nanoseconds at;
    unsigned worker;
    bool operator>(const Turn& other) const { return at != other.at ? at > other.at : worker > other.worker; }
  };

  static void begin();
  void go_to_earliest();

  std::vector<Fiber> fibers_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready_;  // all that neither run nor sleep
  unsigned running_ = 0;
  const std::function<void(unsigned)>* body_ = nullptr;
  ucontext_t caller_{};
};

}  // namespace raddle::simulated
