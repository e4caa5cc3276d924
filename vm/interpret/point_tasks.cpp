// With Inlining::never each point of an index launch is a task: it lies in a queue before it is run. No frames. Those
// of a launch with a projection are deferred (launch_points.cpp).
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/point_task.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

bool Interpreter::forces_points(const RangeTask& piece) const {
  return run_.options.inlining == Inlining::never && piece.site.is_launch() && piece.kind == RangeTask::Kind::ints &&
         !is_perturbed_;
}

bool Interpreter::queue_points(RangeTask& piece, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  if (launch.projection != no_id) return false;
  LaunchedLeaf leaf(program_.functions[launch.leaf], launched_code(launch.leaf, count), 0);
  SinkArrays arrays{};
  if (!has_sinks(piece.frame, launch) || !leaf.bind(piece.frame, launch.captures) ||
      !find_sinks(piece.frame, piece.site, nullptr, nullptr, arrays))
    return false;
  PointGroup* const group = make_group(piece);
  auto* points = ::new (cache_.allocate(PointTasks::size_of(count))) PointTasks(*group, leaf, arrays, first, count);
  // the last one first: this worker takes them in their order, in which arrays are filled best
  TaskBatch batch;
  for (std::int64_t i = count; i-- > 0;) {
    PointTask& task = points->tasks()[i];
    if (piece.frame.priority == 0)
      batch.add(task);
    else
      push(task, piece.frame.priority);
  }
  push(batch);
  if (group->made(count)) end_points(*points);
  return true;
}

void Interpreter::end_points(PointTasks& points) {
  PointGroup& group = points.group;
  const std::size_t size_bytes = PointTasks::size_of(points.count);
  points.~PointTasks();
  cache_.deallocate(&points, size_bytes);
  end_group(&group);
}

void PointTask::run(Worker& worker) {
  const PointGroup& group = all.group;
  Interpreter& interpreter = group.frame.run_state.interpreter(worker).on(worker);
  const TaskTimer timer(interpreter, TaskKind::iterations, group.frame, group.instruction);
  interpreter.run_point_task(*this);
}

void Interpreter::run_point_task(const PointTask& task) {
  if (run_.is_stopped()) return;  // it is freed with the run
  PointTasks& points = task.all;
  PointGroup& group = points.group;
  const std::int64_t value = range_value(group.low, group.step, task.iteration);
  LaunchedLeaf leaf(points.leaf);
  if (!compute_point(group.frame, group.site.launch, value, nullptr, points.arrays, leaf)) {
    RangeTask piece = group.as_piece();
    interpret_iterations(piece, task.iteration, 1);
  }
  if (group.end_point()) end_points(points);
}

}  // namespace raddle::vm
