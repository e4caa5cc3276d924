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
  if (!has_sinks(piece.frame, launch) || !leaf.bind(piece.frame, launch.captures)) return false;
  PointGroup* const group = make_group(piece);
  auto* points = make<PointTasks>(*group, leaf);
  // the last one first: this worker takes them in their order, in which arrays are filled best
  for (std::int64_t i = first + count; i-- > first;) push(*make<PointTask>(*points, i), piece.frame.priority);
  if (group->made(count)) {
    destroy(points);
    end_group(group);
  }
  return true;
}

void PointTask::run(Worker& worker) {
  const PointGroup& group = points.group;
  Interpreter& interpreter = group.frame.run_state.interpreter(worker).on(worker);
  const TaskTimer timer(interpreter, TaskKind::iterations, group.frame, group.instruction);
  interpreter.run_point_task(this);
}

void Interpreter::run_point_task(PointTask* task) {
  if (run_.is_stopped()) return;  // it is freed with the run
  PointTasks& points = task->points;
  PointGroup& group = points.group;
  const std::int64_t value = range_value(group.low, group.step, task->iteration);
  LaunchedLeaf leaf(points.leaf);
  SinkArrays arrays;
  if (!find_sinks(group.frame, group.site, nullptr, nullptr, arrays) ||
      !compute_point(group.frame, group.site.launch, value, nullptr, arrays, leaf)) {
    RangeTask piece = group.as_piece();
    interpret_iterations(piece, task->iteration, 1);
  }
  destroy(task);
  if (!group.end_point()) return;
  destroy(&points);
  end_group(&group);
}

}  // namespace raddle::vm
