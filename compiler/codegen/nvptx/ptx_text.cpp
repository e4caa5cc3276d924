// Note [PTX]. A GPU runs the code that the CPU runs, by the same emitters, so that it has the same bits: nothing is
// contracted, mathematics comes from vm/math. What a GPU has no place for is left out: failures are told by the least
// number of a point that has one (a reduction in global memory, relaxed: it is read when the launch has ended), and
// loops do not look whether the run is to end. Recursion and functions in C are refused before LLVM sees them.
//
// ISA 7.8 is that of CUDA 11.8: drivers from 520 on take it. sm_70 is the first architecture whose threads of a warp
// may wait for each other; a driver makes code of its own card of it.
#include "compiler/codegen/nvptx/ptx_text.hpp"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/nvptx/nvptx_target.hpp"
#include "compiler/codegen/word_reader.hpp"

namespace raddle::codegen {
namespace {

/// A thread for each point, or for several if there are more.
void emit_kernel(ModuleEmitter& module, std::size_t reads) {
  llvm::Function* const range = module.range(0, reads);
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& argument : range->args())
    if (argument.getArgNo() > 2) types.push_back(word_type(argument.getType()));
  types.push_back(llvm::PointerType::get(module.llvm_context, 0));
  llvm::Type* const nothing = llvm::Type::getVoidTy(module.llvm_context);
  auto* kernel = llvm::Function::Create(llvm::FunctionType::get(nothing, types, /*isVarArg=*/false),
                                        llvm::Function::ExternalLinkage, vm::range_kernel_name, module.out);
  llvm::Metadata* const note[] = {
      llvm::ValueAsMetadata::get(kernel), llvm::MDString::get(module.llvm_context, "kernel"),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(module.llvm_context), 1))};
  module.out.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(module.llvm_context, note));

  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.llvm_context, "entry", kernel));
  const auto special = [&](llvm::Intrinsic::ID id) {
    return builder.CreateZExt(builder.CreateIntrinsic(id, {}, {}), builder.getInt64Ty());
  };
  llvm::Value* const block_size = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  llvm::Value* const first = builder.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), block_size);
  std::vector<llvm::Value*> arguments = {
      llvm::ConstantPointerNull::get(builder.getPtrTy()),
      builder.CreateAdd(first, special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x)),
      builder.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), block_size)};
  for (unsigned i = 0; i + 1 < kernel->arg_size(); ++i) {
    arguments.push_back(value_of_word(builder, kernel->getArg(i), range->getArg(i + 3)->getType()));
  }
  llvm::Value* const made = builder.CreateCall(range, arguments);
  llvm::Value* const count = arguments[5];
  auto* fails = llvm::BasicBlock::Create(module.llvm_context, "fails", kernel);
  auto* end = llvm::BasicBlock::Create(module.llvm_context, "end", kernel);
  builder.CreateCondBr(builder.CreateICmpSLT(made, count), fails, end);
  builder.SetInsertPoint(fails);
  builder.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, kernel->getArg(kernel->arg_size() - 1), made, llvm::MaybeAlign(8),
                          llvm::AtomicOrdering::Monotonic);
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

}  // namespace

std::expected<std::string, std::string> ptx_text(const vm::KernelGroup& group, vm::KernelEntry entry) {
  if (const std::string why = refusal_of_nvptx(group); !why.empty()) return std::unexpected(why);
  const auto target = nvptx_target();
  if (!target) return std::unexpected(target.error());
  llvm::LLVMContext context;
  llvm::Module module("leaf", context);
  set_target(module, **target);
  ModuleEmitter emitter(group, {.unrolls_recursion = false, .for_device = true, .has_worker = false}, module);
  emit_kernel(emitter, entry.reads);
  emitter.emit_pending();
  return optimised_ptx(module, **target);
}

}  // namespace raddle::codegen
