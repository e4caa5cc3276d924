#pragma once
// Who reads what programs print.
#include <functional>
#include <list>
#include <memory>
#include <system_error>

#include "vm/external/event_loop.hpp"
#include "vm/external/output_tap.hpp"

namespace raddle::vm {

/// Passes on what comes through taps, on a thread of its own, which starts when something is to be watched. Any thread.
class TapLoop {
 public:
  TapLoop() = default;
  TapLoop(const TapLoop&) = delete;
  TapLoop& operator=(const TapLoop&) = delete;
  ~TapLoop() {
    if (loop_.has_begun()) loop_.post([this] { left_.clear(); });
  }

  /// @param taps  live until end() is called with them   @return false: no thread can be started
  bool watch(ProgramTaps& taps) {
    if (!begin()) return false;
    loop_.post([this, &taps] { taps.watch(*loop_.loop()); });
    return true;
  }
  /// Their program has ended: `then`, on the loop's thread, gets its result with what it has printed. What others have
  /// open is watched further on.
  void end(std::unique_ptr<ProgramTaps> taps, ProcessResult result, std::move_only_function<void(ProcessResult)> then) {
    loop_.post([this, taps = std::move(taps), result = std::move(result), then = std::move(then)]() mutable {
      taps->end(result, left_);
      left_.remove_if([](const OutputTap::Pointer& tap) { return tap->has_ended(); });
      then(std::move(result));
    });
  }
  /// The same of those that nobody watches, at once. Where no thread can be started, they are closed.
  void end_unwatched(std::unique_ptr<ProgramTaps> taps, ProcessResult& result) {
    std::list<OutputTap::Pointer> open;
    taps->end(result, open);
    if (open.empty() || !begin()) return;
    loop_.post([this, open = std::move(open)]() mutable {
      for (const OutputTap::Pointer& tap : open) tap->watch(*loop_.loop());
      left_.splice(left_.end(), open);
    });
  }

 private:
  bool begin() {
    try {
      loop_.begin();
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  std::list<OutputTap::Pointer> left_;  // the loop's thread: of programs that have ended, and that others have open
  EventLoop loop_;                      // last: its thread, which uses the rest, ends first
};

}  // namespace raddle::vm
