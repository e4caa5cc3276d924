// Index launches point by point: projected ones, whose points read and write elements of arrays, and others while there
// is no machine code. Where points are about elements that follow each other they are run in blocks, as long as those
// are there (launch_blocks.cpp). Else the keys of some points are computed at once; then each point looks for its
// elements, computes and writes. One that lacks an element is deferred (deferred_points.cpp). Whatever else stands in
// the way is no concern here: then the iteration is interpreted.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/launch/launch_elements.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

namespace {

/// Makes words of what machine code has written as elements of an array: the last one first, as they lie within them.
void widen(std::int64_t* words, KernelType type, std::int64_t count) {
  for (std::int64_t i = count; i-- > 0;) {
    const std::int64_t word = number_at(words, kind_of(type), static_cast<std::size_t>(i));
    words[i] = word;
  }
}

/// The elements that a point reads. Those first that are there: a neighbour may be computing the others meanwhile. Of
/// these the last ones first: they mostly come last, so that the point is woken once.
/// @param words  of all reads
Lack find_elements(Frame& frame, const IndexLaunch& launch, const Function& leaf, const std::int64_t* keys,
                   std::int64_t* words, Patience& patience, std::span<KnownRow> known) {
  const std::uint64_t present = find_present(frame, launch, leaf, keys, words, known);
  const std::size_t count = launch.reads.size();
  if (count <= known.size() && present == all_bits(count)) return {};
  for (std::size_t left = count; left > 0; --left) {
    if (left <= known.size() && (present >> (left - 1) & 1) != 0) continue;
    const LaunchRead& read = launch.reads[left - 1];
    const std::int64_t* const own = keys + read.first_key;
    Array* row = left <= known.size() ? known[left - 1].row : nullptr;
    if (!row) {
      const Lack lack = find_row(frame, read, own, row, patience);
      if (lack.missing || lack.is_impossible) return lack;
    }
    const Lack lack =
        find_element(*row, leaf.leaf_parameters[left], own[read.key_count - 1], words[left - 1], patience);
    if (lack.missing || lack.is_impossible) return lack;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> Launcher::run_points(RangeTask& piece, std::int64_t first, std::int64_t count,
                                                 bool& waits) {
  const IndexLaunch& launch = piece.site.launch;
  if ((worker_->queues_all() && !forces_points(piece)) || worker_->perturbation().one_in(4)) return std::nullopt;
  if (piece.kind != RangeTask::Kind::ints || !has_sinks(piece.frame, launch)) return std::nullopt;
  PointLaunch points(*worker_, piece, program_.functions[launch.leaf], launched_code(launch.leaf, count));
  if (!bind(points, count)) return std::nullopt;
  const std::int64_t done = run_points(points, first, count);
  finish(points);
  launch_chunks_.clear();
  waits |= points.waits;
  return done;
}

/// @return false: something is not there, or there is neither code nor instructions for registers
bool Launcher::bind(PointLaunch& points, std::int64_t count) {
  Frame& frame = points.piece.frame;
  const IndexLaunch& launch = points.piece.site.launch;
  if (!points.computation.bind(frame, launch.captures)) return false;
  if (points.piece.inner.count != 0) {
    const LaunchNest& nest = points.piece.site.nest;
    points.prelude.emplace(program_.functions[nest.prelude], launched_code(nest.prelude, count), 0);
    if (!points.prelude->bind(frame, nest.captures)) return false;
  }
  const auto is_bound = [&](const LaunchKey& key) {
    return key.base.operand.is_absent() ||
           (frame.at(key.base.operand).is_resolved() && !frame.at(key.base.operand).is_failed());
  };
  if (launch.keys.size() > leaf_word_limit || !std::ranges::all_of(launch.keys, is_bound)) return false;
  if (launch.projection == no_id) return true;
  points.projection.emplace(program_.functions[launch.projection], launched_code(launch.projection, count), 0);
  return points.projection->bind(frame, launch.projected);
}

void Launcher::finish(PointLaunch& points) {
  if (points.group && points.group->made(points.deferred)) end_group(points.group);
}

/// @return how many it has run: the next one is to be interpreted
std::int64_t Launcher::run_points(PointLaunch& points, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = points.piece.site.launch;
  const std::size_t computed = points.projection ? points.projection->function.leaf_results.size() : 0;
  point_keys_.resize(computed * points_at_once);
  std::array<std::int64_t, leaf_word_limit> keys;
  PartKeys part_keys{launch.keys, points.step(), computed != 0 ? point_keys_.data() : nullptr};
  const bool is_plain = points.is_plain && !is_perturbed_ && !forces_points(points.piece);
  std::int64_t next_block = 0, pause = points_at_once;  // points that wait for each other are not run in blocks
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t low = range_value(points.low(), points.step(), first + done);
    if (is_plain && points.has_streams && done >= next_block) {
      if (run_.is_stopped()) return count;
      const std::int64_t made = run_block(points, low, count - done);
      done += made;
      if (made < least_block) {
        next_block = done + pause;
        pause *= 2;
      }
      continue;
    }
    const std::int64_t part = std::min(count - done, points.projection ? points_at_once : apart_at_once);
    if (!start_keys(points, low, part, part_keys.first.data())) return done;
    const std::int64_t made =
        points.projection ? compute_ahead(*points.projection, low, points.step(), part, point_keys_.data()) : part;
    if (run_.is_stopped()) return count;
    std::int64_t i = 0;
    if (is_plain && done >= next_block) {
      i = run_apart(points, low, made, part_keys);
      if (i < std::min(made, least_block)) {
        next_block = done + pause;
        pause *= 2;
      }
    }
    const std::int64_t end = std::min(made, i + points_at_once);
    for (; i < end; ++i) {
      if ((points.computation.function.is_heavy || !is_plain) && run_.is_stopped()) return count;
      part_keys.find(i, keys.data());
      if (is_plain && run_present_point(points, range_value(low, points.step(), i), keys.data())) continue;
      if (!run_point(points, first + done + i, keys.data())) return done + i;
    }
    done += end;
    if (end == made && made < part) return done;
  }
  return count;
}

/// Affine keys of the first of `count` points. @param low  the value of its loop variable
/// @return false: keys of some points might overflow, or not be what the script computes on the way to them
bool Launcher::start_keys(PointLaunch& points, std::int64_t low, std::int64_t count, std::int64_t* keys) {
  const IndexLaunch& launch = points.piece.site.launch;
  const auto is_within = [](std::int64_t number, std::int64_t limit) { return -limit < number && number < limit; };
  const std::int64_t last = range_value(low, points.step(), count - 1);
  const bool has_small_points = is_within(low, affine_point_limit) && is_within(last, affine_point_limit);
  for (std::size_t k = 0; k < launch.keys.size(); ++k) {
    const LaunchKey& key = launch.keys[k];
    if (!key.is_affine()) continue;
    const bool is_value = key.base.value != no_id, has_base = is_value || !key.base.operand.is_absent();
    std::int64_t base = 0;
    if (has_base)
      base = is_value ? points.values[key.base.value]
                      : static_cast<std::int64_t>(points.piece.frame.at(key.base.operand).peek());
    // what stands alone can not overflow
    const bool is_plain_base = key.stride == 0 && key.offset == 0;
    const bool is_plain_point = key.stride == 1 && key.offset == 0 && !has_base;
    if (!is_plain_base && !is_plain_point && !(has_small_points && is_within(base, affine_base_limit))) return false;
    keys[k] = key.stride * low + base + key.offset;
  }
  return true;
}

/// Computes what a projection or prelude says of `count` points, points_at_once at most.
/// @param rows  a row of points_at_once words for each of its results  @return of how many; the next one can not be
/// computed
std::int64_t Launcher::compute_ahead(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count,
                                     std::int64_t* rows) {
  const std::vector<KernelType>& types = leaf.function.leaf_results;
  if (leaf.code) {
    for (std::size_t k = 0; k < types.size(); ++k) leaf.set_results(k, rows + k * points_at_once);
    const std::int64_t made = leaf.call(worker_->leaf_worker(), first, step, count);
    for (std::size_t k = 0; k < types.size(); ++k)
      if (size_of_number(kind_of(types[k])) < sizeof(std::int64_t)) widen(rows + k * points_at_once, types[k], made);
    return made;
  }
  const FunctionId id = id_of(leaf.function);
  std::array<std::int64_t, leaf_word_limit> results;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto arguments = leaf.arguments(range_value(first, step, i));
    if (scalar_machine_.run(id, arguments, results.data(), [] { return true; }) != ScalarMachine::Outcome::done)
      return i;
    for (std::size_t k = 0; k < types.size(); ++k) rows[k * points_at_once + static_cast<std::size_t>(i)] = results[k];
  }
  return count;
}

/// What points mostly do: all elements are there, and all goes well.
/// @param value  of the loop variable  @pre PointLaunch::is_plain
/// @return false: nothing has been done, run_point() is to see why
bool Launcher::run_present_point(PointLaunch& points, std::int64_t value, const std::int64_t* keys) {
  const IndexLaunch& launch = points.piece.site.launch;
  LaunchedLeaf& leaf = points.computation;
  if (!find_rows(points, keys) || find_present(points.piece.frame, launch, leaf.function, keys, leaf.inputs(),
                                               points.known_rows) != all_bits(launch.reads.size()))
    return false;
  std::array<std::int64_t, std::tuple_size_v<decltype(points.known_parts)>> results;
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) leaf.set_results(i, &results[i]);
  if (leaf.call(worker_->leaf_worker(), value, 1, 1) != 1) return false;
  ++here_.counters.iterations;
  ++here_.counters.iterations_native;
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const LaunchSink& sink = launch.sinks[i];
    const std::int64_t key = element_key(sink, keys, value);
    const KernelType type = leaf.function.leaf_results[i];
    make_word(results[i], type);
    write_element(points.piece.frame, sink, *points.rows[i], points.known_parts[i], key,
                  decode(results[i], kind_of(type)));
  }
  return true;
}

/// The arrays to which the next point writes. @return false: see find_sinks()
bool Launcher::find_rows(PointLaunch& points, const std::int64_t* keys) {
  if (points.knows_rows) return true;
  points.known_parts = {};
  if (!find_sinks(points.piece.frame, points.piece.site, keys, points.values.data(), points.rows)) return false;
  points.knows_rows = points.has_fixed_rows;
  return true;
}

/// @return false: it is to be interpreted
bool Launcher::run_point(PointLaunch& points, std::int64_t point, const std::int64_t* keys) {
  const RangeTask& piece = points.piece;
  const IndexLaunch& launch = piece.site.launch;
  LaunchedLeaf& computation = points.computation;
  // before the point may wait: points that wait for the same elements would all want to make their rows at once
  if (!find_rows(points, keys)) return false;
  const Lack lack = find_elements(piece.frame, launch, computation.function, keys, computation.inputs(),
                                  points.patience, points.known_rows);
  if (lack.is_impossible) return false;
  const bool waits_for_code = !computation.code && here_.kernels().waits_for_code_of(computation.function) &&
                              run_.leaves.stage(launch.leaf) != LeafTable::Stage::impossible;
  if (lack.missing || waits_for_code || forces_points(piece) || worker_->perturbation().one_in(4)) {
    points.waits |= lack.missing != nullptr;
    defer_point(points, point, keys);
    return true;
  }
  const std::int64_t value = range_value(points.low(), points.step(), point);
  return compute_point(piece.frame, launch, value, keys, points.rows, computation);
}

/// @return false: it is to be interpreted
bool Launcher::compute_point(Frame& frame, const IndexLaunch& launch, std::int64_t point, const std::int64_t* keys,
                             const SinkArrays& arrays, LaunchedLeaf& computation) {
  std::array<std::int64_t, leaf_word_limit> results;
  if (!call_launched(computation, point, results.data())) return false;
  count_point(computation);
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const LaunchSink& sink = launch.sinks[i];
    const Value value = decode(results[i], kind_of(computation.function.leaf_results[i]));
    if (sink.kind != LaunchSink::Kind::element) {
      update(frame, sink, value);
      continue;
    }
    const Value key = Value::of(element_key(sink, keys, point));
    if (!here_.insert(*arrays[i], key, value)) here_.element_assigned_twice(frame, sink.place, *arrays[i], key);
  }
  return true;
}

void Launcher::count_point(const LaunchedLeaf& computation) {
  ++here_.counters.iterations;
  if (computation.code) ++here_.counters.iterations_native;
}

void Launcher::update(Frame& frame, const LaunchSink& sink, const Value& value) {
  const double number = value.as_float();
  object_in<Updateable>(frame.at(sink.target)).update(mode_of(sink.kind), {&number, 1});
}

/// @return false: it has failed, or is to be shared out
bool Launcher::call_launched(LaunchedLeaf& leaf, std::int64_t point, std::int64_t* results) {
  if (!leaf.code) {
    const auto goes_on = [&] {
      return !leaf.function.is_heavy || leaf.function.calls_library ||  // else it would be called again
             (leaf.function.is_sequential ? !worker_->queues_all() : !worker_->others_are_hungry());
    };
    if (leaf.function.calls_library && run_.options.before_program) run_.options.before_program();
    const auto outcome = scalar_machine_.run(id_of(leaf.function), leaf.arguments(point), results, goes_on);
    return outcome == ScalarMachine::Outcome::done;
  }
  for (std::size_t i = 0; i < leaf.function.leaf_results.size(); ++i) leaf.set_results(i, results + i);
  const std::int64_t made = call_native(leaf, point, 1, 1);
  for (std::size_t i = 0; i < leaf.function.leaf_results.size(); ++i)
    make_word(results[i], leaf.function.leaf_results[i]);
  return made == 1;
}

}  // namespace raddle::vm
