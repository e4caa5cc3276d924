// Pieces of launches that devices compute, beside the workers or in their place: they are thieves. What a device can
// not do, or does not end well there, is left to the workers, with all words and places of the message.
#include <algorithm>
#include <array>
#include <cstring>

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
  return run_.devices->may_go(range.site, program_.places[range.instruction]) && !range.stays &&
         range.kind != RangeTask::Kind::floats && !(range.order && !range.order->is_dense) &&
         (!range.site.launch.is_projected() || (range.kind == RangeTask::Kind::ints && range.step == 1));
}

/// Of a loop that is about to begin. @return true: all of it goes to devices, if there is code; it has been queued
bool Launcher::goes_whole(const RangeTask& range) {
  if (!run_.devices->takes_whole_launches() || !may_go(range)) return false;
  range.frame.retain();
  auto* task = here_.make<RangeTask>(range);
  if (!run_.devices->wait(range.site.launch.leaf, *task)) here_.push(*task, range.frame.priority);
  return true;
}

/// Of a piece that nobody runs: devices get their share. @return true: all of it is theirs
bool Launcher::hand_over(RangeTask& task) {
  if ((task.window && task.window->has_open()) || !may_go(task)) return false;
  const FunctionId leaf = task.site.launch.leaf;
  const std::int64_t left = task.end - task.next_iteration;
  if (run_.devices->takes_whole_launches()) {
    const bool is_gone =
        run_.devices->stage(leaf) == DeviceWork::Stage::ready && submit(task, std::min(left, piece_limit));
    if (is_gone) here_.destroy(&task);
    return is_gone;
  }
  const LoopProfile& profile = profile_of(task);
  const bool is_native = profile.is_native.load(std::memory_order_relaxed);
  if (!is_native && run_.leaves.stage(leaf) != LeafTable::Stage::impossible) return false;  // it will soon take less
  const std::int64_t worker_ns = profile.iteration_ns.load(std::memory_order_relaxed);
  // whoever works has about as much as is left here; whoever does not will have a share of it
  const unsigned workers = run_.pool.capacity(), hungry = std::min(worker_->hungry_workers(), workers - 1);
  const double sharing = static_cast<double>(workers) / (workers - hungry);
  const LaunchOutlook outlook{.points = left, .worker_ns = worker_ns, .workers = sharing};
  const std::int64_t all = profile.count.load(std::memory_order_relaxed);
  const std::int64_t count = std::min({run_.devices->points_to_go(leaf, all, outlook), piece_limit, left - 1});
  if (count <= 0) return false;
  RangeTask upper(task);
  upper.next_iteration = task.next_iteration + whole_chunks(task, task.next_iteration, left - count);
  Frame& frame = task.frame;
  frame.retain();
  here_.writers().add(frame, task.site.written);
  if (submit(upper, upper.end - upper.next_iteration)) {
    task.end = upper.next_iteration;
  } else {
    here_.writers().release(frame, task.site.written);
    here_.release(&frame);
  }
  return false;
}

/// Has devices compute `count` iterations, the next ones, or as many of them as can go; the others are run when these
/// have come back. On success the devices have what the range owns of its frame and stands for.
/// @return false: something that is needed is not there, or lies where it does not stay
bool Launcher::submit(const RangeTask& range, std::int64_t count) {
  auto* piece = here_.make<DevicePiece>(range);
  const std::int64_t low = range_value(range.low, range.step, range.next_iteration);
  PointLaunch points(*worker_, piece->range, program_.functions[range.site.launch.leaf], nullptr);
  piece->count = claim_piece(points, low, count, *piece);
  if (piece->count == 0) {
    launch_chunks_.clear();
    here_.destroy(piece);
    return false;
  }
  for (std::size_t i = 0; i < range.site.launch.sinks.size(); ++i)
    piece->results.push_back(
        launch_chunks_[i] ? Buffer::make(launch_chunks_[i]->kind(), static_cast<std::size_t>(piece->count)) : nullptr);
  launch_chunks_.clear();
  run_.devices->submit(range.site.launch.leaf, make_batch(points, low, *piece), piece->outcome, *piece);
  return true;
}

/// Claims where results go, looks for what points read. Makes launch_chunks_, null where results go straight into
/// arrays.
/// @param low  the value of the first point  @return of how many of `count` points
std::int64_t Launcher::claim_piece(PointLaunch& points, std::int64_t low, std::int64_t count, DevicePiece& piece) {
  const IndexLaunch& launch = piece.range.site.launch;
  SinkKeys keys;
  if (launch.reads.size() > points.known_rows.size() || !has_sinks(piece.range.frame, launch) || !bind(points, count) ||
      !start_keys(points, low, count, keys.data()) || !find_rows(points, keys.data()))
    return 0;
  for (std::size_t i = 0; i < launch.reads.size() && count > 0; ++i)
    count = find_lasting(points, i, keys.data(), count);
  piece.arrays = points.rows;
  const std::span rows(piece.arrays.data(), launch.sinks.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    piece.keys[i] = element_key(launch.sinks[i], keys.data(), low);
    // of two that write to one row it matters which one does first
    if (rows[i] && std::ranges::count(rows, rows[i]) > 1) return 0;
  }
  launch_chunks_.clear();
  make_chunks(launch, piece.arrays, piece.range.step);
  return count == 0 ? 0 : claim_places(piece.arrays, piece.keys, count);
}

DeviceBatch Launcher::make_batch(PointLaunch& points, std::int64_t low, const DevicePiece& piece) {
  const std::vector<KernelType>&results = points.computation.function.leaf_results,
        &parameters = points.computation.function.leaf_parameters;
  const auto size_of = [](KernelType type, std::int64_t count) {
    return static_cast<std::size_t>(count) * Buffer::size_of(kind_of(type));
  };
  DeviceBatch batch;
  batch.words = {low, piece.range.step, piece.count};
  for (std::size_t i = 0; i < results.size(); ++i) {
    void* const to = piece.results[i]
                         ? piece.results[i]->at_index(0)
                         : piece.arrays[i]->numbers()->numbers().at_index(static_cast<std::size_t>(piece.keys[i]));
    batch.results.push_back({batch.words.size(), size_of(results[i], piece.count)});
    batch.words.push_back(reinterpret_cast<std::int64_t>(to));
  }
  const auto arguments = points.computation.arguments(low).subspan(1);
  const std::size_t first_capture = 1 + points.piece.site.launch.reads.size();
  for (std::size_t parameter = 1, word = 0; parameter < parameters.size(); ++parameter) {
    const KernelType type = parameters[parameter];
    const bool is_read = parameter < first_capture;
    if (is_read || is_array(type))
      batch.arrays.push_back({batch.words.size() + word, size_of(type, is_read ? piece.count : arguments[word + 1])});
    word += words_of(type);
  }
  batch.words.insert(batch.words.end(), arguments.begin(), arguments.end());
  return batch;
}

void DevicePiece::run(Worker& worker) {
  RunWorker& here = range.frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::iterations, range.frame, range.instruction);
  here.launcher().end_piece(this);
}

/// What is left is queued: for the workers, if devices have not computed all that they were given.
void Launcher::end_piece(DevicePiece* piece) {
  if (run_.is_stopped()) return;  // it is freed with the run
  write_results(*piece);
  RangeTask& range = piece->range;
  Frame& frame = range.frame;
  range.next_iteration += piece->outcome.made;
  if (range.next_iteration != range.end) {
    auto* rest = here_.make<RangeTask>(range);
    rest->stays = piece->outcome.made != piece->count;
    here_.destroy(piece);
    return here_.push(*rest, frame.priority);
  }
  here_.writers().release(frame, range.site.written);
  here_.destroy(piece);
  here_.release(&frame);
}

void Launcher::write_results(DevicePiece& piece) {
  const RangeTask& range = piece.range;
  const IndexLaunch& launch = range.site.launch;
  const std::int64_t made = piece.outcome.made;
  launch_chunks_.clear();
  launch_reductions_.resize(launch.sinks.size());
  make_chunks(launch, piece.arrays, range.step);
  give_back_places(piece.arrays, piece.keys, made, piece.count);
  const bool is_direct = std::ranges::all_of(piece.results, [](const Buffer::Owner& own) { return own == nullptr; });
  for (std::int64_t done = 0; done < made;) {
    const std::int64_t to_end = to_boundary(range_value(piece.keys[0], range.step, done), range.step);
    const std::int64_t part = is_direct ? made : std::min(made - done, to_end);
    make_chunks(launch, piece.arrays, range.step);
    for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
      if (Buffer* const own = piece.results[i].get())
        std::memcpy(launch_chunks_[i]->words(), own->at_index(static_cast<std::size_t>(done)),
                    static_cast<std::size_t>(part) * Buffer::size_of(own->kind()));
      write_part(range, i, piece.arrays[i], range_value(piece.keys[i], range.step, done), range.step, part);
    }
    done += part;
  }
  finish_parts(piece.arrays);
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
}

}  // namespace raddle::vm
