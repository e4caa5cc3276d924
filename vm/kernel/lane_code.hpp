#pragma once
// What the lane machine wants to know of a kernel besides what it does.
#include <cstdint>
#include <span>
#include <vector>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Kernels that call themselves or C functions are not run by lanes, nor those that need too many registers.
struct LaneCode {
  /// What a point costs, in operations of a kernel; those in a loop count as if it had a few iterations. 0: the kernel
  /// can not be run.
  std::uint32_t cost = 0;
  std::uint32_t register_count = 0;     ///< with those that the machine needs itself
  std::uint32_t frame_count = 0;        ///< with those of all that is called, at most
  std::uint32_t most_variables = 0;     ///< of one loop
  std::vector<std::uint8_t> is_joined;  ///< by register: several branches assign it

  bool exists() const { return cost != 0; }
};

/// By kernel. @param kernels  those that do not exist have no lane code either
std::vector<LaneCode> plan_lanes(std::span<const Kernel> kernels);

}  // namespace raddle::vm
