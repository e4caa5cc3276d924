// `raddle` on a terminal: wires the session, its conversation and its console together.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <expected>
#include <utility>

#include "compiler/tool/main/commands.hpp"
#include "compiler/tool/repl/console.hpp"
#include "compiler/tool/repl/conversation.hpp"
#include "compiler/tool/run/run_settings.hpp"
#include "compiler/tool/main/signals.hpp"
#include "vm/record/call_record.hpp"

namespace raddle::tool {

namespace {

/// However the process ends, the terminal is left as it was.
void restore_terminal_at_faults() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    terminal::Tty::restore();
    raise(signal);  // SA_RESETHAND: as if nobody had listened
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT}) {
    struct sigaction given;
    if (sigaction(signal, nullptr, &given) == 0 && given.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

int run_repl(Session& session, const std::string& script) {
  std::expected<vm::RunOptions, int> options = run_options(session.options, "repl");
  if (!options) return options.error();
  vm::CallRecord call_record(version);
  options->call_record = &call_record;
  std::atomic<repl::Console*> listening{nullptr};
  std::atomic<bool> is_ended{false};
  // before there are other threads: they inherit the mask
  const SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGWINCH}, [&](int signal, unsigned) {
    repl::Console* console = listening.load();
    if (signal == SIGWINCH && console) return console->resized();
    if (signal != SIGTERM && signal != SIGHUP) return;
    if (!console || is_ended.exchange(true)) {
      terminal::Tty::restore();
      _exit(exit_ended_early);
    }
    console->leave_soon();
  });
  restore_terminal_at_faults();
  repl::Console console(wants_colour(STDOUT_FILENO));
  listening = &console;
  repl::Conversation conversation(
      session, std::move(*options),
      {.size = [&console] { return console.size(); },
       .is_interrupted = [&console](std::chrono::milliseconds most) { return console.is_interrupted(most); },
       .has_colour = session.colour});
  fmt::print("{}, {} workers. :help lists commands, Ctrl-D leaves.\n", version, conversation.workers());
  if (!script.empty()) conversation.load(script);
  console.run(conversation);
  conversation.end();
  const int code = is_ended ? exit_ended_early : exit_ok;
  if (conversation.is_abandoned()) {
    console.leave();
    _exit(code);  // a computation that can not be ended uses what destructors would take from it
  }
  listening = nullptr;
  return code;
}

}  // namespace raddle::tool
