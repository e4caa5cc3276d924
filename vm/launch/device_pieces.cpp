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
#include "vm/launch/launched_leaf.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t piece_limit = 1 << 20;  ///< points: results lie in memory of their own until they have come

}  // namespace

bool Launcher::may_go(const RangeTask& range) {
  return run_.devices->may_go(range.site, program_.places[range.instruction]) && !range.stays &&
         range.kind != RangeTask::Kind::floats && !(range.order && !range.order->is_dense);
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
  if (task.window || !may_go(task)) return false;
  const FunctionId leaf = task.site.launch.leaf;
  const std::int64_t left = task.end - task.next_iteration;
  if (run_.devices->takes_whole_launches()) {
    const bool is_gone =
        run_.devices->stage(leaf) == DeviceWork::Stage::ready && submit(task, std::min(left, piece_limit));
    if (is_gone) here_.destroy(&task);
    return is_gone;
  }
  const std::int64_t worker_ns = profile_of(task).iteration_ns.load(std::memory_order_relaxed);
  const std::int64_t count = std::min(run_.devices->points_to_go(leaf, left, worker_ns), piece_limit);
  if (count == 0) return false;
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

/// Has devices compute `count` iterations, the next ones; the others are run when these have come back. On success the
/// devices have what the range owns of its frame and stands for.
/// @return false: something that is needed is not there, or is no array of numbers
bool Launcher::submit(const RangeTask& range, std::int64_t count) {
  const IndexLaunch& launch = range.site.launch;
  const Function& leaf = program_.functions[launch.leaf];
  const std::int64_t key = range_value(range.low, range.step, range.next_iteration);
  DeviceBatch batch;
  batch.words = {key, range.step, count};
  batch.words.resize(3 + launch.sinks.size());
  SinkArrays arrays;
  if (!has_sinks(range.frame, launch) || !add_captures(range.frame, launch, batch) ||
      !find_sinks(range.frame, range.site, nullptr, nullptr, arrays))
    return false;
  SinkKeys keys;
  keys.fill(key);
  launch_chunks_.clear();
  make_chunks(launch, arrays, range.step);
  batch.words[2] = count = claim_places(arrays, keys, count);
  if (count == 0) return false;
  auto* piece = here_.make<DevicePiece>(range, count);
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const ValueKind kind = kind_of(leaf.leaf_results[i]);
    Buffer::Owner& own = piece->results.emplace_back();
    if (launch_chunks_[i]) own = Buffer::make(kind, static_cast<std::size_t>(count));
    batch.results.push_back({3 + i, static_cast<std::size_t>(count) * Buffer::size_of(kind)});
    batch.words[3 + i] = reinterpret_cast<std::int64_t>(own ? own->at_index(0) : place_of(i, arrays, key));
  }
  launch_chunks_.clear();
  run_.devices->submit(launch.leaf, std::move(batch), piece->outcome, *piece);
  return true;
}

/// Appends their words. @return false: one is not there, or is no array of numbers
bool Launcher::add_captures(Frame& frame, const IndexLaunch& launch, DeviceBatch& batch) {
  const std::vector<KernelType>& types = program_.functions[launch.leaf].leaf_parameters;
  std::size_t parameter = types.size() - launch.captures.size();
  for (const LaunchInput& capture : launch.captures) {
    const KernelType type = types[parameter++];
    Future& input = frame.at(capture.operand);
    std::array<std::int64_t, 2> words;
    std::size_t word_count = 0;
    if (missing_part(input, type) || !encode(input, type, words.data(), word_count)) return false;
    if (is_array(type))
      batch.arrays.push_back({batch.words.size(), static_cast<std::size_t>(words[1]) * Buffer::size_of(kind_of(type))});
    batch.words.insert(batch.words.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(word_count));
  }
  return true;
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
  SinkArrays arrays;
  find_sinks(range.frame, range.site, nullptr, nullptr, arrays);  // they were there when it was submitted
  launch_chunks_.clear();
  launch_reductions_.resize(launch.sinks.size());
  make_chunks(launch, arrays, range.step);
  SinkKeys keys;
  keys.fill(range_value(range.low, range.step, range.next_iteration));
  give_back_places(arrays, keys, made, piece.count);
  const bool is_direct = std::ranges::all_of(piece.results, [](const Buffer::Owner& own) { return own == nullptr; });
  for (std::int64_t done = 0; done < made;) {
    const std::int64_t key = range_value(range.low, range.step, range.next_iteration + done);
    const std::int64_t part = is_direct ? made : std::min(made - done, to_boundary(key, range.step));
    make_chunks(launch, arrays, range.step);
    for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
      if (Buffer* const own = piece.results[i].get())
        std::memcpy(launch_chunks_[i]->words(), own->at_index(static_cast<std::size_t>(done)),
                    static_cast<std::size_t>(part) * Buffer::size_of(own->kind()));
      write_part(range, i, arrays[i], key, range.step, part);
    }
    done += part;
  }
  finish_parts(arrays);
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
}

}  // namespace raddle::vm
