#pragma once
// Kernels -> LLVM IR. Knows nothing of targets or of how the code is run.
#include <span>
#include <string>

#include "vm/kernel/kernel_compiler.hpp"

namespace llvm {
class Module;
}

namespace raddle::codegen {

struct GenerationOptions {
  /// Calls of small recursive functions are made several levels deep without calling: Note [levels] in
  /// kernels_to_llvm.cpp.
  bool unrolls_recursion = true;
  unsigned vector_lanes = 2;        ///< numbers of 8 bytes that a vector of the processor has
  bool has_mask_registers = false;  ///< what compares vectors gives one bit for each lane
  /// For the threads of a device: nothing is forked, and of failures is only told that they are there.
  bool for_device = false;
  bool has_worker = true;  ///< not on a GPU: loops do not look whether the run is to end
};

/// Name of the C function of the kernel of that index, with the signature raddle_leaf_function.
std::string exported_name(vm::KernelId kernel);

/// Adds to `out` for each of `entries` the C function exported_name(), and what it needs (internal, fastcc: see Note
/// [inner functions] in kernels_to_llvm.cpp).
///
/// @param group  verified
void kernels_to_llvm(const vm::KernelGroup& group, std::span<const vm::KernelEntryPoint> entries,
                     const GenerationOptions& options, llvm::Module& out);

}  // namespace raddle::codegen
