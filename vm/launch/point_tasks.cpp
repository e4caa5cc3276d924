// With Inlining::never each point of an index launch is a task: it lies in a queue before it is run. No frames. Those
// of a projected launch are deferred (launch_points.cpp).
#include <algorithm>
#include <cstddef>

#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_task.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

bool Launcher::forces_points(const RangeTask& piece) const {
  return run_.options.inlining == Inlining::never && piece.site.is_launch() && piece.kind == RangeTask::Kind::ints &&
         !is_perturbed_;
}

bool Launcher::queue_points(RangeTask& piece, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  if (launch.is_projected() || launch.has_rows()) return false;
  LaunchedLeaf leaf(program_.functions[launch.leaf], launched_code(launch.leaf, count), 0);
  SinkArrays arrays{};
  if (!has_sinks(piece.frame, launch) || !leaf.bind(piece.frame, launch.captures) ||
      !find_sinks(piece.frame, piece.site, nullptr, nullptr, arrays))
    return false;
  PointGroup* const group = make_group(piece);
  auto* points =
      ::new (here_.cells().allocate(PointTasks::size_of(count))) PointTasks(*group, leaf, arrays, first, count);
  // the last one first: this worker takes them in their order, in which arrays are filled best
  TaskBatch batch;
  for (std::int64_t i = count; i-- > 0;) {
    PointTask& task = points->tasks()[i];
    if (piece.frame.priority == 0)
      batch.add(task);
    else
      here_.push(task, piece.frame.priority);
  }
  here_.push(batch);
  if (group->made(count)) end_points(*points);
  return true;
}

void Launcher::end_points(PointTasks& points) {
  PointGroup& group = points.group;
  const std::size_t size_bytes = PointTasks::size_of(points.count);
  points.~PointTasks();
  here_.cells().deallocate(&points, size_bytes);
  end_group(&group);
}

void PointTask::run(Worker& worker) { all.group.frame.run_state.on(worker).launcher().run_point_tasks(*this); }

void Launcher::run_point_tasks(const PointTask& first) {
  if (run_.is_stopped()) return;  // they are freed with the run
  PointTasks& points = first.all;
  PointGroup& group = points.group;
  LaunchedLeaf leaf(points.leaf);
  PointResults results{group.as_piece(), points.arrays};
  std::int64_t ended = 0;
  const Task* next = &first;
  do {
    const auto& task = static_cast<const PointTask&>(*next);
    const TaskTimer timer(here_, TaskKind::iterations, group.frame, group.instruction);
    if (!run_point_task(task, leaf, results)) {
      write(results);
      interpret_iterations(results.piece, task.iteration, 1);
    }
    ++ended;
    next = worker_->take_next_within(points.tasks(), points.tasks() + points.count);
  } while (next);
  write(results);
  if (group.end_points(ended)) end_points(points);
}

/// @return false: it is to be interpreted
bool Launcher::run_point_task(const PointTask& task, LaunchedLeaf& leaf, PointResults& results) {
  const RangeTask& piece = results.piece;
  const IndexLaunch& launch = piece.site.launch;
  const std::int64_t value = range_value(piece.low, piece.step, task.iteration);
  // what may take long is not kept back
  if (!leaf.code || leaf.function.is_heavy || leaf.function.calls_library)
    return compute_point(piece.frame, launch, value, nullptr, results.arrays, leaf);
  if (task.iteration != results.first + results.count) write(results);
  if (results.count == 0) {
    make_chunks(launch, results.arrays, piece.step);
    results.first = task.iteration;
  }
  SinkKeys keys;
  std::ranges::fill_n(keys.begin(), static_cast<std::ptrdiff_t>(launch.sinks.size()), value);  // it has room for many
  const std::int64_t claimed = claim_places(results.arrays, keys, 1);
  if (claimed == 0) return false;
  for (std::size_t i = 0; i < launch.sinks.size(); ++i)
    leaf.set_results(i,
                     launch_chunks_[i] ? launch_chunks_[i]->word(results.count) : place_of(i, results.arrays, value));
  const std::int64_t made = leaf.call(worker_->leaf_worker(), value, 1, 1);
  if (made != 1) {
    give_back_places(results.arrays, keys, made, claimed);
    return false;
  }
  ++results.count;
  ++here_.counters.iterations;
  ++here_.counters.iterations_native;
  return true;
}

void Launcher::write(PointResults& results) {
  if (results.count == 0) return launch_chunks_.clear();  // made for a point that did not end well
  const RangeTask& piece = results.piece;
  const std::int64_t first = range_value(piece.low, piece.step, results.first);
  launch_reductions_.resize(piece.site.launch.sinks.size());
  for (std::size_t i = 0; i < piece.site.launch.sinks.size(); ++i)
    write_part(piece, i, results.arrays[i], first, piece.step, results.count);
  finish_parts(results.arrays);
  results.count = 0;
}

}  // namespace raddle::vm
