#include "compiler/tool/repl/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "compiler/tool/repl/show_value.hpp"
#include "stdlib/native/output.hpp"
#include "vm/value/failure.hpp"

namespace raddle::tool::repl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_interval(2);

std::uint32_t line_count(std::string_view text) {
  return 1 + static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\n");
  return std::string(text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

}  // namespace

Conversation::Conversation(Session& session, vm::RunOptions options, Surroundings surroundings)
    : session_(session),
      surroundings_(std::move(surroundings)),
      options_(std::move(options)),
      live_(std::make_unique<LiveSession>(session_, options_)) {}

bool Conversation::answer(const std::string& text) {
  if (text.starts_with(':'))
    command(text);
  else if (!trimmed(text).empty())
    answer_entry(text);
  line_ += line_count(text);
  return !has_quit_;
}

void Conversation::answer_entry(const std::string& text) {
  const std::string word = trimmed(text);
  const bool leaves = word == "quit" || word == "exit";
  if ((leaves || word == "help") && !live_->find(word))
    return say(leaves ? ":quit or Ctrl-D leaves" : ":help lists commands; `raddle doc` lists functions");
  run_entry({"repl", text, line_}, /*waits_for_end=*/false);
}

void Conversation::command(const std::string& text) {
  const std::size_t blank = std::min(text.find_first_of(" \n"), text.size());
  const std::string name = text.substr(0, blank), argument = trimmed(text.substr(blank));
  std::vector<std::string> names;
  for (const Command& each : command_list()) {
    names.emplace_back(each.name);
    if (each.name != name) continue;
    if (each.argument.empty() && !argument.empty()) return refuse(fmt::format("{} takes no argument", name));
    if (!each.argument.empty() && argument.empty())
      return refuse(fmt::format("{} takes an argument: {} {}", name, name, each.argument));
    return (this->*each.run)(argument);
  }
  const std::string nearest = nearest_name(name, names);
  refuse(fmt::format("there is no command {}{}", name,
                     nearest.empty() ? "; :help lists them" : fmt::format("; did you mean {}?", nearest)));
}

// ---------------------------------------------------------------- entries

void Conversation::run_entry(const Typed& typed, bool waits_for_end) {
  Entry* entry = live_->submit(typed);
  if (!entry) return;
  for (const std::string& each : entry->forgotten)
    say_aside(fmt::format("forgotten, as it does not fit any more: {}", each));
  for (const std::string& name : entry->redefined)
    say_aside(fmt::format("`{}` is a new variable; what was made of the old one stays", name));
  const LiveVariables values = entry->values;
  LiveVariables outputs;
  for (const auto& output : entry->outputs)
    if (std::ranges::find(values, output) == values.end()) outputs.push_back(output);
  await(*entry, waits_for_end);
  report(values, outputs, trimmed(typed.text.substr(entry->entered.statements.size())));
}

void Conversation::await(Entry& entry, bool waits_for_end) {
  const Clock::time_point start = Clock::now();
  while (true) {
    const bool rests = live_->wait_for_rest(look_interval);
    live_->look();
    if (entry.has_ended() || rests) return;
    if (surroundings_.is_interrupted(milliseconds(0))) return interrupt();
    if (!waits_for_end && surroundings_.has_prompt && Clock::now() - start > milliseconds(session_.options.patience_ms))
      return;
  }
}

void Conversation::report(const LiveVariables& values, const LiveVariables& outputs, const std::string& expression) {
  for (const auto& variable : values) {
    if (variable->progress() == vm::Progress::complete) {
      say(value_text(*variable));
      continue;
    }
    const bool is_told = variable->writer && variable->writer->has_failed();
    if (variable->progress() != vm::Progress::failed || !is_told)
      say(fmt::format("{} : {}, {}", variable->name, variable->type, state_of(*variable)));
    if (variable->is_settled()) continue;
    const auto named = live_->find(expression);
    promises_.push_back({variable, expression, named ? named : variable});
  }
  for (const auto& variable : outputs) {
    if (variable->progress() == vm::Progress::complete) continue;
    const bool is_told = variable->writer && variable->writer->has_failed();
    if (variable->progress() != vm::Progress::failed || !is_told)
      say(fmt::format("{} : {}, {}", variable->name, variable->type, state_of(*variable)));
    if (!variable->is_settled()) promises_.push_back({variable, variable->name, variable});
  }
}

void Conversation::look() {
  live_->look();
  std::vector<Promise> left;
  LiveVariables told;
  const auto is_told = [&](const Promise& each) { return std::ranges::find(told, each.subject) != told.end(); };
  for (Promise& promise : promises_) {
    const LiveVariable& variable = *promise.variable;
    if (is_told(promise)) continue;
    if (!variable.is_settled()) {
      if (variable.writer) left.push_back(std::move(promise));  // else its entry has ended without it
      continue;
    }
    if (variable.progress() == vm::Progress::failed)
      say(fmt::format("{} : {}, {}", variable.name, variable.type, state_of(variable)));
    else
      say(variable.type == "void" ? fmt::format("{} is set", promise.what)
                                  : fmt::format("{} = {}", promise.what, value_text(variable)));
    told.push_back(promise.subject);
  }
  std::erase_if(left, is_told);
  promises_ = std::move(left);
}

void Conversation::interrupt() {
  if (!is_busy()) return;
  promises_.clear();
  std::vector<std::string> names = live_->stop("stopped by Ctrl-C");
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  say(names.empty() ? "stopped" : fmt::format("stopped: {}", fmt::join(names, ", ")));
  if (live_->is_abandoned())
    say_aside("a computation that can not be interrupted goes on in the background; it is ended with the session");
}

void Conversation::end() {
  if (is_busy()) live_->stop("ended with the session");
}

bool Conversation::tell_stuck() {
  const std::vector<Entry*> entries = live_->live_entries();
  for (Entry* entry : entries) live_->explain(*entry);
  return !entries.empty();
}

// ---------------------------------------------------------------- words

void Conversation::say(std::string_view text) const {
  stdlib::flush_output();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Conversation::say_aside(std::string_view text) const {
  say(surroundings_.has_colour ? fmt::format("\x1b[90m{}\x1b[m", text) : std::string(text));
}

void Conversation::refuse(std::string_view text) {
  has_failed_ = true;
  say(text);
}

std::string Conversation::value_text(const LiveVariable& variable) const {
  return show_value(variable.value->get(), surroundings_.size().columns);
}

std::string Conversation::awaited_by(const Entry& entry) const {
  std::string text;
  for (const auto& input : entry.inputs)
    if (!input->is_settled())
      text += fmt::format("{}{} (line {})", text.empty() ? "" : ", ", input->name, live_->line_of(*input));
  return text;
}

std::string Conversation::state_of(const LiveVariable& variable) const {
  switch (variable.progress()) {
    case vm::Progress::complete: return "set";
    case vm::Progress::failed: {
      const vm::Value value = vm::failure_of(*variable.value);
      const vm::Failure& failure = vm::as_failure(value);
      return fmt::format("failed: {} ({})", failure.message,
                         session_.sources.describe({failure.place.file, failure.place.begin, failure.place.end}));
    }
    case vm::Progress::unset:
    case vm::Progress::partly: break;
  }
  if (!variable.writer) return "unset: nothing assigns it yet";
  const std::string awaited = awaited_by(*variable.writer);
  if (!awaited.empty()) return "waiting for " + awaited;
  if (!live_->is_at_rest()) return "running";
  if (variable.progress() == vm::Progress::unset) return "unset, and nothing will set it: see :why";
  // a part may be another entry's to set
  std::string others;
  for (const Entry* entry : live_->live_entries())
    if (const std::string text = awaited_by(*entry); !text.empty()) others += (others.empty() ? "" : ", ") + text;
  return others.empty() ? "in part unset, and nothing will set it: see :why"
                        : fmt::format("in part unset; what may set it waits for {}", others);
}

}  // namespace raddle::tool::repl
