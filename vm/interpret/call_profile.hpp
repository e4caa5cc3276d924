#pragma once
// How long things take, as those see it who decide whether they are worth sharing.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace raddle::vm {

/// Of a clock that never goes back.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What calls of a function of the script have lately taken. A hint, all relaxed: written by whoever has made a call,
/// but while all workers have work only of some, and of none in iterations.
///
/// Note [call profiles]. How a call is made that need not be a task:
///
/// - A short one in place, though somebody looks for work. To hand it over takes about as long as least_shared_ns, and
///   each would be over before the next one is queued: everybody would go on looking, and two workers take longer than
///   one. But many short calls may be a long recursion: one is queued every Interpreter::share_interval_ns, unless they
///   are in a stretch of short iterations, which are shared out already.
/// - One that takes longer is queued if somebody looks for work.
/// - One that may take much longer, or is not known, is queued in any case, so that its caller goes on and finds what
///   others could do meanwhile; not in iterations, and not if many are waiting already.
///
/// A longer call counts for four times what is known, as the system may have taken the processor away; a shorter one
/// for little, as calls of one function differ.
class CallProfile {
 public:
  static constexpr std::int64_t least_shared_ns = 3'000, least_long_ns = 50'000;

  void note(std::int64_t ns) {
    ns = std::max<std::int64_t>(1, ns);
    const std::int64_t before = lately_ns_.load(std::memory_order_relaxed);
    const std::int64_t now = before == 0 ? ns : ns < before ? before - (before - ns) / 8 : std::min(ns, 4 * before);
    if (now != before) lately_ns_.store(now, std::memory_order_relaxed);
  }
  bool is_short() const {
    const std::int64_t ns = lately_ns_.load(std::memory_order_relaxed);
    return ns != 0 && ns < least_shared_ns;
  }
  /// It is not known, or they do.
  bool may_be_long() const {
    const std::int64_t ns = lately_ns_.load(std::memory_order_relaxed);
    return ns == 0 || ns >= least_long_ns;
  }

 private:
  std::atomic<std::int64_t> lately_ns_{0};  ///< 0: not known
};

/// Notes how long its scope took.
class CallTimer {
 public:
  explicit CallTimer(CallProfile& profile) : profile_(profile) {}
  ~CallTimer() { profile_.note(now_ns() - start_ns_); }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

 private:
  CallProfile& profile_;
  const std::int64_t start_ns_ = now_ns();
};

}  // namespace raddle::vm
