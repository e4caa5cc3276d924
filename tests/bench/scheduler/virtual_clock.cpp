#include "tests/bench/scheduler/virtual_clock.hpp"

#include <cstdlib>

namespace raddle::simulated {

namespace {
constexpr std::size_t stack_bytes = 64 * 1024;
VirtualClock* beginning = nullptr;  // whose fiber begins: makecontext hands over nothing but ints
}  // namespace

void VirtualClock::run(unsigned count, const std::function<void(unsigned)>& body) {
  body_ = &body;
  fibers_ = std::vector<Fiber>(count);
  for (unsigned i = 0; i < count; ++i) {
    Fiber& fiber = fibers_[i];
    fiber.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    getcontext(&fiber.begin);
    fiber.begin.uc_stack.ss_sp = fiber.stack.get();
    fiber.begin.uc_stack.ss_size = stack_bytes;
    fiber.begin.uc_link = &caller_;  // the last one goes there
    makecontext(&fiber.begin, &VirtualClock::begin, 0);
    ready_.push({0, i});
  }
  running_ = ready_.top().worker;
  ready_.pop();
  fibers_[running_].has_begun = true;
  beginning = this;
  swapcontext(&caller_, &fibers_[running_].begin);
}

void VirtualClock::begin() {
  VirtualClock& clock = *beginning;
  (*clock.body_)(clock.running_);
  if (!clock.ready_.empty()) clock.go_to_earliest();
}

void VirtualClock::wait_until(Nanoseconds time) {
  fibers_[running_].now = time;
  if (ready_.empty() || ready_.top() > Turn{time, running_}) return;
  ready_.push({time, running_});
  sleep();
}

// _setjmp and _longjmp, as swapcontext makes a system call.
void VirtualClock::sleep() {
  if (_setjmp(fibers_[running_].resume) == 0) go_to_earliest();
}

void VirtualClock::go_to_earliest() {
  if (ready_.empty()) std::abort();  // all sleep: a wake-up has been lost
  const Turn turn = ready_.top();
  ready_.pop();
  running_ = turn.worker;
  Fiber& fiber = fibers_[running_];
  fiber.now = turn.at;
  if (fiber.has_begun) _longjmp(fiber.resume, 1);
  fiber.has_begun = true;
  beginning = this;
  setcontext(&fiber.begin);
}

}  // namespace raddle::simulated
