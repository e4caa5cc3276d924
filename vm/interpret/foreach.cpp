// `foreach`: ranges are expanded lazily. See Note [Ranges] in range_task.hpp.
#include <algorithm>
#include <chrono>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/range_task.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t in_place_limit = 8;  ///< shorter loops run at once
constexpr std::int64_t batch_limit = 1024;
constexpr std::int64_t launch_limit = 16'384;  ///< of index launches: their results pass through the cache
constexpr std::int64_t batch_ns = 50'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<const ElementOrder> element_order(const Value& container) {
  auto order = std::make_shared<ElementOrder>();
  order->container = container;
  if (container.kind() == ValueKind::array) {
    container.as_array().for_each([&order](const Value& key, const Value&) { order->keys.push_back(key); });
  } else {
    container.as_bag().for_each_future([&order](Future& element) { order->elements.push_back(&element); });
  }
  return order;
}

}  // namespace

void RangeTask::run(Worker& worker) {
  Interpreter& interpreter = frame.run_state.interpreter(worker).on(worker);
  ++interpreter.counters.tasks;
  interpreter.run_range(this);
}

bool Interpreter::foreach (Frame& frame, const Instruction& in) {
  const ForeachSite& site = program_.foreaches[in.d];
  RangeTask range(frame, site, index_of(in));
  const char* fault = nullptr;
  if (in.opcode == Opcode::foreach_array) {
    range.kind = RangeTask::Kind::elements;
    range.order = element_order(frame.at(in.a).get());
    range.end = static_cast<std::int64_t>(std::max(range.order->keys.size(), range.order->elements.size()));
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
  if (range.end <= in_place_limit && nesting_ < nesting_limit && !worker_->others_are_hungry()) {
    run_iterations(range, 0, range.end);
    drop_writers(frame, site.written);
    return true;
  }
  frame.retain();
  auto* task = make<RangeTask>(range);
  if (site.launch.leaf != no_id && range.end >= run_.options.leaf_threshold) {
    if (run_.options.leaf_threshold == 0 && run_.leaves.wait(site.launch.leaf, *task)) return true;
    run_.leaves.request(site.launch.leaf);
  }
  push(*task);
  return true;
}

void Interpreter::run_range(RangeTask* task) {
  if (run_.is_stopped()) return;  // the task is freed with the run
  if (run_.throttle.park(*task)) return;
  if (task->end - task->next_iteration > 2 * task->batch && worker_->others_are_hungry()) {
    auto* upper = make<RangeTask>(*task);
    const std::int64_t middle = task->next_iteration + (task->end - task->next_iteration) / 2;
    upper->next_iteration = middle;
    upper->batch = task->batch;
    task->end = middle;
    task->frame.retain();
    for (const Operand array : task->site.written) add_writers(task->frame.at(array), 1);
    push(*upper);
  }
  const std::int64_t now = now_ns();
  if (task->pushed_at_ns != 0) {
    const std::int64_t spent = now - task->pushed_at_ns;
    if (spent < batch_ns)
      task->batch = std::min(task->batch * 2, task->site.launch.leaf == no_id ? batch_limit : launch_limit);
    else if (spent > 4 * batch_ns)
      task->batch = std::max<std::int64_t>(task->batch / 2, 1);
  }
  task->pushed_at_ns = now;
  if (worker_->perturbation().is_on()) task->batch = 1 + static_cast<std::int64_t>(worker_->perturbation().next() % 8);
  const std::int64_t first = task->next_iteration;
  const std::int64_t count = std::min(task->batch, task->end - first);
  task->next_iteration += count;
  Frame& frame = task->frame;
  if (task->next_iteration == task->end) {
    run_iterations(*task, first, count);
    drop_writers(frame, task->site.written);
    destroy(task);
    release(&frame);
    return;
  }
  RangeTask piece(*task);
  frame.retain();
  for (const Operand array : piece.site.written) add_writers(frame.at(array), 1);
  push(*task);  // from here on it may belong to another worker
  run_iterations(piece, first, count);
  drop_writers(frame, piece.site.written);
  release(&frame);
}

void Interpreter::run_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  while (count > 0 && piece.site.launch.leaf != no_id && !run_.is_stopped()) {
    const std::optional<std::int64_t> done = run_launch(piece, first, count);
    if (!done) break;
    first += *done;
    count -= *done;
    if (count == 0) break;
    interpret_iterations(piece, first++, 1);  // it fails: with the words and the place of the interpreter
    --count;
  }
  if (count > 0) interpret_iterations(piece, first, count);
}

void Interpreter::interpret_iterations(RangeTask& piece, std::int64_t first, std::int64_t count) {
  for (const WriterShare& share : piece.site.shares) {
    add_writers(piece.frame.at(share.array), share.writers * static_cast<std::uint32_t>(count));
  }
  ++nesting_;
  ++range_nesting_;
  const std::uint64_t loop_stream = mix_stream(piece.frame.stream, position_of(piece.instruction));
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
      release(body);
      body = nullptr;
    }
  }
  --range_nesting_;
  --nesting_;
  if (body) release(body);
}

void Interpreter::pass_element(const ElementOrder& order, std::int64_t number, Frame& body) {
  const auto position = static_cast<std::size_t>(number);
  Future* element = nullptr;
  if (order.keys.empty()) {
    element = order.elements[position];
  } else {
    Array& array = order.container.as_array();
    if (Value value = array.get(order.keys[position])) {
      body.slots()[0].init(std::move(value));
      return;
    }
    element = array.element(order.keys[position]);
  }
  pass(*element, *body.outer, body.slots()[0], body);
}

}  // namespace raddle::vm
