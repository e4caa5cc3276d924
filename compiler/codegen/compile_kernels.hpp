#pragma once
// Kernels -> machine code, with LLVM. No LLVM header is needed to use it.
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "compiler/codegen/leaf_image.hpp"
#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// Compiles the first kernel of the group with those it calls, for the CPU of this machine. Cost: ten milliseconds or
/// more.
/// @error  why it can not be compiled, in words
std::expected<LeafImage, std::string> compile_kernel(const vm::KernelGroup& group, vm::KernelEntry entry,
                                                     bool unrolls_recursion);

enum class LlvmText : std::uint8_t { generated, optimised };

/// All kernels of the group as LLVM IR: `--emit=llvm`.
/// @param entries  of each kernel
std::expected<std::string, std::string> llvm_text(const vm::KernelGroup& group,
                                                  std::span<const vm::KernelEntry> entries, bool unrolls_recursion,
                                                  LlvmText form);

}  // namespace raddle::codegen
