#pragma once
// Signals that end a run, heard by a thread of their own.
#include <signal.h>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>

#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// Make it before the run's threads: they inherit the mask that keeps signals from them.
class SignalWatch {
 public:
  /// Signals that are ignored when it is made stay so. One that comes once more within 0.1 s (but for SIGWINCH) is the
  /// same one: timeout(1) and others send it to the process and to its group.
  /// @param heard  called on the watch's thread; `count` is 1 at the first signal, whichever it is. SIGPIPE is not
  ///               counted, as nobody has pressed a key for it
  using Heard = std::function<void(int signal, unsigned count)>;
  /// @param asked  called in the same way at SIGQUIT (Ctrl-\), which then ends nothing and is not counted
  SignalWatch(std::initializer_list<int> signals, Heard heard, std::function<void()> asked = {});
  ~SignalWatch();
  bool hears(int signal) const { return sigismember(&signals_, signal) == 1; }
  /// The first signal that came, or 0.
  int caught() const { return caught_.load(std::memory_order_acquire); }

 private:
  void watch();

  sigset_t signals_;
  Heard heard_;
  std::function<void()> asked_;
  std::atomic<int> caught_{0};  // written by thread_
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

/// What a script's run does at a signal: the first one cancels it, so that nothing new is started, running tasks end,
/// external programs are ended. The second one ends the process at once. SIGPIPE says that nobody reads what is
/// printed.
SignalWatch::Heard cancelling(vm::CancelHook& cancel);

/// What SIGQUIT is answered with: "2 programs run, 3 wait", then a line for each of those that run longest.
std::string programs_text(const vm::ProgramsNow& programs);

/// For what is told by a thread that must not wait for others.
void tell_at_once(std::string_view message);

}  // namespace raddle::tool
