// `foreach`: ranges are expanded lazily. See Note [Ranges] in range_task.hpp.
#include <algorithm>
#include <utility>

#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t in_place_limit = 8;    ///< shorter loops run at once
constexpr std::int64_t in_place_ns = 20'000;  ///< likewise: a thief needs about as long to get hold of them

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

}  // namespace

bool Launcher::foreach (Frame& frame, const Instruction& in) {
  const ForeachSite& site = program_.foreaches[in.d];
  RangeTask range(frame, site, here_.index_of(in));
  const char* fault = nullptr;
  if (site.fusion.loops != 0) here_.counters.launches.add(site.fusion);
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
    here_.interpreter().fail_results(frame, in, here_.failure_at(frame, here_.index_of(in), fault));
    return false;
  }
  if (range.end == 0) {
    here_.writers().release(frame, site.written);
    return true;
  }
  start_range(range);
  return true;
}

void LaunchWait::resolved(Worker& worker) {
  Frame& frame = range.frame;
  RunWorker& here = frame.run_state.on(worker);
  awaits_input = false;
  if (!is_replaced) return here.push(*this, frame.priority);
  here.destroy(this);
  here.release(&frame);
}

DeferredCall* LaunchWait::replacement(CellCache& cache) {
  range.frame.retain();
  return ::new (cache.allocate(sizeof(LaunchWait))) LaunchWait(range);
}

void LaunchWait::run(Worker& worker) {
  Frame& frame = range.frame;
  RunWorker& here = frame.run_state.on(worker);
  here.launcher().start_range(range, is_forced);
  here.destroy(this);
  here.release(&frame);
}

void Launcher::start_range(RangeTask& range, bool is_forced) {
  Frame& frame = range.frame;
  const ForeachSite& site = range.site;
  while (Future* const awaited = awaited_input(range, is_forced)) {
    if (range.issued_ns == 0) range.issued_ns = now_ns();
    auto* wait = here_.make<LaunchWait>(range);
    frame.retain();
    wait->awaits_input = true;
    if (awaited->enlist(*wait)) return;
    here_.destroy(wait);
    here_.release(&frame);
  }
  if (site.gathering != no_id && can_gather(range)) {
    RangeTask gathering(range, program_.foreaches[site.gathering]);
    return begin_range(gathering);
  }
  begin_range(range);
}

/// All arrays that its points read elements of are closed, and lie packed.
bool Launcher::can_gather(const RangeTask& range) {
  const IndexLaunch& launch = range.site.launch;
  const std::vector<KernelType>& parameters = program_.functions[launch.leaf].leaf_parameters;
  for (std::size_t i = 0; i < launch.reads.size(); ++i) {
    const Future& variable = range.frame.at(launch.reads[i].array);
    if (!variable.is_resolved() || variable.is_failed() || variable.kind() != ValueKind::array) return false;
    const Buffer* const numbers = object_in<Array>(variable).packed_numbers();
    if (!numbers || numbers->kind() != kind_of(parameters[i + 1])) return false;
  }
  return range.kind == RangeTask::Kind::ints;
}

void Launcher::begin_range(RangeTask& range) {
  Frame& frame = range.frame;
  const ForeachSite& site = range.site;
  if (site.is_nest()) open_nest(range);
  if (run_.devices && goes_whole(range)) return;
  const bool is_long = fills_long_row(range);
  if (range.end <= in_place_limit && !needs_code(site) && !is_long && here_.interpreter().may_nest() &&
      !worker_->others_are_hungry()) {
    run_iterations(range, 0, range.end);
    here_.writers().release(frame, site.written);
    return;
  }
  const bool has_points = site.is_launch() || range.inner.count != 0;
  const std::int64_t points = range.end * std::max<std::int64_t>(1, range.inner.count);
  const bool is_launch = has_points && (is_long || calls_of(site.launch, points) >= run_.options.leaf_threshold);
  // points of a nest that wait for code one by one would be run one by one, too; those that write rows are interpreted
  const bool waits_for_code =
      is_launch &&
      (run_.options.leaf_threshold == 0 || is_long ||
       (site.is_nest() && run_.leaves.stage(site.launch.leaf) < LeafTable::Stage::native &&
        (site.launch.has_rows() || here_.kernels().waits_for_code_of(program_.functions[site.launch.leaf]))));
  if (is_launch && site.is_nest()) run_.leaves.request(site.nest.prelude);
  if (is_launch && site.launch.projection != no_id) run_.leaves.request(site.launch.projection);
  if (is_launch && !waits_for_code) run_.leaves.request(site.launch.leaf);
  if (!waits_for_code && is_short(range) && here_.interpreter().may_nest()) {
    run_in_place(range);
    return;
  }
  if (run_.devices) profile_of(range).count.store(range.end, std::memory_order_relaxed);
  frame.retain();
  if (range.issued_ns == 0) range.issued_ns = now_ns();
  auto* task = here_.make<RangeTask>(range);
  if (waits_for_code && run_.leaves.wait(site.launch.leaf, *task)) return;
  here_.push(*task, task->frame.priority);
}

/// A launch that waits for machine code, and has no other form but frames: a few of its points take longer there than
/// the code to be made.
bool Launcher::needs_code(const ForeachSite& site) const {
  return run_.options.leaf_threshold == 0 && site.is_launch() && !site.launch.is_projected() &&
         !program_.functions[site.launch.leaf].lane_code.exists() &&
         run_.leaves.stage(site.launch.leaf) < LeafTable::Stage::native;
}

/// A single point that fills a long row is a loop over its elements, each of which takes microseconds in frames. (Loops
/// in order become such points: opt/launches/own_sequences.hpp.)
bool Launcher::fills_long_row(const RangeTask& range) {
  constexpr std::int64_t long_row = 1024;
  if (range.end != 1 || !range.site.is_launch() || range.inner.count != 0 ||
      run_.leaves.stage(range.site.launch.leaf) >= LeafTable::Stage::native)
    return false;
  return range.site.launch.waits_for_code || std::ranges::any_of(range.site.launch.sinks, [&](const LaunchSink& sink) {
           return sink.kind == LaunchSink::Kind::row && range.frame.at(sink.width).is_resolved() &&
                  width_of(range.frame, sink) >= long_row;
         });
}

bool Launcher::is_short(const RangeTask& range) {
  const std::int64_t iteration_ns = profile_of(range).iteration_ns.load(std::memory_order_relaxed);
  return iteration_ns != 0 && range.end <= in_place_ns / iteration_ns && !worker_->perturbation().is_on() &&
         run_.options.inlining == Inlining::adaptive;
}

/// Short loops need no queue: the iterations run now. Should they turn out to be long, the rest is queued. A worker
/// that looks for work may have the upper half.
void Launcher::run_in_place(RangeTask& range) {
  LentRange* const upper = lends(range) ? lend_upper_half(range) : nullptr;
  run_own_part(range);
  if (!upper) return;
  const bool is_back = worker_->take_back(*upper);
  profile_of(range).lends.store(!is_back, std::memory_order_relaxed);
  if (is_back) {
    Frame& frame = upper->range.frame;
    run_own_part(upper->range);
    here_.destroy(upper);
    here_.release(&frame);
  } else if (upper->give_up()) {
    here_.destroy(upper);
  }
}

void LentRange::run(Worker& worker) { range.frame.run_state.on(worker).launcher().run_lent(this); }

void Launcher::run_lent(LentRange* lent) {
  auto* task = here_.make<RangeTask>(lent->range);
  task->stretch = lent->range.stretch;
  if (lent->give_up()) here_.destroy(lent);
  task->run(*worker_);
}

/// It is worth while as soon as a half takes longer than it takes a thief that is awake to get hold of it.
bool Launcher::lends(const RangeTask& range) {
  constexpr std::int64_t least_ns = 2'000;
  if (run_.pool.capacity() == 1 || range.frame.priority != 0 || range.end < 2) return false;
  if (range.inner.count != 0 && range.site.nest.is_chained) return false;
  const LoopProfile& profile = profile_of(range);
  return range.end * profile.iteration_ns.load(std::memory_order_relaxed) >= least_ns &&
         (profile.lends.load(std::memory_order_relaxed) || worker_->others_are_hungry());
}

LentRange* Launcher::lend_upper_half(RangeTask& range) {
  const std::int64_t middle = range.end - range.end / 2;
  auto* upper = here_.make<LentRange>(range);
  upper->range.next_iteration = range.end = middle;
  range.frame.retain();
  here_.writers().add(range.frame, range.site.written);
  worker_->push(*upper);  // not counted: the loop around need not be more careful for this
  return upper;
}

void Launcher::run_own_part(RangeTask& range) {
  const std::int64_t start = now_ns(), first = range.next_iteration;
  for (std::int64_t count = sure_count(range); range.next_iteration < range.end; count *= 2) {
    const std::int64_t left = range.end - range.next_iteration;
    count = count < left ? whole_chunks(range, range.next_iteration, count) : left;
    run_iterations(range, range.next_iteration, count);
    range.next_iteration += count;
    const std::int64_t spent = now_ns() - start;
    profile_of(range).iteration_ns.store(std::max<std::int64_t>(1, spent / (range.next_iteration - first)),
                                         std::memory_order_relaxed);
    if (spent > stretch_ns) break;
  }
  if (range.next_iteration == range.end) return here_.writers().release(range.frame, range.site.written);
  range.frame.retain();
  here_.push(*here_.make<RangeTask>(range), range.frame.priority);
}

}  // namespace raddle::vm
