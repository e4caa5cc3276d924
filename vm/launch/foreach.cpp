// `foreach`: ranges are expanded lazily. See Note [Ranges] in range_task.hpp.
#include <algorithm>
#include <utility>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t in_place_limit = 8;    ///< shorter loops run at once
constexpr std::int64_t in_place_ns = 20'000;  ///< likewise: a thief needs about as long to get hold of them
constexpr std::int64_t batch_limit = 1024;
constexpr std::int64_t launch_limit = 16'384;  ///< of long batches: their results pass through the cache
constexpr std::int64_t batch_ns = 50'000;
constexpr std::int64_t long_batch_ns = 10 * batch_ns;        ///< as long as many batches are left
constexpr std::int64_t whole_chunk_ns = 20 * long_batch_ns;  ///< likewise, if a chunk takes no longer
constexpr std::int32_t caution_batches = 64;
constexpr std::int64_t point_tasks_limit = 256;  ///< points that are queued one by one: what a cache holds

std::shared_ptr<const ElementOrder> element_order(const Value& container, std::size_t& count) {
  auto order = std::make_shared<ElementOrder>();
  order->container = container;
  if (container.kind() != ValueKind::array) {
    container.as_bag().for_each_future([&order](Future& element) { order->elements.push_back(&element); });
    count = order->elements.size();
  } else if (order->is_dense = container.as_array().is_packable(count); !order->is_dense) {
    container.as_array().for_each([&order](const Value& key, const Value&) { order->keys.push_back(key); });
    count = order->keys.size();
  }
  return order;
}

bool is_batch_launch(const ForeachSite& site) { return site.is_launch() && site.launch.projection == no_id; }

/// Index launches write whole chunks of numbers best: pieces end where chunks do, if they are longer than one.
/// @param count  of iterations from `first` on  @return  as many, or somewhat fewer
std::int64_t whole_chunks(const RangeTask& task, std::int64_t first, std::int64_t count) {
  if (!is_batch_launch(task.site) || task.step != 1 || count < NumberChunk::size) return count;
  const std::int64_t rest = range_value(task.low, task.step, first + count) & (NumberChunk::size - 1);
  return count - rest > 0 ? count - rest : count;
}

}  // namespace

void RangeTask::run(Worker& worker) {
  Interpreter& interpreter = frame.run_state.interpreter(worker).on(worker);
  const TaskTimer timer(interpreter, TaskKind::iterations, frame, instruction);
  interpreter.run_range(this);
}

bool Interpreter::foreach (Frame& frame, const Instruction& in) {
  const ForeachSite& site = program_.foreaches[in.d];
  RangeTask range(frame, site, index_of(in));
  const char* fault = nullptr;
  if (in.opcode == Opcode::foreach_array) {
    range.kind = RangeTask::Kind::elements;
    std::size_t count = 0;
    range.order = element_order(frame.at(in.a).get(), count);
    range.end = static_cast<std::int64_t>(count);
  } else if (in.opcode == Opcode::foreach_range_float) {
    range.kind = RangeTask::Kind::floats;
    range.float_low = frame.at(in.a).get().as_float();
    range.float_step = frame.at(in.c).get().as_float();
    if (fault = step_fault(range.float_low, range.float_step); !fault)
      range.end = range_count(range.float_low, frame.at(in.b).get().as_float(), range.float_step);
  } else {
    range.low = static_cast<std::int64_t>(frame.at(in.a).peek());
    range.step = static_cast<std::int64_t>(frame.at(in.c).peek());
    if (fault = step_fault(range.low, range.step); !fault)
      range.end = range_count(range.low, static_cast<std::int64_t>(frame.at(in.b).peek()), range.step);
  }
  if (fault) {
    fail_results(frame, in, failure_at(frame, index_of(in), fault));
    return false;
  }
  if (range.end == 0) {
    drop_writers(frame, site.written);
    return true;
  }
  start_range(range);
  return true;
}

void LaunchWait::resolved(Worker& worker) {
  Frame& frame = range.frame;
  frame.run_state.interpreter(worker).on(worker).push(*this, frame.priority);
}

void LaunchWait::run(Worker& worker) {
  Frame& frame = range.frame;
  Interpreter& interpreter = frame.run_state.interpreter(worker).on(worker);
  interpreter.start_range(range);
  interpreter.destroy(this);
  interpreter.release(&frame);
}

void Interpreter::start_range(RangeTask& range) {
  Frame& frame = range.frame;
  const ForeachSite& site = range.site;
  while (Future* const awaited = promise_results(range)) {
    auto* wait = make<LaunchWait>(range);
    frame.retain();
    if (awaited->enlist(*wait)) return;
    destroy(wait);
    release(&frame);
  }
  if (site.is_nest()) open_nest(range);
  if (range.end <= in_place_limit && may_nest() && !worker_->others_are_hungry()) {
    run_iterations(range, 0, range.end);
    drop_writers(frame, site.written);
    return;
  }
  const bool has_points = site.is_launch() || range.inner.count != 0;
  const std::int64_t points = range.end * std::max<std::int64_t>(1, range.inner.count);
  const bool is_launch = has_points && calls_of(site.launch, points) >= run_.options.leaf_threshold;
  // points of a nest that wait for code one by one would be run one by one, too
  const bool waits_for_code =
      is_launch &&
      (run_.options.leaf_threshold == 0 || (site.is_nest() && waits_for_code_of(program_.functions[site.launch.leaf]) &&
                                            run_.leaves.stage(site.launch.leaf) < LeafTable::Stage::native));
  if (is_launch && site.is_nest()) run_.leaves.request(site.nest.prelude);
  if (is_launch && site.launch.projection != no_id) run_.leaves.request(site.launch.projection);
  if (is_launch && !waits_for_code) run_.leaves.request(site.launch.leaf);
  if (!waits_for_code && is_short(range) && may_nest()) {
    run_in_place(range);
    return;
  }
  frame.retain();
  auto* task = make<RangeTask>(range);
  if (waits_for_code && run_.leaves.wait(site.launch.leaf, *task)) return;
  push(*task, task->frame.priority);
}

bool Interpreter::is_short(const RangeTask& range) {
  const std::int64_t iteration_ns = profile_of(range).iteration_ns.load(std::memory_order_relaxed);
  return iteration_ns != 0 && range.end <= in_place_ns / iteration_ns && !worker_->perturbation().is_on() &&
         run_.options.inlining == Inlining::adaptive;
}

/// Short loops need no queue: the iterations run now. Should they turn out to be long, the rest is queued. A worker
/// that looks for work may have the upper half.
void Interpreter::run_in_place(RangeTask& range) {
  LentRange* const upper = lends(range) ? lend_upper_half(range) : nullptr;
  run_own_part(range);
  if (!upper) return;
  const bool is_back = worker_->take_back(*upper);
  profile_of(range).lends.store(!is_back, std::memory_order_relaxed);
  if (is_back) {
    Frame& frame = upper->range.frame;
    run_own_part(upper->range);
    destroy(upper);
    release(&frame);
  } else if (upper->give_up()) {
    destroy(upper);
  }
}

void LentRange::run(Worker& worker) { range.frame.run_state.interpreter(worker).on(worker).run_lent(this); }

void Interpreter::run_lent(LentRange* lent) {
  auto* task = make<RangeTask>(lent->range);
  task->batch = lent->range.batch;
  if (lent->give_up()) destroy(lent);
  task->run(*worker_);
}

/// It is worth while as soon as a half takes longer than it takes a thief that is awake to get hold of it.
bool Interpreter::lends(const RangeTask& range) {
  constexpr std::int64_t least_ns = 2'000;
  if (run_.pool.capacity() == 1 || range.frame.priority != 0 || range.end < 2) return false;
  if (range.inner.count != 0 && range.site.nest.is_chained) return false;
  const LoopProfile& profile = profile_of(range);
  return range.end * profile.iteration_ns.load(std::memory_order_relaxed) >= least_ns &&
         (profile.lends.load(std::memory_order_relaxed) || worker_->others_are_hungry());
}

LentRange* Interpreter::lend_upper_half(RangeTask& range) {
  const std::int64_t middle = range.end - range.end / 2;
  auto* upper = make<LentRange>(range);
  upper->range.next_iteration = range.end = middle;
  range.frame.retain();
  for (const Operand array : range.site.written) add_writers(range.frame.at(array), 1);
  worker_->push(*upper);  // not counted: the loop around need not be more careful for this
  return upper;
}

void Interpreter::run_own_part(RangeTask& range) {
  const std::int64_t start = now_ns(), first = range.next_iteration;
  for (std::int64_t count = 1; range.next_iteration < range.end; count *= 2) {
    count = std::min(count, range.end - range.next_iteration);
    run_iterations(range, range.next_iteration, count);
    range.next_iteration += count;
    const std::int64_t spent = now_ns() - start;
    profile_of(range).iteration_ns.store(std::max<std::int64_t>(1, spent / (range.next_iteration - first)),
                                         std::memory_order_relaxed);
    if (spent > batch_ns) break;
  }
  if (range.next_iteration == range.end) return drop_writers(range.frame, range.site.written);
  range.frame.retain();
  push(*make<RangeTask>(range), range.frame.priority);
}

LoopProfile& Interpreter::profile_of(const RangeTask& range) {
  return run_.loop_profiles[static_cast<std::size_t>(&range.site - program_.foreaches.data())];
}

/// Points that have lately waited, mostly for others of their loop, and take less than it takes to hand them over:
/// another worker would only wait. They are run in long batches, and nobody else gets the rest meanwhile.
bool Interpreter::keeps_to_one(const RangeTask& task) {
  constexpr std::int64_t short_ns = 1'000;
  const LoopProfile& profile = profile_of(task);
  return task.site.launch.projection != no_id && task.inner.count == 0 && !is_perturbed_ &&
         profile.caution.load(std::memory_order_relaxed) > 0 && !profile.queues.load(std::memory_order_relaxed) &&
         profile.iteration_ns.load(std::memory_order_relaxed) < short_ns && !(task.window && task.window->has_open());
}

/// How many iterations to run now.
std::int64_t Interpreter::batch_of(const RangeTask& task) {
  if (worker_->perturbation().is_on()) return 1 + static_cast<std::int64_t>(worker_->perturbation().next() % 8);
  const LoopProfile& profile = profile_of(task);
  if (forces_points(task)) return point_tasks_limit;
  if (profile.queues.load(std::memory_order_relaxed) && task.inner.count == 0) return 1;
  const bool is_long = is_batch_launch(task.site) || keeps_to_one(task);
  std::int64_t limit = is_long ? launch_limit : batch_limit;
  if (profile.waits.load(std::memory_order_relaxed)) {
    // that points wait is a matter of course, and costs little
    const std::int64_t fresh = task.site.is_launch() || task.inner.count != 0 ? run_.loop_windows.limit() : 1;
    limit = task.window ? std::max<std::int64_t>(1, task.window->left()) : fresh;
  }
  const std::int64_t iteration_ns = std::max<std::int64_t>(1, profile.iteration_ns.load(std::memory_order_relaxed));
  std::int64_t affordable = batch_ns / iteration_ns;
  if (is_long)
    affordable = std::max(affordable, std::min(long_batch_ns / iteration_ns, (task.end - task.next_iteration) / 64));
  // a whole chunk of numbers goes into its array as it is; thieves may take the rest meanwhile
  if (is_batch_launch(task.site) && NumberChunk::size * iteration_ns <= whole_chunk_ns &&
      (task.end - task.next_iteration) / 64 >= NumberChunk::size)
    affordable = std::max(affordable, NumberChunk::size);
  return std::clamp<std::int64_t>(2 * task.batch, 1, std::clamp<std::int64_t>(affordable, 1, limit));
}

void Interpreter::split(RangeTask& task) {
  auto* upper = make<RangeTask>(task);
  const std::int64_t half = (task.end - task.next_iteration) / 2;
  upper->next_iteration = task.end = task.next_iteration + whole_chunks(task, task.next_iteration, half);
  task.frame.retain();
  for (const Operand array : task.site.written) add_writers(task.frame.at(array), 1);
  push(*upper, upper->frame.priority);
}

void Interpreter::run_range(RangeTask* task) {
  if (run_.is_stopped()) return;  // the task is freed with the run
  if (run_.throttle.park(*task)) return;
  const bool has_stopped = std::exchange(task->has_stopped, false);
  if (const Ref<LoopWindow> window = task->window; window && (has_stopped || window->is_full()) && window->keep(*task))
    return;
  LoopProfile& profile = profile_of(*task);
  task->batch = batch_of(*task);
  if (task->inner.count != 0 && task->site.nest.is_chained) {
    if (splits_inner(*task)) split_inner(*task);
  } else if (task->end - task->next_iteration > 2 * task->batch && worker_->others_are_hungry() &&
             profile.caution.load(std::memory_order_relaxed) == 0) {
    split(*task);
  }
  const std::int64_t first = task->next_iteration;
  std::int64_t count = task->end - first;
  if (count > task->batch) count = whole_chunks(*task, first, task->batch);
  if (task->inner.count != 0 && task->site.nest.is_chained) {
    // nobody else could go on with what follows
    task->next_iteration += run_batch(*task, first, count);
    return task->next_iteration != task->end ? push(*task, task->frame.priority) : finish_range(task);
  }
  task->next_iteration += count;
  const std::int64_t expected_ns = count * profile.iteration_ns.load(std::memory_order_relaxed);
  const bool is_short = expected_ns != 0 && expected_ns <= batch_ns && !profile.queues.load(std::memory_order_relaxed);
  if (task->next_iteration == task->end || is_short || keeps_to_one(*task)) {
    run_batch(*task, first, count);
    return task->next_iteration != task->end ? push(*task, task->frame.priority) : finish_range(task);
  }
  if (!task->window) task->window = make_ref<LoopWindow>(run_.loop_windows, 0);
  RangeTask piece(*task);
  piece.window = task->window;
  Frame& frame = task->frame;
  frame.retain();
  for (const Operand array : piece.site.written) add_writers(frame.at(array), 1);
  push(*task, task->frame.priority);  // from here on it may belong to another worker
  run_batch(piece, first, count);
  drop_writers(frame, piece.site.written);
  release(&frame);
}

void Interpreter::finish_range(RangeTask* task) {
  Frame& frame = task->frame;
  drop_writers(frame, task->site.written);
  destroy(task);
  release(&frame);
}

/// @return how many it has run: a part of a nest may stop before
std::int64_t Interpreter::run_batch(RangeTask& piece, std::int64_t first, std::int64_t count) {
  LoopProfile& profile = profile_of(piece);
  const std::uint64_t pushed_before = pushed_;
  const std::int64_t start = now_ns();
  next_share_ns_ =
      start + 2 * batch_ns;  // the loop is shared out already, unless this takes much longer than it should
  const Ran ran = run_iterations(piece, first, count);
  // a batch during which the system had taken the processor away says little: it counts for so much and no more
  constexpr std::int64_t most_growth = 16;
  const std::int64_t before = profile.iteration_ns.load(std::memory_order_relaxed);
  const std::int64_t measured = std::max<std::int64_t>(1, (now_ns() - start) / std::max<std::int64_t>(1, ran.count));
  const std::int64_t spent_ns = measured * ran.count;
  profile.iteration_ns.store(before == 0 ? measured : std::min(measured, before * most_growth),
                             std::memory_order_relaxed);
  profile.queues.store(pushed_ != pushed_before, std::memory_order_relaxed);
  profile.waits.store(ran.waits, std::memory_order_relaxed);
  const std::int32_t caution = profile.caution.load(std::memory_order_relaxed);
  if (ran.waits)
    profile.caution.store(caution_batches, std::memory_order_relaxed);
  else if (caution > 0)
    profile.caution.store(std::max<std::int32_t>(
                              0, caution - static_cast<std::int32_t>(1 + std::min(spent_ns, long_batch_ns) / batch_ns)),
                          std::memory_order_relaxed);
  return ran.count;
}

Interpreter::Ran Interpreter::run_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  bool waits = false;
  if (piece.inner.count != 0 && run_nest(piece, first, count, waits)) return {count, waits};
  if (forces_points(piece) && queue_points(piece, first, count)) return {count, false};
  const std::int64_t all = count;
  const IndexLaunch& launch = piece.site.launch;
  while (count > 0 && piece.site.is_launch() && !run_.is_stopped()) {
    const std::optional<std::int64_t> done =
        makes_batches(launch) ? run_launch(piece, first, count) : run_points(piece, first, count, waits);
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

bool Interpreter::interpret_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  const std::size_t outer_writers = open_writers(piece, count);
  ++nesting_;
  ++range_nesting_;
  const std::uint64_t loop_stream = mix_stream(piece.frame.stream, position_of(piece.instruction));
  bool waits = false;
  Frame* body = nullptr;
  for (std::int64_t i = first; i < first + count && !run_.is_stopped(); ++i) {
    const std::uint64_t stream = mix_stream(loop_stream, static_cast<std::uint64_t>(i));
    if (!body) body = make_frame(piece.site.body, &piece.frame, stream);
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
    ++counters.iterations;
    run_region(*body, body->body.region);
    if (body->is_exclusive()) {
      body->reset();
    } else {
      waits = true;
      if (!piece.window) piece.window = make_ref<LoopWindow>(run_.loop_windows, 0);
      piece.window->open();
      body->window = piece.window;
      release(body);
      body = nullptr;
    }
  }
  --range_nesting_;
  --nesting_;
  if (body) release(body);
  close_writers(outer_writers);
  return waits;
}

void Interpreter::pass_element(const ElementOrder& order, std::int64_t number, Frame& body) {
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
  pass(*element, *body.outer, body.slots()[0], body);
}

}  // namespace raddle::vm
