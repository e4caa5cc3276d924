#pragma once
// What compiled kernels are found by in the cache.
#include <string>
#include <string_view>

#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// What is asked of the code generator.
struct CodeRequest {
  std::string kernels;  ///< a group as vm::write_kernels() has it; code is made for the first one
  vm::KernelEntry entry = {};
  vm::KernelTarget target = vm::KernelTarget::host;
  /// Calls of small recursive functions are made several levels deep without calling: Note [levels] in
  /// kernels_to_llvm.cpp.
  bool unrolls_recursion = true;
};

/// All that the code depends on: two requests of one key have the same code. Kernels have the positions of their
/// operations, and must, for code that fails says where.
/// @param compiler  identity of the build of the compiler
/// @param cpu       identity of the CPU
std::string kernel_key(const CodeRequest& request, std::string_view compiler, std::string_view cpu);

}  // namespace raddle::codegen
