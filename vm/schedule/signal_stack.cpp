#include "vm/schedule/signal_stack.hpp"

#include <signal.h>
#include <sys/mman.h>

namespace raddle::vm {

/// Pages that no handler needs are none.
static constexpr std::size_t signal_stack_bytes = std::size_t{128} << 10;

SignalStack::SignalStack() {
  stack_t own = {};
  if (sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_DISABLE) == 0) return;
  void* const memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  own = {.ss_sp = memory, .ss_flags = 0, .ss_size = signal_stack_bytes};
  if (sigaltstack(&own, nullptr) == 0)
    memory_ = memory;
  else
    munmap(memory, signal_stack_bytes);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
  munmap(memory_, signal_stack_bytes);
}

}  // namespace raddle::vm
