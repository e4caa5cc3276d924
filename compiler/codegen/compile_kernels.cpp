#include "compiler/codegen/compile_kernels.hpp"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include "compiler/codegen/kernels_to_llvm.hpp"
#include "compiler/codegen/link_leaf.hpp"
#include "compiler/codegen/optimise.hpp"

namespace raddle::codegen {
namespace {

/// Makes code for the CPU of this machine that can lie anywhere.
std::expected<std::unique_ptr<llvm::TargetMachine>, std::string> host() {
  static const bool initialised = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialised) return std::unexpected("LLVM does not know this machine");
  const std::string triple = llvm::sys::getProcessTriple();
  std::string fault;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, fault);
  if (target == nullptr) return std::unexpected(fault);
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) features.AddFeature(feature.first(), feature.second);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // Note [agreement] in kernels_to_llvm.cpp
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features.getString(), options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

/// Numbers of 8 bytes in a vector.
unsigned vector_lanes(const llvm::TargetMachine& target) {
  const llvm::MCSubtargetInfo& features = *target.getMCSubtargetInfo();
  if (features.checkFeatures("+avx512f,+avx512dq,+avx512vl")) return 8;
  return features.checkFeatures("+avx2") ? 4 : 2;
}

std::expected<void, std::string> generate(const vm::KernelGroup& group, std::span<const vm::KernelEntryPoint> entries,
                                          bool unrolls_recursion, const llvm::TargetMachine& target,
                                          llvm::Module& out) {
  out.setDataLayout(target.createDataLayout());
  out.setTargetTriple(target.getTargetTriple().str());
  GenerationOptions options{.unrolls_recursion = unrolls_recursion, .vector_lanes = vector_lanes(target)};
  options.has_mask_registers = options.vector_lanes == 8;  // AVX-512
  options.for_device = entries.front().entry.kind == vm::KernelEntry::range;
  kernels_to_llvm(group, entries, options, out);
  std::string faults;
  llvm::raw_string_ostream stream(faults);
  if (llvm::verifyModule(out, &stream)) return std::unexpected("LLVM refuses the code made: " + faults);
  return {};
}

std::expected<llvm::SmallString<0>, std::string> object_code(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (target.addPassesToEmitMC(passes, context, stream)) return std::unexpected("LLVM makes no code for this machine");
  passes.run(module);
  return object;
}

}  // namespace

std::expected<LeafImage, std::string> compile_kernel(const vm::KernelGroup& group, vm::KernelEntry entry,
                                                     bool unrolls_recursion) {
  const auto target = host();
  if (!target) return std::unexpected(target.error());
  llvm::LLVMContext context;
  llvm::Module module("leaf", context);
  const vm::KernelEntryPoint entries[] = {{0, entry}};
  if (auto made = generate(group, entries, unrolls_recursion, **target, module); !made)
    return std::unexpected(made.error());
  optimise(module, **target);
  const auto object = object_code(module, **target);
  if (!object) return std::unexpected(object.error());
  return link_leaf(std::string_view(object->data(), object->size()), exported_name(0));
}

std::expected<std::string, std::string> llvm_text(const vm::KernelGroup& group,
                                                  std::span<const vm::KernelEntry> entries, bool unrolls_recursion,
                                                  LlvmText form) {
  const auto target = host();
  if (!target) return std::unexpected(target.error());
  std::vector<vm::KernelEntryPoint> all;
  for (vm::KernelId id = 0; id < group.size(); ++id) all.push_back({id, entries[id]});
  llvm::LLVMContext context;
  llvm::Module module("leaves", context);
  if (auto made = generate(group, all, unrolls_recursion, **target, module); !made)
    return std::unexpected(made.error());
  if (form == LlvmText::optimised) optimise(module, **target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace raddle::codegen
