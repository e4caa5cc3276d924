// Nests of index launches: the inner loops of all iterations are run from here, without a frame for an iteration of the
// outer one. See Note [Ranges] in range_task.hpp for how a nest is split.
#include <algorithm>
#include <limits>

#include "vm/interpret/run_state.hpp"
#include "vm/math/random.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t inner_limit = 1 << 16;  ///< longer inner loops are worth a frame, and are split as any loop
constexpr std::int64_t share_ns = 2'000;       ///< a thief needs about as long to get hold of points
constexpr std::int64_t rows_at_once = 128;     ///< that all parts make together
constexpr std::int64_t rows_in_turn = 32;      ///< of them, that one part makes one after the other
constexpr std::int64_t look_ns = 20'000;       ///< between two looks whether others are hungry

/// @return false: it is not there
bool read_int(const Future& future, std::int64_t& number) {
  if (!future.is_resolved() || future.is_failed()) return false;
  number = static_cast<std::int64_t>(future.peek());
  return true;
}

}  // namespace

void Launcher::open_nest(RangeTask& range) {
  const LaunchNest& nest = range.site.nest;
  InnerRange inner;
  std::int64_t high = 0;
  if (range.kind != RangeTask::Kind::ints || worker_->queues_all() || !read_int(range.frame.at(nest.low), inner.low) ||
      !read_int(range.frame.at(nest.high), high) || !read_int(range.frame.at(nest.step), inner.step) ||
      step_fault(inner.low, inner.step))
    return;
  inner.count = inner.end = range_count(inner.low, high, inner.step);
  if (inner.count == 0 || inner.count > inner_limit ||
      range.end > std::numeric_limits<std::int64_t>::max() / inner.count)
    return;
  range.inner = inner;
  PointLaunch points(*worker_, range, program_.functions[range.site.launch.leaf],
                     run_.leaves.code(range.site.launch.leaf));
  if (!has_sinks(range.frame, range.site.launch) || !bind(points, 0)) range.inner = {};
}

bool Launcher::run_nest(RangeTask& piece, std::int64_t first, std::int64_t& count, bool& waits) {
  const IndexLaunch& launch = piece.site.launch;
  // parts of the inner loop are not interpreted as a whole: open_nest() has seen that all is there
  if (piece.inner.is_whole() && (worker_->queues_all() || worker_->perturbation().one_in(4))) return false;
  const std::int64_t calls = calls_of(launch, count * (piece.inner.end - piece.inner.first));
  PointLaunch points(*worker_, piece, program_.functions[launch.leaf], launched_code(launch.leaf, calls));
  if (!bind(points, calls)) return false;
  points.iteration = first;
  const std::int64_t iteration_ns = profile_of(piece).iteration_ns.load(std::memory_order_relaxed);
  if (iteration_ns != 0) {
    points.point_ns = iteration_ns / (piece.inner.end - piece.inner.first);
    points.part = std::max<std::int64_t>(1, look_ns / std::max<std::int64_t>(1, *points.point_ns));
  }
  ValuesAhead ahead;
  open_rows(points);
  while (points.iteration < first + count && !run_.is_stopped() && !piece.has_stopped) {
    if (const std::int64_t rows = run_rows(points, first + count, ahead); rows != 0) {
      points.iteration += rows;
      continue;
    }
    make_rows(points);
    run_nest_iteration(points, find_values(points, points.iteration, first + count, ahead, points.values.data()));
    ++points.iteration;
    piece.has_stopped = points.waits && points.patience.is_at_end();
  }
  count = points.iteration - first;
  finish(points);
  launch_chunks_.clear();
  waits |= points.waits;
  return true;
}

/// Makes this part's share of the rows that later iterations write to, so that the workers of all parts find them. All
/// parts do so at the same iterations: who makes rows while another one computes is the one that all others wait for.
/// They are made long before their turn: a processor that reads a row also fetches the memory behind it, which nobody
/// should be about to write then.
void Launcher::make_rows(PointLaunch& points) {
  RangeTask& piece = points.piece;
  const InnerRange& inner = piece.inner;
  const std::int64_t end = std::min(piece.end, (points.iteration / rows_at_once + 2) * rows_at_once);
  if (piece.rows_made >= end || inner.is_whole()) return;
  const auto is_row = [](const LaunchSink& sink) { return !sink.row_keys.empty(); };
  const bool has_rows = points.has_fixed_rows && std::ranges::any_of(piece.site.launch.sinks, is_row);
  ValuesAhead ahead;
  std::array<std::int64_t, leaf_word_limit> values;
  SinkArrays rows;
  for (std::int64_t i = std::max(piece.rows_made, points.iteration); has_rows && i < end; ++i) {
    const std::int64_t turn = i / rows_in_turn;
    if (turn % inner.count < inner.first || turn % inner.count >= inner.end) continue;
    if (find_values(points, i, std::min(end, (turn + 1) * rows_in_turn), ahead, values.data()))
      find_sinks(piece.frame, piece.site, nullptr, values.data(), rows);
  }
  piece.rows_made = end;
}

/// What the prelude computes for an iteration: some before `end` are computed together, if that does not take long.
/// @return false: it does not end well
bool Launcher::find_values(PointLaunch& points, std::int64_t iteration, std::int64_t end, ValuesAhead& ahead,
                           std::int64_t* values) {
  const RangeTask& piece = points.piece;
  LaunchedLeaf& prelude = *points.prelude;
  const std::int64_t value = range_value(piece.low, piece.step, iteration);
  if (prelude.function.is_heavy || prelude.function.calls_library) return call_launched(prelude, value, values);
  const std::size_t count = prelude.function.leaf_results.size();
  if (iteration < ahead.first || iteration >= ahead.end) {
    ahead.rows.resize(count * points_at_once);
    ahead.first = iteration;
    ahead.end = iteration +
                compute_ahead(prelude, value, piece.step, std::min(points_at_once, end - iteration), ahead.rows.data());
    if (iteration == ahead.end) return false;
  }
  for (std::size_t k = 0; k < count; ++k)
    values[k] = ahead.rows[k * points_at_once + static_cast<std::size_t>(iteration - ahead.first)];
  return true;
}

/// @param is_possible  the prelude has ended well
void Launcher::run_nest_iteration(PointLaunch& points, bool is_possible) {
  RangeTask& piece = points.piece;
  if (!is_possible) {
    // it fails, for all parts of the inner loop alike: told once
    if (piece.inner.first == 0) points.waits |= interpret_iterations(piece, points.iteration, 1);
    return;
  }
  points.knows_rows = false;
  points.computation.set_values(points.values.data());
  if (points.projection) points.projection->set_values(points.values.data());
  std::int64_t end = piece.inner.end;
  for (std::int64_t next = piece.inner.first; next < end && !run_.is_stopped();) {
    const bool is_worth_it = !points.point_ns || (end - next) / 2 * *points.point_ns >= share_ns;
    if (end - next > 1 && is_worth_it && !is_perturbed_ && worker_->others_are_hungry()) {
      const std::int64_t middle = end - (end - next) / 2;
      share_inner(piece, points.iteration, middle, end);
      end = middle;
    }
    const std::int64_t part = std::min(points.part, end - next);
    const bool may_grow = part == points.part;
    const std::int64_t start = may_grow ? now_ns() : 0;
    const std::int64_t done = run_inner(points, next, part);
    next += done;
    if (done == part) {
      if (may_grow && now_ns() - start < look_ns / 2) points.part *= 2;
      continue;
    }
    points.waits |= interpret_inner(piece, points.iteration, next, 1);
    ++next;
  }
}

/// @return how many it has run: the next one is to be interpreted
std::int64_t Launcher::run_inner(PointLaunch& points, std::int64_t first, std::int64_t count) {
  LaunchedLeaf& leaf = points.computation;
  const IndexLaunch& launch = points.piece.site.launch;
  const bool is_stretch = leaf.code || (leaf.function.lane_code.exists() && count > 1);
  if (launch.has_rows() && !leaf.code) return 0;
  if (launch.is_projected() || !is_stretch) return run_points(points, first, count);
  if (!find_rows(points, nullptr) || !takes_rows(launch, points.rows, points.step())) return 0;
  if (!leaf.code) lane_machine_.prepare(launch.leaf, leaf.arguments(0));
  const std::int64_t value = range_value(points.low(), points.step(), first);
  return run_parts(points.piece, leaf, points.rows, points.values.data(), value, points.step(), count);
}

bool Launcher::run_prelude(Frame& frame, const ForeachSite& site, std::int64_t value, std::int64_t* values) {
  LaunchedLeaf prelude(program_.functions[site.nest.prelude], run_.leaves.code(site.nest.prelude), 0);
  return prelude.bind(frame, site.nest.captures) && call_launched(prelude, value, values);
}

/// Points of an iteration whose prelude ends well. @return true if some of them wait for something
bool Launcher::interpret_inner(RangeTask& piece, std::int64_t iteration, std::int64_t first, std::int64_t count) {
  const LaunchNest& nest = piece.site.nest;
  const std::int64_t value = range_value(piece.low, piece.step, iteration);
  std::array<std::int64_t, leaf_word_limit> values;
  if (!run_prelude(piece.frame, piece.site, value, values.data())) return false;  // can not be
  const std::uint64_t loop_stream = here_.stream_at(piece.frame, piece.instruction);
  Frame* const body = here_.make_frame(piece.site.body, &piece.frame,
                                       math::mix_stream(loop_stream, static_cast<std::uint64_t>(iteration)));
  body->slots()[0].init(Value::of(value));
  if (piece.site.parameter_count > 1) body->slots()[1].init(Value::of(iteration));
  const Function& prelude = program_.functions[nest.prelude];
  for (std::size_t i = 0; i < nest.values.size(); ++i)
    if (Future& variable = body->at(nest.values[i]); !variable.is_resolved())
      variable.init(decode(values[i], kind_of(prelude.leaf_results[i])));
  RangeTask inner(*body, program_.foreaches[program_.instructions[nest.inner].d], nest.inner);
  inner.low = piece.inner.low;
  inner.step = piece.inner.step;
  inner.end = piece.inner.count;
  inner.window = piece.window;
  const bool waits = interpret_iterations(inner, first, count);
  piece.window = inner.window;
  here_.release(body);
  return waits;
}

// ---------------------------------------------------------------- shared out

/// Others have nothing to do, and this part of the inner loop is more than a worker's share. What is run by chance is
/// not split, as whole iterations of it may be interpreted.
bool Launcher::splits_inner(const RangeTask& task) {
  const std::int64_t share = std::max<std::int64_t>(1, task.inner.count / run_.pool.capacity());
  return !is_perturbed_ && !worker_->queues_all() && task.end - task.next_iteration > 1 &&
         task.inner.end - task.inner.first > share && worker_->others_are_hungry();
}

void Launcher::split_inner(RangeTask& task) {
  auto* upper = here_.make<RangeTask>(task);
  upper->inner.first = task.inner.end = task.inner.first + (task.inner.end - task.inner.first + 1) / 2;
  task.frame.retain();
  here_.writers().add(task.frame, task.site.written);
  here_.push(*upper, upper->frame.priority);
}

/// Points of one iteration.
void Launcher::share_inner(const RangeTask& piece, std::int64_t iteration, std::int64_t first, std::int64_t end) {
  auto* upper = here_.make<RangeTask>(piece);
  upper->next_iteration = iteration;
  upper->end = iteration + 1;
  upper->inner.first = first;
  upper->inner.end = end;
  piece.frame.retain();
  here_.writers().add(piece.frame, piece.site.written);
  worker_->push(*upper, piece.frame.priority);  // not counted: the loop need not be more careful for this
}

}  // namespace raddle::vm
