#pragma once
// Kernels -> PTX. No LLVM header, and nothing of CUDA, is needed to use it.
#include <expected>
#include <string>

#include "vm/kernel/kernel.hpp"

namespace raddle::codegen {

/// What vm::KernelCompiler::request_ptx() is about, for the first kernel of the group. Cost: some ten milliseconds.
/// @param group  verified
/// @error  why there is none, in words
std::expected<std::string, std::string> ptx_text(const vm::KernelGroup& group);

}  // namespace raddle::codegen
