#pragma once
#include <vector>

#include "vm/kernel/kernel.hpp"

namespace raddle::emit {

/// @return by parameter: each output depends on it, on whatever way the kernel takes. May say no where it is so,
/// and yes where a loop makes no round or a function does not look at its argument
std::vector<bool> needed_parameters(const vm::Kernel& kernel);

}  // namespace raddle::emit
