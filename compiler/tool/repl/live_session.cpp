#include "compiler/tool/repl/live_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/run/report_run.hpp"
#include "compiler/tool/process/changed_numbers.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/native/output.hpp"
#include "vm/value/failure.hpp"

namespace raddle::tool::repl {

namespace {

/// How long a task may take to notice that it is to end.
constexpr std::chrono::milliseconds patience(500);

std::vector<vm::Future*> futures_of(const LiveVariables& variables) {
  std::vector<vm::Future*> all;
  for (const auto& variable : variables) all.push_back(variable->value.get());
  return all;
}

vm::RunOptions with_keep_going(vm::RunOptions options) {
  options.keep_going = true;  // a failure is one of an entry, not of the session
  return options;
}

}  // namespace

LiveSession::LiveSession(Session& session, vm::RunOptions options)
    : session_(session),
      options_(with_keep_going(std::move(options))),
      pieces_(session),
      workspace_(std::make_unique<vm::Workspace>(options_)) {
  nothing_.init(vm::Value::of_void());
}

LiveSession::~LiveSession() = default;

Entry* LiveSession::submit(const Typed& typed) {
  const auto variables = pieces_.variables();
  const std::vector<Definition> definitions = pieces_.definitions();
  std::optional<Piece> piece = pieces_.compile(typed);
  if (!piece) {
    has_failed_ = true;
    return nullptr;
  }
  Entry& entry = *entries_.emplace_back(std::make_unique<Entry>());
  entry.text = typed.text;
  entry.file = piece->file;
  entry.line = typed.line;
  entry.inputs = std::move(piece->inputs);
  entry.outputs = std::move(piece->outputs);
  entry.values = std::move(piece->values);
  entry.redefined = std::move(piece->redefined);
  entry.forgotten = std::move(piece->forgotten);
  entry.entered = {.statements = piece->statements,
                   .expression = typed.text.substr(piece->statements.size()),
                   .begin = typed.line - 1,
                   .line = typed.line,
                   .made = {},
                   .own = {},
                   .replaced = {}};
  for (const auto& [name, variable] : pieces_.variables())
    if (const auto before = variables.find(name); before == variables.end() || before->second != variable)
      entry.entered.made.insert(name);
  const auto has = [](const std::vector<Definition>& all, const Definition& one) {
    return std::ranges::any_of(all, [&](const Definition& each) { return is_same(each, one); });
  };
  for (const Definition& each : pieces_.definitions())
    if (!has(definitions, each)) entry.entered.own.push_back(each);
  for (const Definition& each : definitions)
    if (!has(pieces_.definitions(), each)) entry.entered.replaced.push_back(each);
  entry.executable = std::make_unique<Executable>(std::move(*piece->compilation), session_.options);
  start(entry);
  return &entry;
}

void LiveSession::start(Entry& entry) {
  entry.options = options_;
  entry.options.kernel_compiler = entry.executable->kernel_compiler();
  entry.options.app_kernel_compiler = entry.executable->app_kernel_compiler();
  for (const auto& variable : entry.outputs) variable->writer = &entry;
  has_looked_at_rest_ = false;
  const ir::Module& module = entry.executable->module();
  const ir::Function& main = module.functions[module.entry];
  const std::vector<std::uint32_t> reads = opt::count_reads(main);
  std::vector<vm::Future*> inputs = futures_of(entry.inputs);
  LiveVariables read;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (reads[main.parameters[i]] > 0)
      read.push_back(entry.inputs[i]);
    else
      inputs[i] = &nothing_;
  }
  entry.inputs = std::move(read);
  entry.activity =
      &workspace_->start(entry.executable->program(), entry.options, std::move(inputs), futures_of(entry.outputs));
}

void LiveSession::look() {
  const bool rests = is_at_rest();
  if (rests && has_looked_at_rest_) return;
  for (Entry* entry : live_entries()) {
    tell_failures(*entry);
    if (rests && !workspace_->is_stopped() && workspace_->take_if_ended(*entry->activity)) end(*entry);
  }
  has_looked_at_rest_ = rests;
  if (rests) warn_of_changed_numbers();
  if (workspace_->is_stopped()) stop("stopped, as open calls were too many");
  stdlib::flush_output();
}

void LiveSession::tell_failures(Entry& entry) {
  session_.diagnostics = {};
  vm::RunResult found;
  for (vm::RunFailure& failure : workspace_->failures(*entry.activity))
    if (entry.failures_told.emplace(failure.place, failure.message).second)
      found.failures.push_back(std::move(failure));
  for (vm::RunFailure& failure : workspace_->replaced_failures(*entry.activity))
    if (entry.replaced_told.emplace(failure.place, failure.message).second)
      found.replaced.push_back(std::move(failure));
  add_replaced(session_.sources, session_.diagnostics, found);
  add_findings(session_.sources, session_.diagnostics, found);
  if (session_.diagnostics.all().empty()) return;
  has_failed_ = has_failed_ || !found.failures.empty();
  stdlib::flush_output();
  print_findings(session_, entry.file);
}

void LiveSession::end(Entry& entry) {
  entry.activity = nullptr;
  if (entry.executable) entry.executable->keep_program();
  for (const auto& variable : entry.outputs)
    if (!variable->value->is_resolved()) variable->writer = nullptr;  // nothing came of it: a later entry may assign it
  entry.inputs.clear();                                               // what was redefined may go
  entry.outputs.clear();
  entry.values.clear();
}

void LiveSession::replace_value(LiveVariable& variable, const std::string& reason) {
  const bool was_computed = variable.writer != nullptr;
  if (is_abandoned_) static_cast<void>(variable.value.release());
  variable.value = std::make_unique<vm::Future>();
  if (!was_computed) return;
  const Span at = variable.declared;
  variable.value->init(vm::failed_value(vm::make_ref<vm::Failure>(reason, vm::Place{at.file, at.begin, at.end})));
}

std::vector<std::string> LiveSession::stop(const std::string& reason) {
  std::vector<std::string> names;
  const std::vector<Entry*> live = live_entries();
  if (workspace_->stop(patience)) {
    workspace_.reset();
  } else {
    is_abandoned_ = true;
    static_cast<void>(workspace_.release());  // its workers still use it
  }
  const auto give_up = [&](LiveVariable& variable) {
    if (variable.is_settled()) return;
    if (variable.writer) names.push_back(variable.name);
    replace_value(variable, reason);
  };
  for (Entry* entry : live) {
    for (const LiveVariables* some : {&entry->inputs, &entry->outputs})
      for (const auto& variable : *some) give_up(*variable);
    if (is_abandoned_) static_cast<void>(entry->executable.release());
    end(*entry);
  }
  workspace_ = std::make_unique<vm::Workspace>(options_);
  return names;
}

void LiveSession::explain_failure(const LiveVariable& variable) {
  const vm::Value value = vm::failure_of(*variable.value);
  const vm::Failure& failure = vm::as_failure(value);
  session_.diagnostics = {};
  vm::RunResult found;
  found.failures.push_back({failure.message, failure.place, failure.notes, failure.calls});
  add_findings(session_.sources, session_.diagnostics, found);
  print_findings(session_, variable.declared.file);
}

void LiveSession::explain(Entry& entry) {
  session_.diagnostics = {};
  vm::RunResult found;
  found.stuck = workspace_->stuck(*entry.activity);
  add_findings(session_.sources, session_.diagnostics, found);
  print_findings(session_, entry.file);
}

SavedScript LiveSession::script() const {
  std::vector<EnteredText> texts;
  for (const std::unique_ptr<Entry>& entry : entries_) texts.push_back(entry->entered);
  return saved_script(session_.sources, texts);
}

std::shared_ptr<LiveVariable> LiveSession::find(const std::string& name) const {
  const auto found = pieces_.variables().find(name);
  return found == pieces_.variables().end() ? nullptr : found->second;
}

LiveVariables LiveSession::variables() const {
  LiveVariables all;
  for (const auto& [name, variable] : pieces_.variables()) all.push_back(variable);
  return all;
}

std::vector<Entry*> LiveSession::live_entries() const {
  std::vector<Entry*> live;
  for (const std::unique_ptr<Entry>& entry : entries_)
    if (!entry->has_ended()) live.push_back(entry.get());
  return live;
}

std::uint32_t LiveSession::line_of(const LiveVariable& variable) const {
  return session_.sources.position(variable.declared).line;
}

}  // namespace raddle::tool::repl
