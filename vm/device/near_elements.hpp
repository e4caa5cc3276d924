#pragma once
#include <cstdint>
#include <optional>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Of an array point p of a loop reads the elements p + first to p + last only.
struct NearElements {
  std::int64_t first = 0, last = 0;
  bool operator==(const NearElements&) const = default;
};

/// What a call of the kernel reads of an array, where its first parameter is the point. @return nothing: it may be any
/// element
std::optional<NearElements> near_elements(const Kernel& kernel, KernelRegister array);

}  // namespace raddle::vm
