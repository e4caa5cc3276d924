#pragma once
// Inside of the plugin: GPUs of NVIDIA, for LLVM.
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <expected>
#include <memory>
#include <string>

#include "vm/kernel/kernel.hpp"

namespace raddle::codegen {

/// sm_70, PTX ISA 7.8: Note [PTX] in ptx_text.cpp.
std::expected<std::unique_ptr<llvm::TargetMachine>, std::string> nvptx_target();
void set_target(llvm::Module& module, const llvm::TargetMachine& target);
/// Why there can be no code for GPUs, in words; "": there can.
std::string refusal_of_nvptx(const vm::KernelGroup& group);
/// Verifies the module, and makes PTX of it.
std::expected<std::string, std::string> optimised_ptx(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace raddle::codegen
