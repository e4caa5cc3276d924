#pragma once
// Large arrays of calls of AppKernels, which lie on a card by themselves.
#include <span>
#include <vector>

#include "gpu/call_queue.hpp"
#include "gpu/memory/batch_run.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

inline bool is_large(const vm::AddressedMemory& memory) { return memory.size_bytes >= CallQueue::large_bytes; }

/// Call by call. @param which  what they read, or what they fill
inline std::vector<Operand> large_operands(std::span<const vm::DeviceCall> calls,
                                           std::span<const vm::AddressedMemory> vm::DeviceCall::*which) {
  std::vector<Operand> all;
  for (const vm::DeviceCall& call : calls)
    for (const vm::AddressedMemory& memory : call.*which)
      if (is_large(memory)) all.push_back(operand_of(call.words[memory.word], memory));
  return all;
}

}  // namespace raddle::gpu
