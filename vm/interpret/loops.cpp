// `for` and `iterate`: a frame for each iteration, the same one again when nothing in it is awaited any more. The next
// iteration starts as soon as it is known that there is one, even if its variables are still to come.
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/loop_runner.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/math/random.hpp"

namespace raddle::vm {

namespace {

/// Tasks queued by iterations before the loop gives way to them.
constexpr std::uint64_t queued_limit = 256;
/// Iterations before it gives way to whatever is there: a loop may be waiting for what others do.
constexpr std::uint32_t turn_limit = 4096;

}  // namespace

void Interpreter::start_loop(Frame& frame, const Instruction& in, bool is_forced) {
  const LoopSite& site = program_.loops[in.d];
  if (!is_forced && here_.loops().has_kernel(site) && waits(frame, in)) return;
  Frame* iteration = here_.make_frame(site.body, &frame, here_.stream_at(frame, here_.index_of(in)));
  if (run_kernel_from_start(frame, site)) {
    for (std::size_t i = 0; i < site.initial.size(); ++i) iteration->slots()[i].init(std::move(loop_values_[i]));
  } else {
    for (std::size_t i = 0; i < site.initial.size(); ++i)
      pass(frame.at(site.initial[i]), frame, iteration->slots()[i], *iteration);
  }
  here_.writers().add(frame, site.shares);
  // a loop may be long: elsewhere if possible, while this worker goes on
  const bool in_place =
      may_nest() && (here_.nesting.iterations > 0 || run_.pool.capacity() == 1) && !worker_->perturbation().one_in(2);
  if (in_place) return activate(iteration);
  iteration->followed_rank = here_.followed_rank;
  here_.push(*iteration, iteration->priority);
}

/// For what a loop's kernel takes, and for its machine code if calls wait for theirs.
bool Interpreter::waits(Frame& frame, const Instruction& in) {
  const LoopSite& site = program_.loops[in.d];
  const auto make_start = [&] {
    frame.retain();
    return here_.make<LoopStart>(frame, in);
  };
  const auto drop = [&](LoopStart* start) {
    Frame* around = &frame;
    here_.destroy(start);
    here_.release(around);
  };
  while (Future* const awaited = here_.loops().awaited_input(frame, site)) {
    LoopStart* const start = make_start();
    start->awaits_input = true;
    if (awaited->enlist(*start)) return true;
    drop(start);
  }
  if (run_.options.leaf_threshold != 0) return false;
  LoopStart* const start = make_start();
  if (run_.leaves.wait(site.kernel.leaf, *start)) return true;
  drop(start);
  return false;
}

/// @return true: loop_values_ are those of the loop's variables where the interpreter begins
bool Interpreter::run_kernel_from_start(Frame& frame, const LoopSite& site) {
  if (!here_.loops().has_kernel(site)) return false;
  loop_values_.clear();
  for (const Operand initial : site.initial) {
    const Future& value = frame.at(initial);
    if (!value.is_resolved() || value.is_failed()) return false;
    loop_values_.push_back(value.get());
  }
  here_.loops().run(frame, site, loop_values_);
  return true;
}

/// @return the frame of the next iteration with a reference, see run_strand; null if there is none (now)
Frame* Interpreter::loop_test(Frame& frame, const Instruction& in) {
  const LoopSite& site = program_.loops[in.d];
  const bool condition = frame.at(in.b).peek() != 0;
  if (condition == site.test_after) {
    end_loop(frame, site, here_.index_of(in));
    return nullptr;
  }
  enter_arm(frame, site.step);
  if (run_.is_stopped()) return nullptr;
  here_.writers().add(*frame.outer, site.shares);
  Frame* next = next_iteration(frame, site);
  if (next != &frame) {  // this one stays open
    if (!frame.window) {
      frame.window = make_ref<LoopWindow>(run_.loop_windows, /*base=*/1);
      frame.window->open();
    }
    next->window = frame.window;
    next->window->open();
    if (next->window->is_full() && next->window->keep(*next)) return nullptr;
  }
  const bool goes_on = here_.pushed() - loop_pushed_ < queued_limit && ++loop_turns_ < turn_limit;
  if (goes_on && !run_.throttle.is_tight()) return next;
  loop_pushed_ = here_.pushed();
  loop_turns_ = 0;
  if (next == &frame) frame.retain();                       // the caller gives its own reference up
  if (!run_.throttle.park(*next)) run_.pool.inject(*next);  // behind everything that is queued
  return nullptr;
}

void Interpreter::end_loop(Frame& frame, const LoopSite& site, std::uint32_t instruction) {
  for (const WriterShare& share : site.step.shares) here_.writers().release(frame, share.array);
  Frame& outer = *frame.outer;
  for (std::size_t i = 0; i < site.results.size(); ++i) {
    Future& value = frame.slots()[i];
    Future& result = outer.at(site.results[i]);
    if (value.is_resolved())
      here_.set(result, value.get(), outer, instruction, site.results[i]);
    else
      pass_later(value, frame, outer, site.results[i], instruction);
  }
  here_.writers().release(outer, site.written);
}

Frame* Interpreter::next_iteration(Frame& frame, const LoopSite& site) {
  const std::uint64_t stream = math::mix_stream(frame.stream, std::uint64_t{1});
  const std::size_t count = site.nexts.size();
  bool is_complete = frame.is_exclusive();
  for (std::size_t i = 0; i < count && is_complete; ++i) is_complete = frame.at(site.nexts[i]).is_resolved();
  if (!is_complete) {
    Frame* next = here_.make_frame(site.body, frame.outer, stream);
    for (std::size_t i = 0; i < count; ++i) pass(frame.at(site.nexts[i]), frame, next->slots()[i], *next);
    return next;
  }
  loop_values_.clear();
  for (std::size_t i = 0; i < count; ++i) loop_values_.push_back(frame.at(site.nexts[i]).get());
  if (here_.loops().run(*frame.outer, site, loop_values_)) loop_turns_ = turn_limit;
  frame.reset();
  frame.stream = stream;
  for (std::size_t i = 0; i < count; ++i) frame.slots()[i].init(std::move(loop_values_[i]));
  return &frame;
}

}  // namespace raddle::vm
