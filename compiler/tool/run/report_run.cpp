#include "compiler/tool/run/report_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "compiler/codegen/load_plugin.hpp"
#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/tool/executable/script_place.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t most_calls = 8;  // of a chain of calls; a recursion shows its innermost ones
constexpr std::size_t most_steps = 5;  // of a cycle

void add_calls(const SourceMap& sources, Diagnostic& diagnostic, const std::vector<vm::Place>& calls) {
  for (std::size_t i = 0; i < calls.size() && i < most_calls; ++i)
    diagnostic.calls.push_back(sources.describe(span_of(calls[i])));
  if (calls.size() > most_calls)
    diagnostic.remark(fmt::format("and {}{} more calls around it",
                                  calls.size() < vm::call_chain_limit ? "" : "at least ", calls.size() - most_calls));
}

/// The loops are those of the script: what the library repeats is its own affair. "": there is none.
std::string text_of(const SourceMap& sources, const std::vector<vm::FailedIteration>& iterations) {
  std::string text;
  bool is_in_element = false;
  for (const vm::FailedIteration& each : iterations) {
    if (sources.at(each.loop.file).is_of_library()) continue;
    const bool is_element = each.variable.empty();
    if (is_in_element && !is_element) text += "]";
    if (!text.empty()) text += ", ";
    if (is_element && !is_in_element) text += "element [";
    text += is_element ? each.text : fmt::format("{} = {}", each.variable, each.text);
    is_in_element = is_element;
  }
  return is_in_element ? text + "]" : text;
}

void add_other_call(const SourceMap& sources, Diagnostic& diagnostic, const vm::RunFailure& failure) {
  const vm::CallPlace& other = *failure.notes.other_call;
  if (other.place != failure.place) diagnostic.label(span_of(other.place), "written here, too");
  if (other == vm::CallPlace{failure.place, failure.calls})
    return static_cast<void>(diagnostic.remark("the other call is the same one, in another iteration"));
  if (other.calls.empty()) return;
  std::vector<std::string> places;
  for (const vm::Place& call : other.calls | std::views::take(most_calls))
    places.push_back(sources.describe(span_of(call)));
  diagnostic.remark(fmt::format("the other one is called at {}", fmt::join(places, ", ")));
}

/// Without what tells it from others of that name.
std::string name_in_script(const std::string& function) { return "`" + function.substr(0, function.find('.')) + "`"; }

void report_failure(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunFailure& failure,
                    DiagnosticKind kind) {
  const vm::CallPlace at = place_in_script(sources, failure.place, failure.calls);
  Diagnostic& diagnostic = diagnostics.report(kind, span_of(at.place), failure.message);
  if (const std::string where = text_of(sources, failure.notes.iterations); !where.empty())
    diagnostic.remark("at " + where);
  for (const std::string& detail : failure.notes.details) diagnostic.remark(detail);
  add_calls(sources, diagnostic, at.calls);
  if (failure.notes.also_assigned_at) diagnostic.label(span_of(*failure.notes.also_assigned_at), "assigned here, too");
  if (failure.notes.other_call) add_other_call(sources, diagnostic, failure);
  if (!failure.notes.help.empty()) diagnostic.note(failure.notes.help);
  if (failure.count > 1) diagnostic.remark(fmt::format("{} times in this run", failure.count));
}

/// What stands in the place of a call is told with the call, and with those around it.
void add_inlined_calls(const SourceMap& sources, Diagnostic& diagnostic, vm::Place place) {
  while (place.file >= SourceMap::first_inlined) {
    const Span call = sources.inlined()[place.file - SourceMap::first_inlined].call;
    place = {call.file, call.begin, call.end};
    diagnostic.label(call, "in this call");
  }
}

std::string text_of(const vm::StuckVariable& variable) {
  if (variable.element_count > 1)
    return fmt::format("each of {} elements of `{}`", variable.element_count, variable.name);
  if (variable.element_count == 1) return "`" + variable.element + "`";
  return variable.name.empty() ? "the result" : "`" + variable.name + "`";
}

void report_cycle(const SourceMap& sources, Diagnostics& diagnostics, const vm::StuckVariable& variable) {
  const std::vector<vm::CycleStep>& cycle = variable.cycle;
  const auto after = [&](std::size_t i) -> const std::string& { return cycle[(i + 1) % cycle.size()].name; };
  std::string needs;
  if (cycle.size() == 1 && cycle[0].is_unclosed)
    needs = "is filled by what waits for " + (cycle[0].inside.empty() ? "all of it" : "`" + cycle[0].inside + "`");
  else if (cycle.size() == 1)
    needs = "is computed from itself";
  for (std::size_t i = 0; cycle.size() > 1 && i < cycle.size(); ++i) {
    if (i == most_steps && cycle.size() > most_steps + 1) {
      needs += fmt::format(", and so on through {} more, back to `{}`", cycle.size() - 1 - i, variable.name);
      break;
    }
    needs += fmt::format("{}needs `{}`", i == 0 ? "" : ", which ", after(i));
  }
  Diagnostic& diagnostic =
      diagnostics.report(DiagnosticKind::deadlock, span_of(variable.declared), variable.name, needs);
  std::set<vm::Place> told;
  add_inlined_calls(sources, diagnostic, variable.declared);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (!told.insert(cycle[i].place).second) continue;  // the same statement in another iteration
    diagnostic.label(span_of(cycle[i].place), cycle.size() == 1
                                                  ? "waits for it here"
                                                  : fmt::format("`{}` waits for `{}` here", cycle[i].name, after(i)));
  }
  if (cycle.size() == 1 && cycle[0].is_unclosed && cycle[0].inside.empty())
    diagnostic.note(
        "it is complete when nothing can be added any more, by later iterations neither: what is needed before goes "
        "into "
        "a variable of its own, as an array that is declared in the loop and assigned whole, `F[g] = row;`, or is "
        "carried "
        "from one iteration of a `for` to the next");
  if (variable.cycle_count > 1)
    diagnostic.remark(fmt::format("{} more of the kind, in other iterations", variable.cycle_count - 1));
}

void report_stuck(const SourceMap& sources, Diagnostics& diagnostics, const vm::StuckVariable& variable) {
  if (!variable.cycle.empty()) return report_cycle(sources, diagnostics, variable);
  const std::string name = text_of(variable);
  const DiagnosticKind kind = variable.is_unclosed ? DiagnosticKind::never_closed : DiagnosticKind::never_set;
  Diagnostic& diagnostic = diagnostics.report(kind, span_of(variable.declared), name);
  const bool waits_for_itself = std::ranges::find(variable.awaited, variable.declared) != variable.awaited.end();
  // what has no name is a value: of another iteration, as those of small arrays are
  const bool waits_for_extents = waits_for_itself && !variable.name.empty();
  const char* const itself =
      waits_for_extents ? "waits for its extents" : "waits for its own value in another iteration";
  for (const vm::Place& awaited : variable.awaited)
    diagnostic.label(span_of(awaited), awaited == variable.declared ? itself : "waits for it");
  add_inlined_calls(sources, diagnostic, variable.declared);
  if (waits_for_extents)
    diagnostic.note(
        "extents that come from each other are never there: one of the arrays has to be declared with "
        "its own, as in `float a[n];`");
  add_calls(sources, diagnostic, variable.calls);
  for (const vm::GuardedAssignment& skipped : variable.skipped) {
    diagnostic.label(span_of(skipped.assignment), "is not reached");
    diagnostic.remark(fmt::format("it is assigned at {}, inside the statement at {}, which did not get there",
                                  sources.describe(span_of(skipped.assignment)),
                                  sources.describe(span_of(skipped.guard))));
  }
}

}  // namespace

void add_findings(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunResult& result) {
  for (const vm::RunFailure& failure : result.failures)
    report_failure(sources, diagnostics, failure, DiagnosticKind::run_time);
  for (const vm::StuckVariable& variable : result.stuck) report_stuck(sources, diagnostics, variable);
}

void add_replaced(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunResult& result) {
  for (const vm::RunFailure& failure : result.replaced)
    report_failure(sources, diagnostics, failure, DiagnosticKind::replaced_failure);
}

/// What GPUs tell only when they are given the code.
static void add_stayed(const SourceMap& sources, Diagnostics& diagnostics, const vm::RunResult& result) {
  for (const vm::DeviceObstacle& obstacle : result.device_obstacles)
    if (obstacle.is_placed)
      diagnostics.report(
          DiagnosticKind::not_for_gpus, span_of(obstacle.place.place),
          (obstacle.part == vm::DevicePart::loop ? "this loop" : name_in_script(obstacle.function)) +
              " stays on the CPU: " + text_of_obstacle(sources, obstacle.why, obstacle.place).with_place());
}

int report_run(Session& session, const vm::RunResult& result, int signal) {
  add_replaced(session.sources, session.diagnostics, result);
  add_stayed(session.sources, session.diagnostics, result);
  add_findings(session.sources, session.diagnostics, result);
  session.print_diagnostics();
  if (result.failures_left_out != 0)
    vm::print_stderr("raddle: {} more {} not shown: {} others are\n", result.failures_left_out,
                     result.failures_left_out == 1 ? "error is" : "errors are", result.failures.size());
  if (!result.stuck.empty())
    vm::print_stderr("raddle: nothing is left to run, and {} {} still awaited\n", result.stuck.size(),
                     result.stuck.size() == 1 ? "variable is" : "variables are");
  switch (result.status) {
    case vm::RunStatus::ok: return exit_ok;
    case vm::RunStatus::failed: return exit_failed;
    case vm::RunStatus::stuck: return exit_stuck;
    case vm::RunStatus::cancelled: return signal == SIGINT ? exit_interrupted : exit_ended_early;
  }
  return exit_internal;
}

namespace {

/// Of all devices, those with nothing to do, too.
void print_prediction(const vm::RunPrediction& predicted, bool is_through) {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  for (std::size_t i = 0; i < predicted.devices.size(); ++i) {
    const vm::DevicePrediction& times = predicted.devices[i];
    const std::string between = times.copies_between_ns == 0
                                    ? ""
                                    : fmt::format(", from other devices {:.6f} s", seconds(times.copies_between_ns));
    vm::print_stderr(
        "predicted by a model, device {}: copies there {:.6f} s{}, {} launches {:.6f} s, copies back {:.6f} s\n", i,
        seconds(times.copies_up_ns), between, times.launches, seconds(times.computing_ns),
        seconds(times.copies_down_ns));
  }
  if (is_through)
    vm::print_stderr("predicted by a model, the run: {:.6f} s, with the workers as fast as they were here\n",
                     seconds(predicted.run_ns));
  else
    vm::print_stderr("predicted by a model, the run: nothing, as it was ended before it was through\n");
}

/// A line for each loop and each function, with all that has come from one text of the script.
void print_shares(const SourceMap& sources, const std::vector<vm::DeviceShare>& shares) {
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> lines;  // what, and how much of it by device
  for (const vm::DeviceShare& share : shares) {
    const bool is_loop = share.part == vm::DevicePart::loop;
    std::string function = share.function.substr(0, share.function.find('.'));
    const bool is_hidden = sources.at(share.place.place.file).is_of_library() && function.ends_with('_');
    if (is_hidden && share.part == vm::DevicePart::app_kernel) function.pop_back();  // the user's function is around it
    const vm::Place place = place_in_script(sources, share.place.place, share.place.calls).place;
    const std::string what = is_loop ? "points of the loop at " + sources.describe(span_of(place))
                             : is_hidden && share.part == vm::DevicePart::function
                                 ? "calls of parts of the library"
                                 : "calls of " + name_in_script(function);
    auto line = std::ranges::find(lines, what, [](const auto& each) { return each.first; });
    if (line == lines.end()) line = lines.insert(line, {what, {}});
    for (unsigned device = 0; device < share.computed.size(); ++device)
      vm::add_computed(line->second, device, static_cast<std::int64_t>(share.computed[device]));
  }
  for (const auto& [what, by_device] : lines) {
    std::string text;
    for (std::size_t i = 0; i < by_device.size(); ++i)
      if (by_device[i] != 0) text += fmt::format("{}{} by device {}", text.empty() ? " " : ", ", by_device[i], i);
    if (!text.empty()) vm::print_stderr("{}:{}\n", what, text);
  }
}

/// What is read at a place: a variable's name.
std::string text_at(const SourceMap& sources, const vm::Place& place) {
  constexpr std::size_t longest = 40;
  const std::string_view text = sources.at(place.file).text();
  const std::string_view here = text.substr(place.begin, std::min<std::size_t>(longest, place.end - place.begin));
  return std::string(here.substr(0, here.find('\n')));
}

/// A line for each variable whose arrays had to come or go. @param where  they came to
void print_arrays(const SourceMap& sources, const vm::ArrayTraffics& arrays, std::string_view where) {
  for (const vm::ArrayTraffic& each : arrays.all()) {
    if (each.loads == 0 && each.write_backs == 0 && each.evictions == 0) continue;
    const std::string what =
        each.array.end == 0 ? "arrays without a name"
                            : fmt::format("array `{}` at {}", text_at(sources, each.array),
                                          sources.describe(span_of(place_in_script(sources, each.array, {}).place)));
    vm::print_stderr("{}, {}: {} loads of {} bytes, {} write-backs of {} bytes, {} evictions\n", what, where,
                     each.loads, each.bytes_loaded, each.write_backs, each.bytes_written, each.evictions);
  }
}

/// What stays, without and with others that stay for the same reason.
std::string_view text_of(vm::DevicePart part) {
  switch (part) {
    case vm::DevicePart::loop: return " as a whole, loop at ";
    case vm::DevicePart::app_kernel: return ", AppKernel at ";
    case vm::DevicePart::function: return ", single calls of ";
  }
  return "";
}

/// Unless it has it.
void add_to_list(std::string& list, const std::string& what) {
  if (list.empty())
    list = what;
  else if (!(", " + list + ",").contains(", " + what + ","))
    list += ", " + what;
}

/// Each reason once, with all that has it, and where it is.
void print_obstacles(const SourceMap& sources, const std::vector<vm::DeviceObstacle>& obstacles) {
  struct Line {
    vm::DevicePart part{};
    std::string stays;
    ObstacleText why;  ///< with all its places
  };
  std::vector<Line> lines;
  for (const vm::DeviceObstacle& obstacle : obstacles) {
    const vm::Place place = place_in_script(sources, obstacle.place.place, obstacle.place.calls).place;
    const std::string what = obstacle.part == vm::DevicePart::function ? name_in_script(obstacle.function)
                                                                       : sources.describe(span_of(place));
    const ObstacleText why = text_of_obstacle(sources, obstacle.why, obstacle.place);
    auto line = std::ranges::find_if(
        lines, [&](const Line& each) { return each.why.text == why.text && each.part == obstacle.part; });
    if (line == lines.end()) line = lines.insert(lines.end(), {obstacle.part, "", {why.text, ""}});
    add_to_list(line->stays, what);
    if (!why.place.empty()) add_to_list(line->why.place, why.place);
  }
  for (const Line& line : lines)
    vm::print_stderr("not on devices{}{}: {}\n", text_of(line.part), line.stays, line.why.with_place());
}

}  // namespace

std::vector<vm::DeviceObstacle> obstacles_of_single_calls(const SourceMap& sources, const vm::Program& program) {
  std::vector<vm::DeviceObstacle> all;
  std::set<vm::FunctionId> told;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const vm::Instruction& instruction = program.instructions[i];
    if (vm::form_of(instruction.opcode) != vm::InstructionForm::call) continue;
    const vm::FunctionId called = program.calls[instruction.d].function;
    const vm::Function& function = program.functions[called];
    const vm::Place place = program.places[i];
    const bool is_of_script =
        place.file < vm::Program::first_inlined_text && !sources.at(place.file).is_of_library() && place.end != 0;
    if (!is_of_script || function.is_outlined || !vm::takes_long(program, called) || !told.insert(called).second)
      continue;
    if (vm::Obstacle why = vm::obstacle_of(program, called); !why.empty())
      all.push_back(
          {.place = {place, {}}, .why = std::move(why), .part = vm::DevicePart::function, .function = function.name});
  }
  return all;
}

void print_statistics(const SourceMap& sources, const vm::RunResult& result, const codegen::LeafCounters& leaves,
                      vm::Devices* devices, const std::vector<vm::DeviceObstacle>& obstacles) {
  const vm::RunCounters& run = result.counters;
#define RADDLE_COUNTER(name, value, meaning) \
  if (value != 0) vm::print_stderr("{} {}\n", name, value);
#include "compiler/tool/run/counters.def"
  if (codegen::Plugin().identity().empty())
    vm::print_stderr("no machine code: there is no libraddle_codegen.so, see `raddle doctor`\n");
  for (std::size_t i = 0; i < result.device_uses.size(); ++i) {
    const vm::DeviceUse& use = result.device_uses[i];
    vm::print_stderr("points on device {}, {} {} in {} batches\n", i, use.name, use.points, use.batches);
    if (use.calls != 0) vm::print_stderr("calls on device {}, {} {}\n", i, use.name, use.calls);
    vm::print_stderr("bytes to device {}, {} {}, from it {}, there already {}, evictions {}\n", i, use.name,
                     use.traffic.bytes_up, use.traffic.bytes_down, use.traffic.bytes_kept, use.traffic.evictions);
    if (use.traffic.most_held != 0)
      vm::print_stderr("bytes on device {}, {}, at most {}\n", i, use.name, use.traffic.most_held);
    if (use.traffic.bytes_between != 0)
      vm::print_stderr("bytes to device {}, {}, from other devices {}\n", i, use.name, use.traffic.bytes_between);
    if (use.traffic.bytes_ahead != 0)
      vm::print_stderr("bytes to device {}, {}, ahead of the calls that read them {}\n", i, use.name,
                       use.traffic.bytes_ahead);
  }
  print_shares(sources, result.device_shares);
  vm::ArrayTraffics arrays;
  for (const vm::DeviceUse& use : result.device_uses) arrays += use.traffic.arrays;
  print_arrays(sources, arrays, "on devices");
  print_arrays(sources, result.arrays_in_memory, "in memory, by the MiB");
  if (!devices || devices->facts().empty()) return;
  if (const auto prediction = devices->prediction())
    print_prediction(*prediction, result.status != vm::RunStatus::cancelled);
  print_obstacles(sources, obstacles);
  const auto had_nothing = [](const vm::DeviceUse& use) { return use.points == 0 && use.calls == 0; };
  if (std::ranges::all_of(result.device_uses, had_nothing))
    vm::print_stderr(
        "not on devices: what else could go there was not worth while, or there was none; `:whole` behind `--gpus all` "
        "or "
        "`--gpus simulated` gives them all that they can run\n");
}

/// Of text of the library that stands in the place of a call: the call.
static Span span_in_script(const SourceMap& sources, Span span) {
  while (span.file >= SourceMap::first_inlined && sources.at(span.file).is_of_library())
    span = sources.inlined()[span.file - SourceMap::first_inlined].call;
  return span;
}

/// Each once: functions may stand in the places of several calls.
void print_interpreted_loops(const SourceMap& sources, const ir::Module& module) {
  std::set<std::string> told;
  for (const ir::Function& function : module.functions)
    for (const ir::Function::NotLaunched& each : function.not_launched) {
      if (sources.at(each.loop.file).is_of_library()) continue;
      std::string line =
          fmt::format("loop at {}, interpreted: {} can be no part of a kernel: {}\n", sources.describe(each.loop),
                      sources.describe(span_in_script(sources, each.obstacle)), each.why);
      if (told.insert(line).second) vm::print_stderr("{}", line);
    }
}

}  // namespace raddle::tool
