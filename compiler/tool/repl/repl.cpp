// `raddle repl`: wires the session, its conversation and its console, or the pipe in place of one, together.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <expected>
#include <utility>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/run/run_command.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/repl/console.hpp"
#include "compiler/tool/repl/conversation.hpp"
#include "compiler/tool/repl/output_capture.hpp"
#include "compiler/tool/repl/piped_entries.hpp"
#include "compiler/tool/run/run_settings.hpp"
#include "compiler/tool/process/signals.hpp"
#include "vm/memory/page_faults.hpp"
#include "vm/record/call_record.hpp"

namespace raddle::tool {

namespace {

/// However the process ends, the terminal is left as it was.
void restore_terminal_at_faults() {
  struct sigaction action {};
  action.sa_sigaction = [](int fault, siginfo_t* info, void* context) {
    if (vm::serve_page_fault(fault, *info, context)) return;
    terminal::Tty::restore();
    signal(fault, SIG_DFL);  // as if nobody had listened
    raise(fault);
  };
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT}) {
    struct sigaction given;
    if (sigaction(signal, nullptr, &given) == 0 && given.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

int code_after(int signal) { return signal == SIGINT ? exit_interrupted : exit_ended_early; }

/// On the terminal that standard input and output are.
/// @param script  a file that is run first, as `:load` would; "": none
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

/// Without a terminal: entries come from a pipe or a file, and nothing but what they print and show is written.
int run_piped_session(Session& session, const std::string& script) {
  std::expected<vm::RunOptions, int> options = run_options(session.options, "repl");
  if (!options) return options.error();
  vm::CallRecord call_record(version);
  options->call_record = &call_record;
  repl::PipedEntries entries;
  // before there are other threads: they inherit the mask
  const SignalWatch signals({SIGINT, SIGTERM, SIGHUP}, [&](int signal, unsigned count) {
    if (count > 1) _exit(code_after(signal));
    entries.leave_soon();
  });
  repl::Conversation conversation(
      session, std::move(*options),
      {.size = [] { return terminal::Size{}; },
       .is_interrupted = [&entries](std::chrono::milliseconds most) { return entries.is_interrupted(most); },
       .has_colour = false,
       .has_prompt = false});
  if (!script.empty()) conversation.load(script);
  entries.run(conversation);
  const bool is_stuck = signals.caught() == 0 && conversation.tell_stuck();
  conversation.end();
  const int code = signals.caught() != 0       ? code_after(signals.caught())
                   : conversation.has_failed() ? exit_failed
                   : is_stuck                  ? exit_stuck
                                               : exit_ok;
  if (!conversation.is_abandoned()) return code;
  repl::OutputCapture::flush();
  _exit(code);  // a computation that can not be ended uses what destructors would take from it
}

struct ReplWords {
  Options options;
  std::string script;  ///< of --load
};

constexpr const char* about_repl = "An interactive session; so is `raddle` alone on a terminal";
constexpr const char* about_pipes =
    "Behind a pipe, as in `raddle repl < FILE`, entries and commands are read from it in turn. There is no prompt; "
    "each\n"
    "entry is waited for, values of expressions without `;` are shown, and after an error the next entry follows. The "
    "exit\n"
    "code is 1 then. `raddle < FILE` runs the whole as a script.";

void add_repl_options(CLI::App& app, ReplWords& words) {
  app.description(about_repl);
  app.footer(about_pipes);
  add_reading_options(app, words.options);
  add_profile_option(app, words.options.profile);
  add_machine_options(app, words.options);
  app.add_option("--patience", words.options.patience_ms,
                 "How long the prompt waits for what was entered before it goes on in the background, in ms "
                 "(default 150)")
      ->check(is_whole_from(0))
      ->type_name("N");
  app.add_option("--load", words.script, "Run this script first; its variables and functions stay")->type_name("FILE");
}

int repl_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle repl");
  ReplWords read;
  add_repl_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "repl")) return *code;
  const bool is_on_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (is_on_terminal && !can_redraw(STDOUT_FILENO))
    return usage_error(
        "an interactive session draws lines anew, which a terminal without TERM or with TERM=dumb can not; `raddle "
        "FILE`, `raddle -e CODE` and `raddle < FILE` need no such",
        "repl");
  if (const std::optional<int> code = apply_settings(app, "repl", read.options.profile)) return *code;
  Session session;
  session.options = read.options;
  session.words = words;
  session.colour = wants_colour(STDERR_FILENO);
  return is_on_terminal ? run_repl(session, read.script) : run_piped_session(session, read.script);
}

}  // namespace

const Verb repl_verb = {.name = "repl",
                        .about = about_repl,
                        .takes_options_before = true,
                        .run = repl_command,
                        .describe = [](CLI::App& app) { describe_with(app, add_repl_options); }};

}  // namespace raddle::tool
