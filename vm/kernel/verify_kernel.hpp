#pragma once
// Whether a kernel is one: the rules of Note [kernels].
#include <span>
#include <string>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Whatever is in it: of a kernel without faults, all parts exist that others name, registers have the types that
/// operations take and are assigned on every path before they are read, and parts are numbered in the order in which
/// they come, so that kernels which do the same are equal.
/// @return what is wrong; nothing if all is well
std::string verify_kernel(const Kernel& kernel);

/// Each of them, and that calls are of one of them and with its types.
std::string verify_kernels(std::span<const Kernel> kernels);

}  // namespace raddle::vm
