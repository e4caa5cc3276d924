#pragma once
// Kernels of a program -> PTX of a super kernel.
#include <expected>
#include <span>
#include <string>

#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// What vm::KernelCompiler::request_super_ptx() is about.
/// @param ranges  verified; at least one  @error  why there is none, in words
std::expected<std::string, std::string> super_ptx_text(std::span<const vm::RangeKernel> ranges);

}  // namespace raddle::codegen
