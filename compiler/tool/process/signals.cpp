#include "compiler/tool/process/signals.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <ranges>
#include <string_view>

#include "compiler/tool/formats/quantities.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/value/shown_text.hpp"

namespace raddle::tool {

namespace {

constexpr int end_of_watch = SIGUSR2;
constexpr auto repeat_time = std::chrono::milliseconds(100);

using Clock = std::chrono::steady_clock;

/// By whoever started us: `nohup` ignores SIGHUP, a shell without job control the SIGINT of what it runs by `&`.
bool is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalWatch::SignalWatch(std::initializer_list<int> signals, Heard heard, std::function<void()> asked)
    : heard_(std::move(heard)), asked_(std::move(asked)) {
  sigemptyset(&signals_);
  sigaddset(&signals_, end_of_watch);
  if (asked_ && !is_ignored(SIGQUIT)) sigaddset(&signals_, SIGQUIT);
  for (const int signal : signals)
    if (!is_ignored(signal)) sigaddset(&signals_, signal);  // blocked, it would be kept for sigwait all the same
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  is_ending_.store(true, std::memory_order_release);
  pthread_kill(thread_.native_handle(), end_of_watch);
  thread_.join();
}

void SignalWatch::watch() {
  int last = 0;
  Clock::time_point last_time;
  for (unsigned count = 1;;) {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0 || (signal == end_of_watch && is_ending_.load(std::memory_order_acquire)))
      return;
    if (signal == end_of_watch) continue;  // somebody else's
    if (signal == SIGQUIT) {
      asked_();
      continue;
    }
    const auto now = Clock::now();
    const bool is_repeated = signal == last && signal != SIGWINCH && now - last_time < repeat_time;
    if (is_repeated) continue;
    last = signal;
    last_time = now;
    if (caught() == 0) caught_.store(signal, std::memory_order_release);
    heard_(signal, signal == SIGPIPE ? 1 : count++);
  }
}

SignalWatch::Heard cancelling(vm::CancelHook& cancel) {
  return [&cancel](int signal, unsigned count) {
    if (count > 1) {
      cancel.abandon();
      _exit(128 + signal);
    }
    if (signal != SIGPIPE) tell_at_once("raddle: ending what runs; once more to stop at once\n");
    cancel.cancel();
  };
}

std::string programs_text(const vm::ProgramsNow& programs) {
  constexpr std::size_t most = 20, longest = 200;
  using sweep::with_commas;
  const std::size_t count = programs.running.size();
  std::string text =
      fmt::format("raddle: {} program{} run{}, {} wait{}\n", with_commas(count), count == 1 ? "" : "s",
                  count == 1 ? "s" : "", with_commas(programs.waiting), programs.waiting == 1 ? "s" : "");
  for (const vm::RunningProgram& each : programs.running | std::views::take(most)) {
    vm::ProcessRequest request;
    request.words = each.words;
    text += fmt::format("  {:>9}  process {}: {}\n", sweep::seconds_text(each.seconds), each.process_id,
                        vm::shell_command(request, longest));
  }
  if (count > most) text += fmt::format("  and {} more\n", with_commas(count - most));
  return text;
}

void tell_at_once(std::string_view message) {
  static_cast<void>(vm::write_text(STDERR_FILENO, message));  // nobody is left to tell otherwise
}

}  // namespace raddle::tool
