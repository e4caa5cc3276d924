#pragma once
// Kernels -> PTX. No LLVM header, and nothing of CUDA, is needed to use it.
#include <expected>
#include <string>

#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// What vm::KernelCompiler::request_ptx() is about, for the first kernel of the group. Cost: some ten milliseconds.
/// @param group  verified  @param entry  of the kind `range`
/// @error  why there is none, in words
std::expected<std::string, std::string> ptx_text(const vm::KernelGroup& group, vm::KernelEntry entry);

}  // namespace raddle::codegen
