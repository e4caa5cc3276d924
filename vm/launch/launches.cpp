// Index launches: iterations of a `foreach` run many at a time, by machine code or, until there is some, in registers
// with a lane for each point. Whatever stands in the way (a capture that is not there, an iteration that fails) is no
// concern here: then iterations are interpreted.
#include <algorithm>
#include <limits>

#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/launch/launched_leaf.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

Launcher::Launcher(RunWorker& here)
    : WorkerService(here), scalar_machine_(here.kernels().scalar_machine()), lane_machine_(run_.program) {}

std::optional<std::int64_t> Launcher::run_launch(const RangeTask& piece, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  const raddle_leaf_function code = launched_code(launch.leaf, calls_of(launch, count));
  const Function& launched = program_.functions[launch.leaf];
  constexpr std::int64_t worth_lanes = 8;  // a vector: fewer long calls are better made one by one
  const bool has_lanes = launched.lane_code.exists() && (!launched.is_heavy || count >= worth_lanes);
  if (!code && (!has_lanes || worker_->queues_all() || worker_->perturbation().one_in(4))) return std::nullopt;
  SinkArrays arrays;
  LaunchedLeaf leaf(launched, code, 0);
  if (piece.kind == RangeTask::Kind::elements && !piece.order->is_dense) return std::nullopt;
  if (!has_sinks(piece.frame, launch) || !leaf.bind(piece.frame, launch.captures) ||
      !find_sinks(piece.frame, piece.site, nullptr, nullptr, arrays) || !takes_rows(launch, arrays, piece.step))
    return std::nullopt;
  if (BoundedMemory::get()) use_captures(piece.frame, launch.captures, count);
  launch_chunks_.clear();
  launch_reductions_.resize(launch.sinks.size());
  if (!code) lane_machine_.prepare(launch.leaf, leaf.arguments(0));
  const std::int64_t done =
      run_parts(piece, leaf, arrays, nullptr, range_value(piece.low, piece.step, first), piece.step, count);
  finish_parts(arrays);
  return done;
}

/// Captured arrays are about to be read by so many points. For a few it is not worth while that whole arrays come.
void Launcher::use_captures(Frame& frame, const std::vector<LaunchInput>& captures, std::int64_t points) {
  constexpr std::size_t least_share = 16;
  for (const LaunchInput& capture : captures) {
    if (capture.value != no_id) continue;
    const Future& variable = frame.at(capture.operand);
    if (variable.kind() != ValueKind::array) continue;
    const Array& array = object_in<Array>(variable);
    if (array.size() <= static_cast<std::size_t>(points) * least_share) array.use_packed();
  }
}

/// Points whose results go to the same arrays, in parts that end where chunks of numbers do: a whole one goes into its
/// array as it is.
/// @param values  of a nest: results of the prelude
/// @param first  the value of the first one  @return how many it has made
std::int64_t Launcher::run_parts(const RangeTask& piece, LaunchedLeaf& leaf, const SinkArrays& arrays,
                                 const std::int64_t* values, std::int64_t first, std::int64_t step,
                                 std::int64_t count) {
  const std::span targets(arrays.data(), piece.site.launch.sinks.size());
  const bool is_direct =
      leaf.code && std::ranges::all_of(targets, [&](const Array* array) { return takes_numbers(array, step); });
  leaf.stores_past_cache = is_direct && exceed_cache(targets);
  std::int64_t done = 0;
  while (done < count) {
    const std::int64_t key = range_value(first, step, done);
    const std::int64_t part =
        is_direct ? std::min(count - done, most_at_once()) : std::min(count - done, to_boundary(key, step));
    const std::int64_t made = run_part(piece, leaf, arrays, values, key, step, part);
    done += made;
    if (made < part) break;
  }
  return done;
}

/// Elements of these arrays are out of the cache before anything can read them. (A share of a large cache is not much
/// larger than this, even if a processor has more of it.)
bool Launcher::exceed_cache(std::span<Array* const> arrays) {
  constexpr std::size_t limit = 32 << 20;
  std::size_t bytes = 0;
  for (const Array* const array : arrays)
    if (const OpenNumbers* const open = array ? array->numbers() : nullptr)
      bytes += open->count() * size_of_number(open->kind());
  return bytes > limit;
}

/// Points of a part whose results go straight into arrays: where memory has a limit, what it writes is given up after
/// it, piece by piece.
std::int64_t Launcher::most_at_once() {
  return BoundedMemory::get() ? static_cast<std::int64_t>(BoundedMemory::piece_bytes / sizeof(double))
                              : std::numeric_limits<std::int64_t>::max();
}

/// Parts are cut where chunks of numbers begin: a whole one goes into its array as it is.
std::int64_t Launcher::to_boundary(std::int64_t key, std::int64_t step) {
  return NumberChunk::size - (step == 1 && key > 0 ? key % NumberChunk::size : 0);
}

/// After the last call of write_part() for these arrays.
void Launcher::finish_parts(const SinkArrays& arrays) {
  for (std::size_t i = 0; i < launch_reductions_.size(); ++i) {
    if (launch_reductions_[i].count == 0) continue;
    arrays[i]->insert_reduced(launch_reductions_[i]);
    launch_reductions_[i] = {};
  }
  launch_chunks_.clear();
}

/// Rows are written in place.
bool Launcher::takes_rows(const IndexLaunch& launch, const SinkArrays& arrays, std::int64_t step) {
  for (std::size_t i = 0; i < launch.sinks.size(); ++i)
    if (launch.sinks[i].kind == LaunchSink::Kind::row && !takes_numbers(arrays[i], step)) return false;
  return true;
}

/// How many elements of a sink's array a point writes.
std::int64_t Launcher::width_of(Frame& frame, const LaunchSink& sink) {
  return sink.kind == LaunchSink::Kind::row ? static_cast<std::int64_t>(frame.at(sink.width).peek()) : 1;
}

/// Where the first of some points writes. @param values  of a nest: results of the prelude
/// @return false: it can not be told without overflow, or the script would not get there without
bool Launcher::find_key(Frame& frame, const LaunchSink& sink, const std::int64_t* values, std::int64_t point,
                        std::int64_t& key) {
  key = point;
  if (sink.kind != LaunchSink::Kind::row) return true;
  const LaunchInput& base = sink.row.base;
  const auto is_within = [](std::int64_t number, std::int64_t limit) { return -limit < number && number < limit; };
  std::int64_t number = 0;
  if (base.value != no_id)
    number = values[base.value];
  else if (!base.operand.is_absent())
    number = static_cast<std::int64_t>(frame.at(base.operand).peek());
  return is_within(point, affine_point_limit) && is_within(number, affine_base_limit) &&
         !__builtin_mul_overflow(point + number + sink.row.offset, width_of(frame, sink), &key);
}

/// A leaf that may take long waits for its code inside of interpreted iterations.
bool Launcher::makes_stretches(const IndexLaunch& launch) const {
  const Function& leaf = program_.functions[launch.leaf];
  return !launch.is_projected() && (launch.has_rows() || leaf.lane_code.exists() || run_.leaves.code(launch.leaf) ||
                                    here_.kernels().waits_for_code_of(leaf));
}

/// Points that are run in stretches take so little time that machine code is worth its start late: until it is there,
/// each of their instructions takes half a nanosecond or so, and to have it made takes ten milliseconds and more. With
/// the usual threshold it is asked for once there are 65 million of them.
std::int64_t Launcher::calls_of(const IndexLaunch& launch, std::int64_t points) const {
  constexpr std::int64_t instructions_of_call = 1 << 16;
  const Function& leaf = program_.functions[launch.leaf];
  const std::int64_t cost = !launch.is_projected() && !leaf.is_heavy ? leaf.lane_code.cost : 0;
  return cost == 0
             ? points
             : points / instructions_of_call * cost + points % instructions_of_call * cost / instructions_of_call + 1;
}

/// @return of how many points: the next one does not end well
std::int64_t Launcher::call_native(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count) {
  if (!leaf.function.calls_library) return leaf.call(worker_->leaf_worker(), first, step, count);
  // what it prints comes after what was printed before, and before what the script prints next
  if (run_.options.before_program) run_.options.before_program();
  const std::int64_t made = leaf.call(worker_->leaf_worker(), first, step, count);
  write_output_of_c();
  return made;
}

/// Points that lie in one chunk of numbers, or whose results all go into promised arrays.
/// @param values  of a nest: results of the prelude
/// @param first  the value of the first one  @return how many it has made
std::int64_t Launcher::run_part(const RangeTask& piece, LaunchedLeaf& leaf, const SinkArrays& arrays,
                                const std::int64_t* values, std::int64_t first, std::int64_t step, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  make_chunks(launch, arrays, step);
  SinkKeys keys, widths;
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    widths[i] = width_of(piece.frame, launch.sinks[i]);
    if (!find_key(piece.frame, launch.sinks[i], values, first, keys[i])) return 0;
  }
  count = claim_places(arrays, keys, count, widths);
  if (count == 0) return 0;
  std::array<void*, leaf_word_limit> places;
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) places[i] = place_of(i, arrays, keys[i]);
  const std::span<void* const> results(places.data(), launch.sinks.size());
  std::int64_t made = count;
  if (leaf.code) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (launch.sinks[i].kind == LaunchSink::Kind::row)
        leaf.set_row(i, results[i], widths[i]);
      else
        leaf.set_results(i, results[i]);
    }
    made = call_native(leaf, first, step, count);
    leaf.finish_stores();
    here_.counters.iterations_native += static_cast<std::uint64_t>(made);
  } else {
    made = run_lanes(leaf, launch.leaf, first, step, count, results);
  }
  give_back_places(arrays, keys, made, count, widths);
  for (std::size_t i = 0; i < launch.sinks.size(); ++i)
    write_part(piece, i, arrays[i], keys[i], step, made * widths[i]);
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  return made;
}

/// Long loops of points end once there is machine code, or the run is to end. @return of how many from the first one on
std::int64_t Launcher::run_lanes(LaunchedLeaf& leaf, FunctionId id, std::int64_t first, std::int64_t step,
                                 std::int64_t count, std::span<void* const> results) {
  const auto goes_on = [&] { return !worker_->queues_all() && !run_.leaves.code(id); };
  switch (lane_machine_.run(first, step, count, results, goes_on)) {
    case LaneMachine::Outcome::done: return count;
    case LaneMachine::Outcome::failed: return run_one_by_one(leaf, first, step, count, results);
    case LaneMachine::Outcome::stopped: break;
  }
  return 0;
}

/// Points of which one does not end well, in registers. @return of how many from the first one on
std::int64_t Launcher::run_one_by_one(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count,
                                      std::span<void* const> results) {
  std::array<std::int64_t, leaf_word_limit> words;
  const std::vector<KernelType>& types = leaf.function.leaf_results;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!call_launched(leaf, range_value(first, step, i), words.data())) return i;
    for (std::size_t k = 0; k < types.size(); ++k)
      set_number(results[k], kind_of(types[k]), static_cast<std::size_t>(i), words[k]);
  }
  return count;
}

/// For the results of the next part. Null: they go straight into the array.
void Launcher::make_chunks(const IndexLaunch& launch, const SinkArrays& arrays, std::int64_t step) {
  launch_chunks_.resize(launch.sinks.size());
  for (std::size_t i = 0; i < launch.sinks.size(); ++i)
    if (!launch_chunks_[i] && !takes_numbers(arrays[i], step))
      launch_chunks_[i] = NumberChunk::make(kind_of(result_type(launch, i)));
}

/// Results of points that follow each other can be written into it.
bool Launcher::takes_numbers(const Array* array, std::int64_t step) { return array && step == 1 && array->numbers(); }

/// Where the next part's results are written. @param key  of the first one
void* Launcher::place_of(std::size_t result, const SinkArrays& arrays, std::int64_t key) {
  NumberChunk* const chunk = launch_chunks_[result].get();
  return chunk ? chunk->words() : arrays[result]->numbers()->numbers().at_index(static_cast<std::size_t>(key));
}

/// Claims the numbers that the next part writes straight into arrays. @param keys  of the first point
/// @param widths  how many numbers a point writes  @return of how many points; the next one is assigned twice
std::int64_t Launcher::claim_places(const SinkArrays& arrays, const SinkKeys& keys, std::int64_t count,
                                    const SinkKeys& widths) {
  for (std::size_t i = 0; i < launch_chunks_.size(); ++i) {
    std::int64_t wanted = 0;
    if (launch_chunks_[i] || widths[i] == 0) continue;
    if (__builtin_mul_overflow(count, widths[i], &wanted)) wanted = 0;  // there are not so many
    OpenNumbers& numbers = *arrays[i]->numbers();
    const auto claimed = static_cast<std::int64_t>(numbers.claim(keys[i], static_cast<std::size_t>(wanted)));
    const std::int64_t points = claimed / widths[i];
    if (claimed > points * widths[i])
      numbers.give_back(static_cast<std::size_t>(keys[i] + points * widths[i]),
                        static_cast<std::size_t>(claimed - points * widths[i]));
    for (std::size_t before = 0; before < i && points < count; ++before)
      if (!launch_chunks_[before])
        arrays[before]->numbers()->give_back(static_cast<std::size_t>(keys[before] + points * widths[before]),
                                             static_cast<std::size_t>((count - points) * widths[before]));
    count = points;
  }
  return count;
}

/// Of `count` points that were claimed only `made` have been computed.
void Launcher::give_back_places(const SinkArrays& arrays, const SinkKeys& keys, std::int64_t made, std::int64_t count,
                                const SinkKeys& widths) {
  for (std::size_t i = 0; i < launch_chunks_.size() && made < count; ++i)
    if (!launch_chunks_[i])
      arrays[i]->numbers()->give_back(static_cast<std::size_t>(keys[i] + made * widths[i]),
                                      static_cast<std::size_t>((count - made) * widths[i]));
}

/// Asks for code once there have been many points. @return null: none (yet)
raddle_leaf_function Launcher::launched_code(FunctionId leaf, std::int64_t points) {
  const raddle_leaf_function code = run_.leaves.code(leaf);
  if (!code && run_.leaves.stage(leaf) == LeafTable::Stage::interpreted)
    here_.kernels().count_calls(leaf, static_cast<std::uint32_t>(points));
  return code;
}

/// Points that take long, as those do that work with arrays of their own and are interpreted, are worth machine code
/// long before there are as many of them as of short ones: with the usual threshold when 16 ms of them are left.
void Launcher::count_long_points(FunctionId leaf, std::int64_t point_ns, std::int64_t left) {
  constexpr std::int64_t call_ns = 16'000, most = 1 << 20;
  if (point_ns < call_ns || left <= 0 || run_.leaves.stage(leaf) != LeafTable::Stage::interpreted) return;
  const std::int64_t calls = std::min(left, most) * std::min(point_ns / call_ns, most);
  here_.kernels().count_calls(leaf, static_cast<std::uint32_t>(std::min(calls, most)));
}

/// The arrays that hold the elements of the sinks; their rows are made if need be.
/// @param keys  of the launch; null: there are none
/// @param values  of a nest: results of the prelude
/// @pre has_sinks()  @return false: something else is there, or a key is not
bool Launcher::find_sinks(Frame& frame, const ForeachSite& site, const std::int64_t* keys, const std::int64_t* values,
                          SinkArrays& arrays) {
  const std::vector<LaunchSink>& sinks = site.launch.sinks;
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    const bool is_of_array = sinks[i].is_of_array();
    arrays[i] = is_of_array ? sink_row(frame, site, sinks[i], keys, values) : nullptr;
    if (is_of_array && !arrays[i]) return false;
  }
  return true;
}

Array* Launcher::sink_row(Frame& frame, const ForeachSite& site, const LaunchSink& sink, const std::int64_t* keys,
                          const std::int64_t* values) {
  Array* array = &object_in<Array>(frame.at(sink.target));
  const auto enter = [&](const Value& key) {
    Array* row = array->made_row(key);
    if (!row) {
      row = array->row(key, here_.wakes());
      here_.wake();
    }
    array = row;
    return row != nullptr;
  };
  for (const LaunchInput& input : sink.row_keys) {
    if (input.value != no_id) {
      const KernelType type = program_.functions[site.nest.prelude].leaf_results[input.value];
      if (!enter(decode(values[input.value], kind_of(type)))) return nullptr;
      continue;
    }
    const Future& key = frame.at(input.operand);
    if (!key.is_resolved() || key.is_failed() || !enter(key.get())) return nullptr;
  }
  for (std::uint32_t i = 0; i + 1 < sink.key_count; ++i)
    if (!enter(Value::of(keys[sink.first_key + i]))) return nullptr;
  return array;
}

/// Hands on the first `count` numbers of a result's chunk, those of the points from `first` on; or tells that so many
/// are there in its array.
/// @param to  the array; null: the sink is an updateable
void Launcher::write_part(const RangeTask& piece, std::size_t result, Array* to, std::int64_t first, std::int64_t step,
                          std::int64_t count) {
  const LaunchSink& sink = piece.site.launch.sinks[result];
  NumberChunk::Owner& numbers = launch_chunks_[result];
  if (!numbers) {
    to->tell_written({first, count}, here_.wakes());
    here_.wake();
    return;
  }
  if (sink.kind != LaunchSink::Kind::element) {
    const auto* values = static_cast<const double*>(numbers->words());
    object_in<Updateable>(piece.frame.at(sink.target))
        .update(mode_of(sink.kind), {values, static_cast<std::size_t>(count)});
    return;
  }
  Array& array = *to;
  const bool is_whole = count == NumberChunk::size && step == 1 && array.has_number_chunk(first);
  if (is_whole && array.keeps_reductions())
    return launch_reductions_[result].add(first, *numbers, array.keeps_deviation());
  if (is_whole && array.insert_numbers(first, numbers)) return;
  left_keys_.clear();
  if (step == 1) {
    array.insert_run(first, numbers->run(0, count), left_keys_, here_.wakes());
    here_.wake();
  } else {
    for (std::int64_t i = 0; i < count; ++i) left_keys_.push_back(range_value(first, step, i));
  }
  KnownPart part;
  for (const std::int64_t key : left_keys_)
    write_element(piece.frame, sink, array, part, key, numbers->at((key - first) / step));
}

/// @param part  of the array, where the last one was written
void Launcher::write_element(Frame& frame, const LaunchSink& sink, Array& array, KnownPart& part, std::int64_t key,
                             Value number) {
  Element* const element = array.numbers() ? nullptr : part.find(array, key);
  if (element && element->insert(number, here_.wakes())) {
    here_.wake();
  } else if (!here_.insert(array, Value::of(key), number)) {
    here_.element_assigned_twice(frame, sink.place, array, Value::of(key));
  }
}

}  // namespace raddle::vm
