// Points of index launches that wait, without a frame, for elements that they read, or for code.
#include <algorithm>
#include <array>
#include <cstring>

#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/launch/launch_elements.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

/// Looks where the elements lie that the point reads: they may not be there yet, but do not move. All of them are
/// awaited from now on, so that none is written as one of a whole chunk of numbers any more.
void find_places(LaunchPoint& point, const IndexLaunch& launch) {
  for (std::uint32_t i = 0; i < point.left; ++i) {
    const LaunchRead& read = launch.reads[i];
    const std::int64_t* const keys = point.keys() + read.first_key;
    Array* row = nullptr;
    Patience none(nullptr);
    const Lack lack = find_row(point.frame, read, keys, row, none);
    if (lack.missing || lack.is_impossible) continue;
    point.words()[i] = reinterpret_cast<std::int64_t>(row->element(Value::of(keys[read.key_count - 1])));
  }
}

/// Reads, from the last one on, what is there.
Lack read_elements(LaunchPoint& point, const IndexLaunch& launch, const Function& leaf) {
  Patience none(nullptr);
  for (; point.left > 0; --point.left) {
    const std::uint32_t i = point.left - 1u;
    const KernelType type = leaf.leaf_parameters[point.left];
    std::int64_t& word = point.words()[i];
    if (auto* const future = reinterpret_cast<Future*>(word)) {
      std::uint64_t bits;
      if (!future->is_resolved()) return {future};
      if (!future->holds(kind_of(type), bits)) return impossible();
      word = static_cast<std::int64_t>(bits);
      continue;
    }
    const LaunchRead& read = launch.reads[i];
    const std::int64_t* const keys = point.keys() + read.first_key;
    Array* row = nullptr;
    Lack lack = find_row(point.frame, read, keys, row, none);
    if (lack.missing || lack.is_impossible) return lack;
    std::int64_t value = 0;
    lack = find_element(*row, type, keys[read.key_count - 1], value, none);
    if (lack.missing || lack.is_impossible) return lack;
    word = value;
  }
  return {};
}

}  // namespace

/// @param point  its number, in the loop that has the points  @param keys  of the launch for it
void Launcher::defer_point(PointLaunch& points, std::int64_t point, const std::int64_t* keys) {
  if (!points.group) points.group = make_group(points.piece);
  ++points.deferred;
  ++here_.counters.strands_armed;
  const IndexLaunch& launch = points.piece.site.launch;
  void* const memory = here_.cells().allocate(LaunchPoint::size_of(launch));
  auto* deferred = ::new (memory) LaunchPoint(*points.group, points.number(point));
  std::memcpy(deferred->keys(), keys, launch.keys.size() * sizeof *keys);
  find_places(*deferred, launch);
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const LaunchSink& sink = launch.sinks[i];
    if (sink.kind != LaunchSink::Kind::element) continue;
    const std::int64_t value = range_value(points.low(), points.step(), point);
    deferred->targets()[i] = points.rows[i]->place_of(Value::of(element_key(sink, keys, value)));
  }
  await_elements(*deferred);
}

PointGroup* Launcher::make_group(RangeTask& piece) {
  if (!piece.window) piece.window = make_ref<LoopWindow>(run_.loop_windows, 0);
  piece.window->open();
  piece.frame.retain();
  here_.writers().add(piece.frame, piece.site.written);
  return here_.make<PointGroup>(piece);
}

void Launcher::end_group(PointGroup* group) {
  Frame& frame = group->frame;
  here_.writers().release(frame, group->site.written);
  if (Task* loop = group->window->close(group->points())) here_.push(*loop, frame.priority);
  here_.destroy(group);
  here_.release(&frame);
}

void LaunchPoint::resolved(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  if (!is_replaced) return here.launcher().await_elements(*this);
  Frame* const own = &frame;
  here.launcher().forget_point(this);
  here.release(own);
}

void Launcher::await_elements(LaunchPoint& point) {
  const IndexLaunch& launch = point.group.site.launch;
  const Function& leaf = program_.functions[launch.leaf];
  point.awaits_input = true;
  while (Future* const missing = read_elements(point, launch, leaf).missing)
    if (missing->enlist(point)) return;
  point.awaits_input = false;
  if (!run_.leaves.code(launch.leaf) && here_.kernels().waits_for_code_of(leaf) && run_.leaves.wait(launch.leaf, point))
    return;
  here_.push(point, point.frame.priority);
}

void LaunchPoint::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::iterations, frame, group.instruction);
  here.launcher().run_deferred_point(this);
}

void Launcher::run_deferred_point(LaunchPoint* point) {
  if (run_.is_stopped()) return;  // it is freed with the run
  if (!computes_deferred(*point)) {
    RangeTask piece = point->group.as_piece();
    const PointNumber number = point->number;
    if (piece.inner.count != 0)
      interpret_inner(piece, number.iteration, number.inner, 1);
    else
      interpret_iterations(piece, number.iteration, 1);
  }
  PointGroup& group = point->group;
  forget_point(point);
  if (group.end_points()) end_group(&group);
}

bool Launcher::computes_deferred(LaunchPoint& point) {
  if (point.is_forced || point.left != 0) return false;
  const PointGroup& group = point.group;
  const IndexLaunch& launch = group.site.launch;
  const Function& leaf = program_.functions[launch.leaf];
  LaunchedLeaf computation(leaf, run_.leaves.code(launch.leaf), launch.reads.size());
  if (!has_sinks(point.frame, launch) || !computation.bind(point.frame, launch.captures)) return false;
  std::array<std::int64_t, leaf_word_limit> values;
  std::int64_t value = range_value(group.low, group.step, point.number.iteration);
  if (group.inner.count != 0) {
    if (!run_prelude(point.frame, group.site, value, values.data())) return false;
    computation.set_values(values.data());
    value = range_value(group.inner.low, group.inner.step, point.number.inner);
  }
  std::copy_n(point.words(), point.read_count, computation.inputs());
  std::array<std::int64_t, leaf_word_limit> results;
  if (!call_launched(computation, value, results.data())) return false;
  count_point(computation);
  write_deferred(point, leaf, value, values.data(), results.data());
  return true;
}

/// @param value  of the loop variable  @param values  of the prelude
void Launcher::write_deferred(LaunchPoint& point, const Function& leaf, std::int64_t value, const std::int64_t* values,
                              const std::int64_t* results) {
  const ForeachSite& site = point.group.site;
  for (std::size_t i = 0; i < point.sink_count; ++i) {
    const LaunchSink& sink = site.launch.sinks[i];
    const Value result = decode(results[i], kind_of(leaf.leaf_results[i]));
    if (sink.kind != LaunchSink::Kind::element) {
      update(point.frame, sink, result);
      continue;
    }
    Element* const target = point.targets()[i];
    const bool is_first = target && target->insert(result, here_.wakes());
    here_.wake();
    if (is_first) continue;
    const Value key = Value::of(element_key(sink, point.keys(), value));
    // there is such a row since the point was deferred; rows stay
    Array& array = *sink_row(point.frame, site, sink, point.keys(), values);
    if (!here_.insert(array, key, result)) here_.element_assigned_twice(point.frame, sink.place, array, key);
  }
}

void Launcher::forget_point(LaunchPoint* point) {
  const std::size_t size_bytes = point->size_bytes();
  point->~LaunchPoint();
  here_.cells().deallocate(point, size_bytes);
}

/// It stands for this one in the group.
DeferredCall* LaunchPoint::replacement(CellCache& cache) {
  frame.retain();
  return ::new (cache.allocate(size_bytes())) LaunchPoint(group, number);
}

}  // namespace raddle::vm
