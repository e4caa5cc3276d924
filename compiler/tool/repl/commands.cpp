// The commands of a session: what begins with a colon.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/tool/repl/conversation.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/terminal/plot.hpp"
#include "vm/value/array.hpp"
#include "vm/value/dense.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/text.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/whole_file.hpp"

namespace raddle::tool::repl {

namespace {

constexpr std::size_t longest_text = 60;  // of an entry in a list

/// Blanks in place of the command: then positions are those of what was typed.
std::string below(std::string_view command) { return std::string(command.size(), ' '); }

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  const bool is_cut = line.size() < text.size() || line.size() > longest_text;
  return line.substr(0, longest_text) + (is_cut ? " ..." : "");
}

}  // namespace

const std::vector<Conversation::Command>& Conversation::command_list() {
  static const std::vector<Command> list = {
      {":help", "", "this text", &Conversation::help},
      {":type", "EXPRESSION", "its type; computes nothing", &Conversation::type},
      {":time", "STATEMENT", "runs it to its end and says how long that took", &Conversation::time},
      {":vars", "", "the variables, their types and values", &Conversation::vars},
      {":why", "NAME", "why a variable has no value", &Conversation::why},
      {":tasks", "", "what runs or waits", &Conversation::tasks},
      {":plot", "NAME", "a curve through an array of numbers", &Conversation::plot},
      {":load", "FILE", "runs a script as one entry; its variables and functions stay", &Conversation::load},
      {":save", "FILE", "writes what was entered as a script", &Conversation::save},
      {":reset", "", "ends what runs and forgets all", &Conversation::reset},
      {":quit", "", "leaves; Ctrl-D on an empty line does, too", &Conversation::quit}};
  return list;
}

std::vector<std::string> Conversation::commands() {
  std::vector<std::string> names;
  for (const Command& each : command_list()) names.emplace_back(each.name);
  return names;
}

void Conversation::help(const std::string&) {
  std::string text =
      "Statements run at once; an expression without `;` shows its value, which is\n"
      "`ans` afterwards. What takes longer goes on in the background. Enter begins a\n"
      "new line while an entry is not whole, Alt-Enter always does. Tab completes,\n"
      "Ctrl-R searches what was entered, Ctrl-C clears the line, or ends what runs.\n";
  for (const Command& each : command_list())
    text += fmt::format("\n  {:<17}{}", fmt::format("{} {}", each.name, each.argument), each.summary);
  say(text);
}

void Conversation::type(const std::string& argument) {
  const auto found = live_->pieces().type_of({"repl", below(":type ") + argument, line_});
  if (found)
    say(*found);
  else
    has_failed_ = true;
}

void Conversation::time(const std::string& argument) {
  const Clock::time_point start = Clock::now();
  run_entry({"repl", below(":time ") + argument, line_}, /*waits_for_end=*/true);
  const std::chrono::duration<double> taken = Clock::now() - start;
  say(fmt::format("{:.3f} s", taken.count()));
}

void Conversation::vars(const std::string&) {
  constexpr std::size_t widest = 100;
  for (const auto& variable : live_->variables()) {
    const bool is_set = variable->progress() == vm::Progress::complete;
    const std::string text = is_set ? " = " + value_text(*variable) : ", " + state_of(*variable);
    const std::string line = text.substr(0, std::min(text.find('\n'), widest));
    say(fmt::format("{} : {}{}{}", variable->name, variable->type, line, line.size() < text.size() ? " ..." : ""));
  }
}

void Conversation::why(const std::string& argument) {
  const auto variable = live_->find(argument);
  if (!variable) return refuse(fmt::format("there is no variable `{}`", argument));
  if (variable->progress() == vm::Progress::complete) return say(fmt::format("{} is set", argument));
  if (variable->progress() == vm::Progress::failed) return live_->explain_failure(*variable);
  say(fmt::format("{} : {}, {}", argument, variable->type, state_of(*variable)));
  // down the chain of what waits for what
  std::vector<const LiveVariable*> seen{variable.get()};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]->writer) continue;
    for (const auto& input : seen[i]->writer->inputs) {
      if (input->is_settled() || std::ranges::find(seen, input.get()) != seen.end()) continue;
      seen.push_back(input.get());
      say(fmt::format("  {} : {}, {}", input->name, input->type, state_of(*input)));
    }
  }
  if (live_->is_at_rest() && variable->writer && !variable->writer->has_ended()) live_->explain(*variable->writer);
}

void Conversation::tasks(const std::string&) {
  const std::vector<Entry*> entries = live_->live_entries();
  if (entries.empty()) return say("nothing runs or waits");
  const bool rests = live_->is_at_rest();
  for (const Entry* entry : entries) {
    const std::string awaited = awaited_by(*entry);
    const bool is_set = std::ranges::all_of(entry->outputs, [](const auto& each) { return each->is_settled(); });
    // that an entry has ended is known when all rest
    const std::string_view state = rests                    ? "can not go on"
                                   : !is_set                ? "runs"
                                   : entry->outputs.empty() ? "runs, or has ended"
                                                            : "has set all its variables";
    say(fmt::format("line {:<4} {:<30} {}", entry->line, awaited.empty() ? std::string(state) : "waits for " + awaited,
                    first_line(entry->text)));
  }
}

void Conversation::plot(const std::string& argument) {
  const auto variable = live_->find(argument);
  const auto is_in_names = [](unsigned char sign) { return std::isalnum(sign) != 0 || sign == '_'; };
  if (!variable && std::ranges::all_of(argument, is_in_names))
    return refuse(fmt::format("there is no variable `{}`; :plot takes the name of one", argument));
  if (!variable) return refuse(fmt::format(":plot takes the name of a variable: `v = {};`, then `:plot v`", argument));
  if (variable->progress() != vm::Progress::complete) return say(fmt::format("{}, {}", argument, state_of(*variable)));
  vm::Value value = variable->value->get();
  if (value.kind() == vm::ValueKind::structure && vm::is_dense(value.as_structure()) &&
      vm::dense_extents(value.as_structure()).size() == 1)
    value = value.as_structure().field(0).get();
  std::vector<terminal::PlotPoint> points;
  std::string first, last;  // keys
  bool is_plottable = value.kind() == vm::ValueKind::array;
  if (is_plottable)
    value.as_array().for_each([&](const vm::Value& key, const vm::Value& element) {
      last = vm::shown_text(vm::key_text(key));
      const auto place = static_cast<double>(points.size());
      if (points.empty()) first = last;
      if (element.kind() == vm::ValueKind::int_ || element.kind() == vm::ValueKind::int32)
        points.push_back({place, static_cast<double>(element.as_int())});
      else if (element.kind() == vm::ValueKind::float_ || element.kind() == vm::ValueKind::float32)
        points.push_back({place, element.as_float()});
      else
        is_plottable = false;
    });
  if (!is_plottable || points.empty())
    return refuse(
        fmt::format("`{}` is of type {}; :plot takes an array of numbers of one dimension", argument, variable->type));
  constexpr std::size_t most_columns = 72, most_rows = 16;
  const terminal::Size size = surroundings_.size();
  say(terminal::plot(points, /*joined=*/true, {first, last},
                     {std::min(size.columns, most_columns), std::min(size.rows, most_rows)}));
}

void Conversation::load(const std::string& path) {
  std::string text, error;
  if (!read_file(path, text, error)) return refuse(fmt::format("can not read `{}`: {}", path, error));
  session_.diagnostics = {};
  const std::uint32_t file = session_.sources.add(path, text);
  const std::optional<ExpandedText> expanded = preprocess_script(session_, file);
  if (print_findings(session_, file)) {
    has_failed_ = true;
    return;
  }
  if (const std::string folder = std::filesystem::path(path).parent_path().string(); !folder.empty())
    session_.options.include_folders.push_back(folder);  // where later entries find what it imports
  run_entry({path, expanded ? expanded->text() : text, 1}, /*waits_for_end=*/false);
}

void Conversation::save(const std::string& argument) {
  const SavedScript script = live_->script();
  const auto written =
      vm::write_whole(argument, 0666, [&script](int file) { return vm::write_all(file, script.text); });
  if (!written) return refuse(fmt::format("can not write `{}`: {}", argument, vm::error_text(written.error())));
  say(fmt::format("written to {}", argument));
  if (!script.renamed.empty())
    say_aside(fmt::format("a script gives each name once: {}", fmt::join(script.renamed, ", ")));
}

void Conversation::reset(const std::string&) {
  interrupt();
  promises_.clear();
  has_abandoned_ = is_abandoned();
  has_failed_ = has_failed();
  if (live_->is_abandoned()) static_cast<void>(live_.release());
  session_.module_files.clear();  // they may have changed
  live_ = std::make_unique<LiveSession>(session_, options_);
}

void Conversation::quit(const std::string&) { has_quit_ = true; }

}  // namespace raddle::tool::repl
