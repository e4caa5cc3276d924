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
    return sink.is_of_array() && array_there(frame.at(sink.target)) == &array;
  });
}

/// The inner loop of a nest.
struct InnerBounds {
  std::int64_t low, high, step;
  std::int64_t count() const { return range_count(low, high, step); }
};

/// @return none: they are not known yet, or none for a loop
std::optional<InnerBounds> inner_bounds(const RangeTask& range) {
  const LaunchNest& nest = range.site.nest;
  std::array<std::int64_t, 3> bounds;
  for (std::size_t i = 0; const Operand operand : {nest.low, nest.high, nest.step}) {
    const Future& bound = range.frame.at(operand);
    if (!is_there(bound)) return std::nullopt;
    bounds[i++] = static_cast<std::int64_t>(bound.peek());
  }
  if (step_fault(bounds[0], bounds[2])) return std::nullopt;
  return InnerBounds{bounds[0], bounds[1], bounds[2]};
}

/// How many points a launch has, those of all inner loops of a nest; none: that is not known yet.
std::optional<std::int64_t> count_points(const RangeTask& range) {
  if (!range.site.is_nest()) return range.end;
  const std::optional<InnerBounds> inner = inner_bounds(range);
  std::int64_t points = 0;
  if (!inner || __builtin_mul_overflow(inner->count(), range.end, &points)) return std::nullopt;
  return points;
}

/// How many elements of a sink's array the points write; none: that is not known yet.
std::optional<std::int64_t> count_numbers(const RangeTask& range, std::size_t sink) {
  const std::optional<std::int64_t> points = count_points(range);
  const Operand width = range.site.launch.sinks[sink].width;
  if (!points || width.is_absent()) return points;
  const Future& found = range.frame.at(width);
  std::int64_t numbers = 0;
  if (!is_there(found) || __builtin_mul_overflow(*points, static_cast<std::int64_t>(found.peek()), &numbers))
    return std::nullopt;
  return numbers;
}

/// The keys that the points of a launch read, or write.
struct KeyRange {
  std::int64_t first = 0, last = 0;
  std::int64_t step = 0;
  /// One of them may be one of the others.
  bool may_meet(const KeyRange& other) const {
    const auto [low, high] = std::minmax(first, last);
    const auto [other_low, other_high] = std::minmax(other.first, other.last);
    if (high < other_low || other_high < low) return false;
    return step != other.step || step == 0 || (first - other.first) % step == 0;
  }
};

/// @param key_count  0: the keys are the points
/// @param ends  of a nest; none: the range is none
/// @return none: they are not affine, or that is not known yet; of a nest the first and last one, if they go up or down
std::optional<KeyRange> key_range(const RangeTask& range, std::uint32_t first_key, std::uint32_t key_count,
                                  const std::optional<NestEnds>& ends) {
  const std::int64_t low = ends ? ends->low : range.low;
  const std::int64_t high = ends ? ends->high : range_value(range.low, range.step, range.end - 1);
  const std::int64_t step = ends ? 0 : range.step;
  if (range.kind != RangeTask::Kind::ints || key_count > 1) return std::nullopt;
  if (key_count == 0) return KeyRange{low, high, step};
  const LaunchKey& key = range.site.launch.keys[first_key];
  if (!key.is_affine() || (key.base.value != no_id && !ends)) return std::nullopt;
  __int128 first = key.offset, last = key.offset;
  if (key.base.value != no_id) {
    first += ends->first[key.base.value];
    last += ends->last[key.base.value];
  } else if (!key.base.operand.is_absent()) {
    const Future& variable = range.frame.at(key.base.operand);
    if (!is_there(variable)) return std::nullopt;
    first += static_cast<std::int64_t>(variable.peek());
    last += static_cast<std::int64_t>(variable.peek());
  }
  first += static_cast<__int128>(key.stride) * low;
  last += static_cast<__int128>(key.stride) * high;
  // element keys are far below; what is there can be subtracted
  constexpr __int128 limit = std::int64_t{1} << 62;
  if (first < 0 || last < 0 || first > limit || last > limit) return std::nullopt;
  return KeyRange{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last), key.stride * step};
}

/// Of a launch that reads elements which it does not write, as in `v[0, :] = v[1, :]`: the last one of them. Its points
/// would wait for them one by one.
/// @return null: it is there, or it can not be told which one that is
Future* last_of_others(const RangeTask& range, const LaunchRead& read, Array& array,
                       const std::optional<NestEnds>& ends) {
  const IndexLaunch& launch = range.site.launch;
  if (launch.start == LaunchStart::at_elements || (range.site.is_nest() && !ends) || range.end == 0) return nullptr;
  const std::optional<KeyRange> keys = key_range(range, read.first_key, read.key_count, ends);
  if (!keys) return nullptr;
  for (const LaunchSink& sink : launch.sinks) {
    if (!sink.is_of_array() || array_there(range.frame.at(sink.target)) != &array) continue;
    const std::optional<KeyRange> written = key_range(range, sink.first_key, sink.key_count, ends);
    if (!written || !sink.row_keys.empty() || keys->may_meet(*written)) return nullptr;
  }
  Future* const last = array.element(Value::of(std::max(keys->first, keys->last)));
  return last && !last->is_resolved() ? last : nullptr;
}

/// What there is of the inputs of a launch.
struct Inputs {
  const LaunchStart start;
  Future* awaited = nullptr;  ///< to be looked at again once it is resolved; before that nothing is promised
  Future* closing = nullptr;  ///< of a promised array
  bool is_complete = true;    ///< all is there, or promised
  void await(Future& future) {
    if (!awaited) awaited = &future;
  }
  /// @param is_whole  points may read any element, so none is launched before all are there
  void add(Array& array, bool is_whole) {
    if (array.is_closed()) {
      is_complete = is_complete && array.is_complete();
    } else if (Future* const announced = array.announced()) {
      await(*announced);
    } else if (array.is_promised()) {
      if (!closing) closing = &array.closed();
    } else if (start == LaunchStart::at_arrays || (is_whole && !array.extents().empty())) {
      await(array.closed());
    } else {
      is_complete = false;
    }
  }
};

Inputs look_at_inputs(const RangeTask& range, const Program& program, const std::optional<NestEnds>& ends) {
  const IndexLaunch& launch = range.site.launch;
  Inputs inputs{.start = launch.start};
  const auto add_variable = [&](Future& variable, bool is_needed) {
    if (!variable.is_resolved() && is_needed) inputs.await(variable);
    if (!is_there(variable)) inputs.is_complete = false;
  };
  const auto add_capture = [&](Operand capture, KernelType type, bool is_needed) {
    Future& variable = range.frame.at(capture);
    if (Array* const array = array_there(variable); array && is_array(type)) {
      if (!is_sink(launch, range.frame, *array)) inputs.add(*array, /*is_whole=*/true);
      if (array->is_closed() && missing_part(variable, type)) inputs.is_complete = false;
    } else {
      add_variable(variable, is_needed);
    }
  };
  // captures are the last parameters of whoever takes them
  const auto add_captures = [&](FunctionId leaf, const auto& captures, const auto& add) {
    if (leaf == no_id) return;
    const std::vector<KernelType>& parameters = program.functions[leaf].leaf_parameters;
    for (std::size_t i = 0; i < captures.size(); ++i)
      add(captures[i], parameters[parameters.size() - captures.size() + i]);
  };
  add_captures(launch.leaf, launch.captures, [&](const LaunchInput& each, KernelType type) {
    if (each.value == no_id) add_capture(each.operand, type, each.is_needed);
  });
  for (const LaunchRead& read : launch.reads) {
    Future& variable = range.frame.at(read.array);
    Array* const array = array_there(variable);
    if (!array) {
      add_variable(variable, true);
      continue;
    }
    const bool is_own = is_sink(launch, range.frame, *array);  // others come from points of its own
    if (!is_own) inputs.add(*array, /*is_whole=*/false);
    if (!is_own && (launch.start != LaunchStart::at_last || array->is_closed())) continue;
    if (Future* const last = last_of_others(range, read, *array, ends)) inputs.await(*last);
  }
  for (const LaunchSink& sink : launch.sinks) {
    add_variable(range.frame.at(sink.target), true);
    for (const Operand number : {sink.width, sink.row.base.operand})
      if (!number.is_absent()) add_variable(range.frame.at(number), true);
  }
  add_captures(launch.projection, launch.projected, [&](const LaunchInput& each, KernelType type) {
    if (each.value == no_id) add_capture(each.operand, type, true);
  });
  for (const LaunchKey& key : launch.keys)
    if (!key.base.operand.is_absent()) add_variable(range.frame.at(key.base.operand), true);
  if (range.site.is_nest())
    add_captures(range.site.nest.prelude, range.site.nest.captures,
                 [&](Operand each, KernelType type) { add_capture(each, type, true); });
  return inputs;
}

}  // namespace

/// Of a nest that begins when the last elements are there that it reads. @return none: it is none, or not known yet
std::optional<NestEnds> Launcher::nest_ends(const RangeTask& range) {
  const ForeachSite& site = range.site;
  if (!site.is_nest() || site.launch.start != LaunchStart::at_last || range.end == 0) return std::nullopt;
  const std::optional<InnerBounds> inner = inner_bounds(range);
  if (!inner || inner->count() == 0) return std::nullopt;
  NestEnds ends;
  ends.low = inner->low;
  ends.high = range_value(inner->low, inner->step, inner->count() - 1);
  const std::int64_t last = range_value(range.low, range.step, range.end - 1);
  if (!run_prelude(range.frame, site, range.low, ends.first.data()) ||
      !run_prelude(range.frame, site, last, ends.last.data()))
    return std::nullopt;
  return ends;
}

/// Before a launch begins, which then promises what it can. @return what it is to wait for first; null: nothing
Future* Launcher::awaited_input(RangeTask& range, bool is_forced) {
  const ForeachSite& site = range.site;
  if (site.launch.leaf == no_id) return nullptr;
  const Inputs inputs = look_at_inputs(range, program_, nest_ends(range));
  const bool waits = inputs.awaited && !is_forced;
  for (std::size_t i = 0; i < site.launch.sinks.size() && !site.is_in_nest && !range.has_promised; ++i) {
    const LaunchSink& sink = site.launch.sinks[i];
    Array* const array = sink.is_of_array() ? array_there(range.frame.at(sink.target)) : nullptr;
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
  const std::optional<std::int64_t> numbers = is_possible && expected ? count_numbers(range, sink) : std::nullopt;
  if (numbers)
    array.promise_part(static_cast<std::size_t>(*numbers), can_promise(range, sink), here_.wakes());
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
