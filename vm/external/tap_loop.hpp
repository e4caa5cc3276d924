#pragma once
// Who reads what programs print.
#include <functional>
#include <list>
#include <memory>

#include "vm/external/event_loop.hpp"
#include "vm/external/output_tap.hpp"

namespace raddle::vm {

/// Passes on what comes through taps, on a thread of its own, which starts when something is to be watched. Any thread.
class TapLoop {
 public:
  TapLoop() = default;
  TapLoop(const TapLoop&) = delete;
  TapLoop& operator=(const TapLoop&) = delete;
  ~TapLoop();

  /// @param taps  live until end() is called with them   @return false: no thread can be started
  bool watch(ProgramTaps& taps);
  /// Their program has ended: `then`, on the loop's thread, gets its result with what it has printed. What others have
  /// open is watched further on.
  void end(std::unique_ptr<ProgramTaps> taps, ProcessResult result, std::move_only_function<void(ProcessResult)> then);
  /// The same of those that nobody watches, at once. Where no thread can be started, they are closed.
  void end_unwatched(std::unique_ptr<ProgramTaps> taps, ProcessResult& result);

 private:
  bool begin();

  std::list<OutputTap::Pointer> left_;  // the loop's thread: of programs that have ended, and that others have open
  EventLoop loop_;                      // last: its thread, which uses the rest, ends first
};

}  // namespace raddle::vm
