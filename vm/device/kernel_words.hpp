#pragma once
// What kernels that devices are given compute, in words for messages.
#include <string>
#include <string_view>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Behind the name of a function: the kernel's points are single calls of it.
inline constexpr std::string_view single_calls_suffix = ".calls";

/// "a loop", "a loop of `f`", "a single call of `f`".
std::string words_of(const KernelGroup& kernels);

}  // namespace raddle::vm
