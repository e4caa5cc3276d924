// Pieces of launches that devices compute, beside the workers or in their place: they are thieves. What a device can
// not do, or does not end well there, is left to the workers, with all words and places of the message.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vm/device/device_work.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/launch/device_piece.hpp"
#include "vm/launch/launch_elements.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t piece_limit = 1 << 22;  ///< points: results lie in memory of their own until they have come

}  // namespace

bool Launcher::may_go(const RangeTask& range) {
  const ForeachSite& site = range.site;
  const bool is_nest = range.inner.count != 0;
  if (site.is_nest() != is_nest) return false;  // its inner loops are loops of their own
  const std::int64_t step = is_nest ? range.inner.step : range.step;
  const auto place = [&] { return here_.call_place(range.frame, program_.places[range.instruction]); };
  return run_.devices->may_go(site, place) && !range.stays && range.kind != RangeTask::Kind::floats &&
         !(range.order && !range.order->is_dense) &&
         (!site.launch.is_projected() || (range.kind == RangeTask::Kind::ints && step == 1)) &&
         (!is_nest || range.inner.is_whole());
}

/// Of a loop that is about to begin. @return true: all of it goes to devices, if there is code; it has been queued
bool Launcher::goes_whole(const RangeTask& range) {
  if (!run_.devices->takes_some_whole() || !may_go(range) || !run_.devices->takes_whole(range.site)) return false;
  range.frame.retain();
  auto* task = here_.make<RangeTask>(range);
  if (!run_.devices->wait(range.site, *task)) here_.push(*task, range.frame.priority);
  return true;
}

/// Of a piece that nobody runs: devices get their share. @return true: all of it is theirs
bool Launcher::hand_over(RangeTask& task) {
  if (!may_go(task)) return false;
  const std::int64_t left = task.end - task.next_iteration, points_each = std::max<std::int64_t>(1, task.inner.count);
  const std::int64_t limit = std::max<std::int64_t>(1, piece_limit / points_each);
  if (run_.devices->takes_whole(task.site)) return hand_over_whole(task, limit);
  const LoopProfile& profile = profile_of(task);
  if (profile.waits.load(std::memory_order_relaxed)) return false;  // devices would find nothing to read either
  const bool is_native = profile.is_native.load(std::memory_order_relaxed);
  if (!is_native && run_.leaves.stage(task.site.launch.leaf) != LeafTable::Stage::impossible)
    return false;  // it will soon take less
  const auto iteration_ns = static_cast<double>(profile.iteration_ns.load(std::memory_order_relaxed));
  // whoever works has about as much as is left here; whoever does not will have a share of it
  const unsigned workers = run_.pool.capacity(), hungry = std::min(worker_->hungry_workers(), workers - 1);
  const double sharing = static_cast<double>(workers) / (workers - hungry);
  const LaunchOutlook outlook{
      .points = left * points_each, .worker_ns = iteration_ns / static_cast<double>(points_each), .workers = sharing};
  const std::int64_t all = profile.count.load(std::memory_order_relaxed) * points_each;
  const std::int64_t points = run_.devices->points_to_go(task.site, all, outlook);
  const std::int64_t count = std::min({(points + points_each - 1) / points_each, limit, left - 1});
  if (count > 0) split_off(task, count);
  return false;
}

/// Each device gets a piece, the first one of those that the task has then. @param limit  iterations of a piece, at
/// most
/// @return true: all of it is theirs
bool Launcher::hand_over_whole(RangeTask& task, std::int64_t limit) {
  if (run_.devices->stage(task.site) != DeviceWork::Stage::ready) return false;
  const auto left = [&task] { return task.end - task.next_iteration; };
  std::int64_t sharers = run_.devices->sharers(task.site, left() * std::max<std::int64_t>(1, task.inner.count));
  for (; sharers > 1; --sharers)
    if (const std::int64_t count = std::min(limit, left() / sharers); count == 0 || !split_off(task, count)) break;
  const bool is_gone = submit(task, std::min(left(), limit));
  if (is_gone) here_.destroy(&task);
  return is_gone;
}

/// Has devices compute some more iterations than `count`, whole chunks, the last ones of the task, which has the
/// others.
/// @return false: they do not, and it has all
bool Launcher::split_off(RangeTask& task, std::int64_t count) {
  const std::int64_t left = task.end - task.next_iteration;
  RangeTask upper(task);
  upper.next_iteration = task.next_iteration + whole_chunks(task, task.next_iteration, left - count);
  Frame& frame = task.frame;
  frame.retain();
  here_.writers().add(frame, task.site.written);
  if (submit(upper, upper.end - upper.next_iteration)) {
    task.end = upper.next_iteration;
    return true;
  }
  here_.writers().release(frame, task.site.written);
  here_.release(&frame);
  return false;
}

/// Has devices compute `count` iterations, the next ones, or as many of them as can go; the others are run when these
/// have come back. On success the devices have what the range owns of its frame and stands for.
/// @return false: something that is needed is not there, or lies where it does not stay
bool Launcher::submit(const RangeTask& range, std::int64_t count) {
  auto* piece = here_.make<DevicePiece>(range);
  PointLaunch points(*worker_, piece->range, program_.functions[range.site.launch.leaf], nullptr);
  points.computation.is_for_devices = true;
  piece->iterations = count;
  piece->points_each = std::max<std::int64_t>(1, range.inner.count);
  DeviceBatch batch;
  const bool is_claimed = claim_piece(points, *piece), is_gone = is_claimed && fill_batch(points, *piece, batch);
  if (is_claimed && !is_gone) give_back_rows(*piece, 0, piece->count());
  launch_chunks_.clear();
  if (!is_gone) {
    here_.destroy(piece);
    return false;
  }
  run_.devices->submit(range.site, std::move(batch), piece->outcome, *piece);
  return true;
}

/// Claims where results go, looks for what points read that follow each other. Makes launch_chunks_, null where results
/// go into arrays that take them. Of fewer iterations if not all can go. @return false: of none
bool Launcher::claim_piece(PointLaunch& points, DevicePiece& piece) {
  const RangeTask& range = piece.range;
  const IndexLaunch& launch = range.site.launch;
  const bool is_nest = range.inner.count != 0;
  const std::int64_t low = is_nest ? range.inner.low : range_value(range.low, range.step, range.next_iteration);
  SinkKeys keys;
  if (launch.reads.size() > points.known_rows.size() || !has_sinks(range.frame, launch) ||
      !bind(points, piece.count()) || (is_nest && !find_strides(points, piece)) ||
      !start_keys(points, low, is_nest ? piece.points_each : piece.iterations, keys.data()) ||
      !find_rows(points, keys.data()))
    return false;
  for (std::size_t i = 0; !walks(range.site) && i < launch.reads.size() && piece.iterations > 0; ++i)
    piece.iterations = find_lasting(points, i, keys.data(), piece.iterations);
  piece.arrays = points.rows;
  const std::span rows(piece.arrays.data(), launch.sinks.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    piece.keys[i] = 0;
    piece.keys[i] = element_key(launch.sinks[i], keys.data(), low) - piece.key(i, 0);
    // of two that write to one row it matters which one does first
    if (rows[i] && std::ranges::count(rows, rows[i]) > 1) return false;
    if (is_nest && !takes_numbers(rows[i], 1)) return false;
  }
  launch_chunks_.clear();
  make_chunks(launch, piece.arrays, points.step());
  if (piece.iterations > 0) claim_rows(piece);
  return piece.iterations > 0;
}

/// How far the rows of a nest lie apart that iterations of its outer loops write, by the first two of each. That it is
/// so for all of them the kernel finds out. Leaves in `points` the values of the first iteration of the piece.
/// @return false: an iteration does not end well
bool Launcher::find_strides(PointLaunch& points, DevicePiece& piece) {
  const RangeTask& range = piece.range;
  const ForeachSite& site = range.site;
  const auto values_of = [&](std::int64_t iteration, std::int64_t* values) {
    ValuesAhead ahead;
    return find_values(points, iteration, iteration + 1, ahead, values);
  };
  std::array<std::int64_t, leaf_word_limit> first, next;
  if (!values_of(range.next_iteration, points.values.data()) || !values_of(0, first.data())) return false;
  for (const CollapsedLoop& loop : site.collapsed)
    piece.levels.push_back({.each = static_cast<std::int64_t>(range.frame.at(loop.each).peek())});
  if (piece.levels.empty()) piece.levels.push_back({});
  for (DevicePiece::Level& level : piece.levels) {
    const std::int64_t following = level.each * piece.points_each;
    level.strides.fill(following);
    if (level.each >= range.end) continue;  // it has one iteration
    if (!values_of(level.each, next.data())) return false;
    for (std::size_t i = 0; i < site.launch.sinks.size(); ++i) {
      const std::uint32_t value = site.launch.keys[site.launch.sinks[i].first_key].base.value;
      level.strides[i] = 0;
      if (value != no_id && __builtin_sub_overflow(next[value], first[value], &level.strides[i])) return false;
      piece.is_one_row = piece.is_one_row && level.strides[i] == following;
    }
  }
  return true;
}

SinkKeys Launcher::keys_of_row(const DevicePiece& piece, std::int64_t row) {
  SinkKeys keys;
  for (std::size_t i = 0; i < piece.range.site.launch.sinks.size(); ++i) keys[i] = piece.key(i, row);
  return keys;
}

/// Of as many iterations as it can, of which it leaves the number in the piece.
void Launcher::claim_rows(DevicePiece& piece) {
  const std::int64_t wanted = piece.count(), length = piece.row_length();
  std::int64_t claimed = 0;
  for (std::int64_t row = 0; claimed == row * length && claimed < wanted; ++row)
    claimed += claim_places(piece.arrays, keys_of_row(piece, row), length);
  give_back_rows(piece, claimed - claimed % piece.points_each, claimed);
  piece.iterations = claimed / piece.points_each;
}

/// Of the first `claimed` points, which were, only `made` have been computed.
void Launcher::give_back_rows(const DevicePiece& piece, std::int64_t made, std::int64_t claimed) {
  const std::int64_t length = piece.row_length();
  for (std::int64_t row = made / length; row * length < claimed; ++row)
    give_back_places(piece.arrays, keys_of_row(piece, row), std::max<std::int64_t>(0, made - row * length),
                     std::min(length, claimed - row * length));
}

/// @return false: an argument is not there
bool Launcher::fill_batch(PointLaunch& points, DevicePiece& piece, DeviceBatch& batch) {
  const RangeTask& range = piece.range;
  const LaunchKernel& kernel = run_.devices->kernel(range.site);
  const std::vector<KernelType>&types = kernel.group.front().types, &results = points.computation.function.leaf_results;
  const auto size_of = [](KernelType type, std::int64_t count) {
    return static_cast<std::size_t>(count) * Buffer::size_of(kind_of(type));
  };
  const auto add = [&batch](std::vector<DeviceBatch::Memory>& memory, std::int64_t address, std::size_t size,
                            Buffer* buffer, const Array* array) {
    memory.push_back({batch.words.size(), size, buffer, array ? array->place() : Place()});
    batch.words.push_back(address);
  };
  const bool is_nest = range.inner.count != 0;
  const std::int64_t low = range_value(range.low, range.step, range.next_iteration);
  batch.words = {is_nest ? 0 : low, is_nest ? 1 : range.step, piece.count()};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool is_direct = !launch_chunks_[i] && piece.is_one_row;
    piece.results.push_back(is_direct ? nullptr
                                      : Buffer::make(kind_of(results[i]), static_cast<std::size_t>(piece.count())));
    Buffer* const buffer = is_direct ? &piece.arrays[i]->numbers()->numbers() : nullptr;
    void* const to =
        buffer ? buffer->at_index(static_cast<std::size_t>(piece.key(i, 0))) : piece.results[i]->at_index(0);
    add(batch.results, reinterpret_cast<std::int64_t>(to), size_of(results[i], piece.count()), buffer, piece.arrays[i]);
  }
  const auto elements = points.computation.arguments(low).subspan(1);
  const std::size_t reads = batch.reads = kernel.entry.reads;
  for (std::size_t i = 0; i < reads; ++i) {
    const std::size_t size = size_of(types[1 + i], piece.count());
    add(batch.arrays, elements[i], size, buffer_with(*points.known_rows[i].row, elements[i], size),
        points.known_rows[i].row);
  }
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    const KernelType type = types[1 + reads + i];
    if (argument.kind != KernelArgument::Kind::variable) {
      batch.words.push_back(word_of_nest(piece, argument));
      continue;
    }
    Future& variable = range.frame.at(argument.variable);
    std::array<std::int64_t, 2> words;
    std::size_t count = 0;
    if (missing_part(variable, type) || !encode(variable, type, words.data(), count)) return false;
    if (is_array(type)) {
      const std::size_t size = size_of(type, words[1]);
      Array& array = object_in<Array>(variable);
      batch.arrays.push_back({batch.words.size(), size, buffer_with(array, words[0], size), array.place()});
      batch.near.push_back(kernel.near.empty() ? std::nullopt : kernel.near[i]);
    }
    batch.words.insert(batch.words.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return true;
}

std::int64_t Launcher::word_of_nest(const DevicePiece& piece, const KernelArgument& argument) {
  using Kind = KernelArgument::Kind;
  const RangeTask& range = piece.range;
  switch (argument.kind) {
    case Kind::first_iteration: return range.next_iteration;
    case Kind::outer_low: return range.low;
    case Kind::outer_step: return range.step;
    case Kind::outer_each: return piece.levels[argument.index].each;
    case Kind::inner_low: return range.inner.low;
    case Kind::inner_step: return range.inner.step;
    case Kind::inner_count: return range.inner.count;
    case Kind::first_key: return piece.keys[argument.index];
    case Kind::row_stride: {
      const std::size_t sinks = range.site.launch.sinks.size();
      return piece.levels[argument.index / sinks].strides[argument.index % sinks];
    }
    case Kind::variable:
    case Kind::value: break;  // a nest's kernel computes these
  }
  return 0;
}

void DevicePiece::run(Worker& worker) {
  RunWorker& here = range.frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::iterations, range.frame, range.instruction);
  here.launcher().end_piece(this);
}

/// What is left is queued: for the workers, if devices have not computed all that they were given.
void Launcher::end_piece(DevicePiece* piece) {
  if (run_.is_stopped()) return;  // it is freed with the run
  RangeTask& range = piece->range;
  Frame& frame = range.frame;
  log_device(frame, range.instruction, piece->outcome);
  const std::int64_t made = piece->outcome.made / piece->points_each;
  write_results(*piece, made * piece->points_each);
  range.next_iteration += made;
  if (range.next_iteration != range.end) {
    auto* rest = here_.make<RangeTask>(range);
    rest->stays = made != piece->iterations;
    here_.destroy(piece);
    return here_.push(*rest, frame.priority);
  }
  here_.writers().release(frame, range.site.written);
  here_.destroy(piece);
  here_.release(&frame);
}

/// @param made  of how many points
void Launcher::write_results(DevicePiece& piece, std::int64_t made) {
  const RangeTask& range = piece.range;
  const IndexLaunch& launch = range.site.launch;
  const std::int64_t step = range.inner.count == 0 ? range.step : range.inner.step;
  launch_chunks_.clear();
  launch_reductions_.resize(launch.sinks.size());
  make_chunks(launch, piece.arrays, step);
  give_back_rows(piece, made, piece.count());
  const bool are_in_arrays = std::ranges::none_of(launch_chunks_, [](const auto& chunk) { return chunk != nullptr; });
  for (std::int64_t done = 0; done < made;) {
    const std::int64_t row = done / piece.row_length(), column = done % piece.row_length();
    const std::int64_t in_row = std::min(made - done, piece.row_length() - column);
    const std::int64_t part =
        are_in_arrays ? in_row : std::min(in_row, to_boundary(range_value(piece.key(0, row), step, column), step));
    make_chunks(launch, piece.arrays, step);
    for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
      const std::int64_t key = range_value(piece.key(i, row), step, column);
      if (Buffer* const own = piece.results[i].get())
        std::memcpy(place_of(i, piece.arrays, key), own->at_index(static_cast<std::size_t>(done)),
                    static_cast<std::size_t>(part) * Buffer::size_of(own->kind()));
      write_part(range, i, piece.arrays[i], key, step, part);
    }
    done += part;
  }
  finish_parts(piece.arrays);
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
}

}  // namespace raddle::vm
