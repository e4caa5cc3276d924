// What a launch waits for before it begins, and what it promises then: see Note [Promises] in value/array.hpp.
#include <algorithm>
#include <array>
#include <optional>

#include "vm/interpret/run_state.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/launch/launched_leaf.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

/// Its points are 0 to n - 1, and so many that a buffer is worth it: fewer elements are read as fast where they are.
bool fills_from_0(const RangeTask& range) {
  constexpr std::int64_t least_count = 64;
  if (range.end < least_count) return false;
  if (range.kind == RangeTask::Kind::elements) return range.order->is_dense;
  return range.kind == RangeTask::Kind::ints && range.low == 0 && range.step == 1;
}

bool is_there(const Future& variable) { return variable.is_resolved() && !variable.is_failed(); }

Array* array_there(Future& variable) {
  return is_there(variable) && variable.kind() == ValueKind::array ? &object_in<Array>(variable) : nullptr;
}

bool is_sink(const IndexLaunch& launch, Frame& frame, const Array& array) {
  return std::ranges::any_of(launch.sinks, [&](const LaunchSink& sink) {
    return sink.kind == LaunchSink::Kind::element && array_there(frame.at(sink.target)) == &array;
  });
}

/// How many points a launch has, those of all inner loops of a nest; none: that is not known yet.
std::optional<std::int64_t> count_points(const RangeTask& range) {
  if (!range.site.is_nest()) return range.end;
  const LaunchNest& nest = range.site.nest;
  std::array<std::int64_t, 3> bounds;
  for (std::size_t i = 0; const Operand operand : {nest.low, nest.high, nest.step}) {
    const Future& bound = range.frame.at(operand);
    if (!is_there(bound)) return std::nullopt;
    bounds[i++] = static_cast<std::int64_t>(bound.peek());
  }
  std::int64_t points = 0;
  if (step_fault(bounds[0], bounds[2]) ||
      __builtin_mul_overflow(range_count(bounds[0], bounds[1], bounds[2]), range.end, &points))
    return std::nullopt;
  return points;
}

/// What there is of the inputs of a launch.
struct Inputs {
  const bool is_whole;        ///< the launch waits for whole arrays
  Future* awaited = nullptr;  ///< to be looked at again once it is resolved; before that nothing is promised
  Future* closing = nullptr;  ///< of a promised array
  bool is_complete = true;    ///< all is there, or promised
  void await(Future& future) {
    if (!awaited) awaited = &future;
  }
  void add(Array& array) {
    if (array.is_closed()) {
      is_complete = is_complete && array.is_complete();
    } else if (Future* const announced = array.announced()) {
      await(*announced);
    } else if (array.is_promised()) {
      if (!closing) closing = &array.closed();
    } else if (is_whole) {
      await(array.closed());
    } else {
      is_complete = false;
    }
  }
};

Inputs look_at_inputs(const RangeTask& range, const std::vector<KernelType>& parameters) {
  const IndexLaunch& launch = range.site.launch;
  Inputs inputs{.is_whole = range.site.is_whole};
  const auto add_variable = [&](Future& variable, bool is_needed) {
    if (!variable.is_resolved() && is_needed) inputs.await(variable);
    if (!is_there(variable)) inputs.is_complete = false;
  };
  const std::size_t first_capture = parameters.size() - launch.captures.size();
  for (std::size_t i = 0; i < launch.captures.size(); ++i) {
    if (launch.captures[i].value != no_id) continue;
    Future& variable = range.frame.at(launch.captures[i].operand);
    if (Array* const array = array_there(variable); array && is_array(parameters[first_capture + i])) {
      if (!is_sink(launch, range.frame, *array)) inputs.add(*array);
      if (array->is_closed() && missing_part(variable, parameters[first_capture + i])) inputs.is_complete = false;
    } else {
      add_variable(variable, launch.captures[i].is_needed);
    }
  }
  for (const LaunchRead& read : launch.reads) {
    Future& variable = range.frame.at(read.array);
    Array* const array = array_there(variable);
    if (!array) {
      add_variable(variable, true);
    } else if (!is_sink(launch, range.frame, *array)) {  // its own elements come from other points
      inputs.add(*array);
    }
  }
  for (const LaunchSink& sink : launch.sinks) add_variable(range.frame.at(sink.target), true);
  for (const LaunchInput& each : launch.projected)
    if (each.value == no_id) add_variable(range.frame.at(each.operand), true);
  for (const LaunchKey& key : launch.keys)
    if (!key.base.operand.is_absent()) add_variable(range.frame.at(key.base.operand), true);
  for (const Operand capture : range.site.nest.captures) add_variable(range.frame.at(capture), true);
  return inputs;
}

}  // namespace

/// Before a launch begins, which then promises what it can. @return what it is to wait for first; null: nothing
Future* Launcher::awaited_input(RangeTask& range, bool is_forced) {
  const ForeachSite& site = range.site;
  if (site.launch.leaf == no_id) return nullptr;
  const Inputs inputs = look_at_inputs(range, program_.functions[site.launch.leaf].leaf_parameters);
  const bool waits = inputs.awaited && !is_forced;
  for (std::size_t i = 0; i < site.launch.sinks.size() && !site.is_in_nest && !range.has_promised; ++i) {
    const LaunchSink& sink = site.launch.sinks[i];
    Array* const array = sink.kind == LaunchSink::Kind::element ? array_there(range.frame.at(sink.target)) : nullptr;
    if (!array) continue;
    if (waits) {
      if (can_promise(range, i)) array->announce_numbers();
    } else {
      promise(range, i, *array, inputs.is_complete && !inputs.awaited);
    }
  }
  range.has_promised = !waits;
  if (is_forced) return nullptr;
  return inputs.awaited ? inputs.awaited : inputs.closing;
}

/// Promises what a launch writes to a sink's array, or settles that nothing is promised.
/// @param is_possible  all that it needs is there or promised
void Launcher::promise(const RangeTask& range, std::size_t sink, Array& array, bool is_possible) {
  const OpenNumbers* const expected = array.numbers();
  if (is_possible && !expected && can_promise(range, sink))
    array.promise_numbers(kind_of(result_type(range.site.launch, sink)), static_cast<std::size_t>(range.end));
  const std::optional<std::int64_t> points = is_possible && expected ? count_points(range) : std::nullopt;
  if (points)
    array.promise_part(static_cast<std::size_t>(*points), can_promise(range, sink), here_.wakes());
  else
    array.settle_announced(here_.wakes());
  here_.wake();
}

/// All elements of the sink's array are results of the launch, as far as can be seen from it.
bool Launcher::can_promise(const RangeTask& range, std::size_t sink) const {
  const std::vector<LaunchSink>& sinks = range.site.launch.sinks;
  return !range.site.launch.is_projected() && !range.site.is_nest() && fills_from_0(range) &&
         sinks[sink].kind == LaunchSink::Kind::element && sinks[sink].row_keys.empty() &&
         std::ranges::count(sinks, sinks[sink].target, &LaunchSink::target) == 1;
}

}  // namespace raddle::vm
