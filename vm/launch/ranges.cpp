// Pieces of a `foreach` run, stretch by stretch. See Note [Ranges] in range_task.hpp.
#include <algorithm>
#include <utility>

#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/math/random.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t stretch_limit = 1024;
constexpr std::int64_t launch_limit = 16'384;              ///< of long stretches: their results pass through the cache
constexpr std::int64_t long_stretch_ns = 10 * stretch_ns;  ///< as long as many stretches are left
constexpr std::int64_t whole_chunk_ns = 20 * long_stretch_ns;  ///< likewise, if a chunk takes no longer
constexpr std::int64_t most_lanes = 32;  ///< of machine code: fewer points take as long as so many
constexpr std::int32_t caution_stretches = 64;
constexpr std::size_t large_bytes = std::size_t{512} << 10;  ///< that are no small part of a cache
constexpr std::int64_t point_tasks_limit = 256;              ///< points that are queued one by one: what a cache holds

/// What tells an iteration's stream of random numbers apart: the key, if it is an int, else how many come before.
std::uint64_t told_apart_by(const RangeTask& piece, std::int64_t iteration) {
  const bool has_keys = piece.order && !piece.order->keys.empty();
  if (!has_keys) return static_cast<std::uint64_t>(iteration);
  const Value& key = piece.order->keys[static_cast<std::size_t>(iteration)];
  return static_cast<std::uint64_t>(key.kind() == ValueKind::int_ ? key.as_int() : iteration);
}

bool runs_in_stretches(const ForeachSite& site) { return site.is_launch() && !site.launch.is_projected(); }

}  // namespace

void RangeTask::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::iterations, frame, instruction);
  here.launcher().run_range(this);
}

LoopProfile& Launcher::profile_of(const RangeTask& range) {
  return run_.loop_profiles[static_cast<std::size_t>(&range.site - program_.foreaches.data())];
}

/// Points that have lately waited, mostly for others of their loop, and take less than it takes to hand them over:
/// another worker would only wait. They are run in long stretches, and nobody else gets the rest meanwhile.
bool Launcher::keeps_to_one(const RangeTask& task) {
  constexpr std::int64_t short_ns = 1'000;
  const LoopProfile& profile = profile_of(task);
  return task.site.launch.is_projected() && task.inner.count == 0 && !is_perturbed_ &&
         profile.caution.load(std::memory_order_relaxed) > 0 && !profile.queues.load(std::memory_order_relaxed) &&
         profile.iteration_ns.load(std::memory_order_relaxed) < short_ns && !(task.window && task.window->has_open());
}

/// How many iterations a loop begins with: points of a launch mostly take as long as others did, if none is heavy.
std::int64_t Launcher::sure_count(const RangeTask& range) {
  constexpr std::int64_t sure_ns = 10'000;
  const std::int64_t iteration_ns = profile_of(range).iteration_ns.load(std::memory_order_relaxed);
  if (!range.site.is_launch() || iteration_ns == 0) return 1;
  const Function& leaf = program_.functions[range.site.launch.leaf];
  return leaf.is_heavy || leaf.calls_library ? 1 : std::max<std::int64_t>(1, sure_ns / iteration_ns);
}

/// Index launches write whole chunks of numbers best: pieces end where chunks do, if they are longer than one.
/// @param count  of iterations from `first` on  @return  as many, or somewhat fewer
std::int64_t Launcher::whole_chunks(const RangeTask& task, std::int64_t first, std::int64_t count) {
  const bool has_streams = task.site.is_launch() && task.site.launch.has_streams(task.step);
  if ((!runs_in_stretches(task.site) && !has_streams) || task.step != 1 || count < NumberChunk::size) return count;
  const std::int64_t rest = range_value(task.low, task.step, first + count) & (NumberChunk::size - 1);
  return count - rest > 0 ? count - rest : count;
}

/// How many iterations to run now.
std::int64_t Launcher::stretch_of(const RangeTask& task) {
  if (worker_->perturbation().is_on()) return 1 + static_cast<std::int64_t>(worker_->perturbation().next() % 8);
  const LoopProfile& profile = profile_of(task);
  if (forces_points(task)) return point_tasks_limit;
  if (profile.queues.load(std::memory_order_relaxed) && task.inner.count == 0) return 1;
  const bool is_long = runs_in_stretches(task.site) || keeps_to_one(task);
  std::int64_t limit = is_long ? launch_limit : stretch_limit;
  if (profile.waits.load(std::memory_order_relaxed)) {
    // that points wait is a matter of course, and costs little
    const std::int64_t fresh = task.site.is_launch() || task.inner.count != 0 ? run_.loop_windows.limit() : 1;
    limit = task.window ? std::max<std::int64_t>(1, task.window->left()) : fresh;
  }
  const std::int64_t iteration_ns = std::max<std::int64_t>(1, profile.iteration_ns.load(std::memory_order_relaxed));
  std::int64_t affordable = stretch_ns / iteration_ns;
  if (is_long)
    affordable = std::max(affordable, std::min(long_stretch_ns / iteration_ns, (task.end - task.next_iteration) / 64));
  // a whole chunk of numbers goes into its array as it is; thieves may take the rest meanwhile
  if (runs_in_stretches(task.site) && NumberChunk::size * iteration_ns <= whole_chunk_ns &&
      (task.end - task.next_iteration) / 64 >= NumberChunk::size)
    affordable = std::max(affordable, NumberChunk::size);
  // whoever ran fewer of long points than it has lanes would measure longer ones, and run fewer still
  if (has_lanes(task.site)) affordable = std::max(affordable, most_lanes);
  const std::int64_t most = std::clamp<std::int64_t>(affordable, 1, limit);
  const std::int64_t least = has_lanes(task.site) ? std::min(most_lanes, most) : 1;
  return std::clamp<std::int64_t>(std::max(2 * task.stretch, sure_count(task)), least, most);
}

/// Machine code computes several points side by side, as far as can be seen here.
bool Launcher::has_lanes(const ForeachSite& site) const {
  constexpr std::uint32_t most_cost = 4000;  // larger kernels get none
  if (!runs_in_stretches(site)) return false;
  const LaneCode& code = program_.functions[site.launch.leaf].lane_code;
  return code.exists() && code.cost <= most_cost;
}

/// Memory for what it writes is still to be taken, as it is by the first stretch, and much of it. The inner loop of a
/// nest is part of what has begun.
bool Launcher::begins_large(const RangeTask& task) const {
  if (task.site.is_in_nest) return false;
  std::size_t bytes = 0;
  for (const LaunchSink& sink : task.site.launch.sinks) {
    if (!sink.is_of_array()) continue;
    const Future& variable = task.frame.at(sink.target);
    if (!variable.is_resolved() || variable.is_failed() || variable.kind() != ValueKind::array) continue;
    const OpenNumbers* const numbers = object_in<Array>(variable).numbers();
    if (numbers && !numbers->storage()) bytes += numbers->count() * size_of_number(numbers->kind());
  }
  return bytes >= large_bytes;
}

void Launcher::split(RangeTask& task) {
  auto* upper = here_.make<RangeTask>(task);
  const std::int64_t half = (task.end - task.next_iteration) / 2;
  upper->next_iteration = task.end = task.next_iteration + whole_chunks(task, task.next_iteration, half);
  task.frame.retain();
  here_.writers().add(task.frame, task.site.written);
  here_.push(*upper, upper->frame.priority);
}

void Launcher::run_range(RangeTask* task) {
  if (run_.is_stopped()) return;  // the task is freed with the run
  if (run_.throttle.park(*task)) return;
  const bool has_stopped = std::exchange(task->has_stopped, false);
  if (const Ref<LoopWindow> window = task->window; window && (has_stopped || window->is_full()) && window->keep(*task))
    return;
  if (run_.devices && hand_over(*task)) return;
  if (std::exchange(task->is_new, false) && task->frame.priority == 0 && !worker_->perturbation().one_in(2) &&
      begins_large(*task))
    return here_.push_last(*task, task->issued_ns);
  LoopProfile& profile = profile_of(*task);
  task->stretch = stretch_of(*task);
  if (task->inner.count != 0 && task->site.nest.is_chained) {
    if (splits_inner(*task)) split_inner(*task);
  } else if (task->end - task->next_iteration > 2 * task->stretch && worker_->others_are_hungry() &&
             profile.caution.load(std::memory_order_relaxed) == 0) {
    split(*task);
  }
  const std::int64_t first = task->next_iteration;
  std::int64_t count = task->end - first;
  if (count > task->stretch) count = whole_chunks(*task, first, task->stretch);
  if (task->inner.count != 0 && task->site.nest.is_chained) {
    // nobody else could go on with what follows
    task->next_iteration += run_stretch(*task, first, count);
    return task->next_iteration != task->end ? here_.push(*task, task->frame.priority) : finish_range(task);
  }
  task->next_iteration += count;
  const std::int64_t expected_ns = count * profile.iteration_ns.load(std::memory_order_relaxed);
  const bool is_short =
      expected_ns != 0 && expected_ns <= stretch_ns && !profile.queues.load(std::memory_order_relaxed);
  if (task->next_iteration == task->end || is_short || keeps_to_one(*task)) {
    run_stretch(*task, first, count);
    return task->next_iteration != task->end ? here_.push(*task, task->frame.priority) : finish_range(task);
  }
  if (!task->window) task->window = make_ref<LoopWindow>(run_.loop_windows, 0);
  RangeTask piece(*task);
  piece.window = task->window;
  Frame& frame = task->frame;
  frame.retain();
  here_.writers().add(frame, piece.site.written);
  here_.push(*task, task->frame.priority);  // from here on it may belong to another worker
  run_stretch(piece, first, count);
  here_.writers().release(frame, piece.site.written);
  here_.release(&frame);
}

void Launcher::finish_range(RangeTask* task) {
  Frame& frame = task->frame;
  here_.writers().release(frame, task->site.written);
  here_.destroy(task);
  here_.release(&frame);
}

/// @return how many it has run: a part of a nest may stop before
std::int64_t Launcher::run_stretch(RangeTask& piece, std::int64_t first, std::int64_t count) {
  LoopProfile& profile = profile_of(piece);
  const std::uint64_t pushed_before = here_.pushed(), native_before = here_.counters.iterations_native;
  const std::int64_t start = now_ns();
  // the loop is shared out already, unless this takes much longer than it should
  here_.interpreter().share_no_calls_before(start + 2 * stretch_ns);
  const Ran ran = run_iterations(piece, first, count);
  // a stretch during which the system had taken the processor away says little: it counts for so much and no more
  constexpr std::int64_t most_growth = 16;
  const std::int64_t before = profile.iteration_ns.load(std::memory_order_relaxed);
  const std::int64_t measured = std::max<std::int64_t>(1, (now_ns() - start) / std::max<std::int64_t>(1, ran.count));
  const std::int64_t spent_ns = measured * ran.count;
  profile.iteration_ns.store(before == 0 ? measured : std::min(measured, before * most_growth),
                             std::memory_order_relaxed);
  profile.is_native.store(here_.counters.iterations_native != native_before, std::memory_order_relaxed);
  profile.queues.store(here_.pushed() != pushed_before, std::memory_order_relaxed);
  profile.waits.store(ran.waits, std::memory_order_relaxed);
  if (piece.site.is_launch()) count_long_points(piece.site.launch.leaf, measured, piece.end - first - ran.count);
  const std::int32_t caution = profile.caution.load(std::memory_order_relaxed);
  if (ran.waits)
    profile.caution.store(caution_stretches, std::memory_order_relaxed);
  else if (caution > 0)
    profile.caution.store(
        std::max<std::int32_t>(
            0, caution - static_cast<std::int32_t>(1 + std::min(spent_ns, long_stretch_ns) / stretch_ns)),
        std::memory_order_relaxed);
  return ran.count;
}

Launcher::Ran Launcher::run_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  bool waits = false;
  if (piece.inner.count != 0 && run_nest(piece, first, count, waits)) return {count, waits};
  if (forces_points(piece) && queue_points(piece, first, count)) return {count, false};
  const std::int64_t all = count;
  const IndexLaunch& launch = piece.site.launch;
  while (count > 0 && piece.site.is_launch() && !run_.is_stopped()) {
    const std::optional<std::int64_t> done =
        makes_stretches(launch) ? run_launch(piece, first, count) : run_points(piece, first, count, waits);
    if (!done) break;
    first += *done;
    count -= *done;
    if (count == 0) break;
    waits |= interpret_iterations(piece, first++, 1);  // mostly it fails: with the interpreter's words and place
    --count;
  }
  if (count > 0) waits |= interpret_iterations(piece, first, count);
  return {all, waits};
}

bool Launcher::interpret_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  const std::size_t outer_writers = here_.writers().open(piece.frame, piece.site.shares, count);
  ++here_.nesting.activations;
  ++here_.nesting.iterations;
  const FollowedRank none(here_, RankWish::any);  // all of them at one rank would be one after the other
  const std::uint64_t loop_stream = here_.stream_at(piece.frame, piece.instruction);
  bool waits = false;
  Frame* body = nullptr;
  for (std::int64_t i = first; i < first + count && !run_.is_stopped(); ++i) {
    const std::uint64_t stream = math::mix_stream(loop_stream, told_apart_by(piece, i));
    if (!body) body = here_.make_frame(piece.site.body, &piece.frame, stream);
    body->stream = stream;
    Future* slots = body->slots();
    switch (piece.kind) {
      case RangeTask::Kind::ints: slots[0].init(Value::of(range_value(piece.low, piece.step, i))); break;
      case RangeTask::Kind::floats: slots[0].init(Value::of(range_value(piece.float_low, piece.float_step, i))); break;
      case RangeTask::Kind::elements: pass_element(*piece.order, i, *body); break;
    }
    if (piece.site.parameter_count > 1) {
      const bool has_keys = piece.order && !piece.order->keys.empty();
      slots[1].init(has_keys ? piece.order->keys[static_cast<std::size_t>(i)] : Value::of(i));
    }
    ++here_.counters.iterations;
    here_.interpreter().run_region(*body, body->body.region);
    if (body->is_exclusive()) {
      body->reset();
    } else {
      waits = true;
      if (!piece.window) piece.window = make_ref<LoopWindow>(run_.loop_windows, 0);
      piece.window->open();
      body->window = piece.window;
      here_.release(body);
      body = nullptr;
    }
  }
  --here_.nesting.iterations;
  --here_.nesting.activations;
  if (body) here_.release(body);
  here_.writers().close(outer_writers);
  return waits;
}

void Launcher::pass_element(const ElementOrder& order, std::int64_t number, Frame& body) {
  const auto position = static_cast<std::size_t>(number);
  Future* element = nullptr;
  if (order.container.kind() == ValueKind::bag) {
    element = order.elements[position];
  } else {
    Array& array = order.container.as_array();
    const Value key = order.is_dense ? Value::of(number) : order.keys[position];
    if (Value value = array.get(key)) {
      body.slots()[0].init(std::move(value));
      return;
    }
    element = array.element(key);
  }
  here_.interpreter().pass(*element, *body.outer, body.slots()[0], body);
}

}  // namespace raddle::vm
