#include "compiler/codegen/nvptx/nvptx_target.hpp"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>

#include <algorithm>

#include "compiler/codegen/kernel_facts.hpp"
#include "compiler/codegen/optimise.hpp"

// There is no header of LLVM's that declares these, but for those of all targets.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace raddle::codegen {

std::expected<std::unique_ptr<llvm::TargetMachine>, std::string> nvptx_target() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string fault;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, fault);
  if (target == nullptr) return std::unexpected(fault);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // Note [agreement] in kernels_to_llvm.cpp
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "sm_70", "+ptx78", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void set_target(llvm::Module& module, const llvm::TargetMachine& target) {
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple().str());
}

std::string refusal_of_nvptx(const vm::KernelGroup& group) {
  const GroupFacts facts(group);
  for (vm::KernelId id = 0; id < group.size(); ++id) {
    if (facts.is_recursive(id)) return "`" + group[id].name + "` calls itself";
    if (std::ranges::any_of(group[id].reductions, vm::needs_deviation, &vm::KernelReduction::reducer))
      return "`" + group[id].name + "` computes the deviation of many numbers";
    if (!group[id].foreign_calls.empty())
      return "`" + group[id].name + "` calls the C function `" + group[id].foreign_calls.front().symbol + "`";
  }
  return "";
}

std::expected<std::string, std::string> optimised_ptx(llvm::Module& module, llvm::TargetMachine& target) {
  std::string faults;
  llvm::raw_string_ostream fault_stream(faults);
  if (llvm::verifyModule(module, &fault_stream)) return std::unexpected("LLVM refuses the code made: " + faults);
  optimise(module, target);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return std::unexpected("LLVM makes no PTX");
  passes.run(module);
  return std::string(text);
}

}  // namespace raddle::codegen
