#include "compiler/driver/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <string_view>

namespace raddle::driver {

namespace {

constexpr int end_of_watch = SIGUSR2;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, end_of_watch}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(vm::CancelHook& cancel) : cancel_(cancel) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  pthread_kill(thread_.native_handle(), end_of_watch);
  thread_.join();
}

void SignalWatch::watch() {
  const sigset_t set = watched_signals();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || signal == end_of_watch) return;
    if (caught_.exchange(signal) != 0) {
      cancel_.abandon();
      _exit(128 + signal);
    }
    constexpr std::string_view message = "raddle: ending what runs; once more to stop at once\n";
    static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));  // nobody is left to tell otherwise
    cancel_.cancel();
  }
}

}  // namespace raddle::driver
