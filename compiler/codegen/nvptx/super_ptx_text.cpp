// Note [super kernel]. Its queues are C++, gpu/superkernel, which clang has made bitcode of for NVPTX when this was
// built. With it are linked, as LLVM's IR, a function for each range kernel, `points.N`, and `raddle_dispatch`, a
// switch over them: so a program's code lies in the kernel itself, with the registers that it needs, and nothing is
// called through a pointer, which drivers can not do from one module into another.
//
// Instead of: PTX that the driver links. What it links it compiles for calls, with arguments in memory.
#include "compiler/codegen/nvptx/super_ptx_text.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <utility>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/nvptx/nvptx_target.hpp"
#include "compiler/codegen/nvptx/super_kernel_code.hpp"
#include "compiler/codegen/optimise.hpp"
#include "compiler/codegen/word_reader.hpp"

namespace raddle::codegen {
namespace {

constexpr unsigned threads_of_block = 256, blocks_of_multiprocessor = 4;  ///< at most 64 registers
constexpr unsigned global_memory = 1;                                     ///< LLVM's address space
constexpr unsigned first_word = 3;                                        ///< of range(), behind context and threads
constexpr unsigned end_word = first_word + 2;                             ///< the number of points

std::string points_name(std::size_t number) { return "points." + std::to_string(number); }

/// (words, first, step, end): as superkernel::work() takes it.
llvm::FunctionType* points_type(llvm::LLVMContext& context) {
  llvm::Type *word = llvm::Type::getInt64Ty(context), *pointer = llvm::PointerType::get(context, 0);
  return llvm::FunctionType::get(word, {pointer, word, word, word}, /*isVarArg=*/false);
}

/// Calls range() with the words, which lie in memory.
void emit_points(ModuleEmitter& module, std::size_t reads, const std::string& name) {
  llvm::Function* const range = module.range(0, reads);
  auto* const points =
      llvm::Function::Create(points_type(module.llvm_context), llvm::Function::ExternalLinkage, name, module.out);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.llvm_context, "entry", points));
  llvm::PointerType* const global = builder.getPtrTy(global_memory);
  const auto in_global = [&](llvm::Value* address) { return builder.CreateAddrSpaceCast(address, global); };
  llvm::Value* const words = in_global(points->getArg(0));
  std::vector<llvm::Value*> arguments = {llvm::ConstantPointerNull::get(builder.getPtrTy()), points->getArg(1),
                                         points->getArg(2)};
  for (unsigned i = first_word; i < range->arg_size(); ++i) {
    llvm::Type* const type = range->getArg(i)->getType();
    llvm::Value* const place = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), words, i - first_word);
    llvm::Value* word = points->getArg(3);
    if (i != end_word) word = builder.CreateLoad(word_type(type), place);
    word = value_of_word(builder, word, type);
    if (type->isPointerTy()) word = builder.CreateAddrSpaceCast(in_global(word), type);
    arguments.push_back(word);
  }
  builder.CreateRet(builder.CreateCall(range, arguments));
}

void emit_dispatch(llvm::Module& module, std::size_t count) {
  llvm::Function* const dispatch = module.getFunction("raddle_dispatch");
  dispatch->setLinkage(llvm::Function::InternalLinkage);
  dispatch->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", dispatch));
  auto* const none = llvm::BasicBlock::Create(context, "none", dispatch);
  auto* const choice = builder.CreateSwitch(dispatch->getArg(0), none, static_cast<unsigned>(count));
  for (std::size_t i = 0; i < count; ++i) {
    llvm::Function* const points = module.getFunction(points_name(i));
    points->setLinkage(llvm::Function::InternalLinkage);
    points->addFnAttr(llvm::Attribute::AlwaysInline);
    auto* const block = llvm::BasicBlock::Create(context, points_name(i), dispatch);
    choice->addCase(builder.getInt64(i), block);
    builder.SetInsertPoint(block);
    builder.CreateRet(builder.CreateCall(
        points, {dispatch->getArg(1), dispatch->getArg(2), dispatch->getArg(3), dispatch->getArg(4)}));
  }
  builder.SetInsertPoint(none);
  builder.CreateRet(dispatch->getArg(2));  // a function that is not there computes nothing
}

void bound_registers(llvm::Module& module) {
  llvm::Function* const kernel = module.getFunction(vm::super_kernel_name);
  llvm::LLVMContext& context = module.getContext();
  const auto note = [&](const char* name, unsigned value) {
    llvm::Metadata* const parts[] = {
        llvm::ValueAsMetadata::get(kernel), llvm::MDString::get(context, name),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
    module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, parts));
  };
  note("maxntidx", threads_of_block);
  note("minctasm", blocks_of_multiprocessor);
}

}  // namespace

std::expected<std::string, std::string> super_ptx_text(std::span<const vm::RangeKernel> ranges) {
  const auto target = nvptx_target();
  if (!target) return std::unexpected(target.error());
  llvm::LLVMContext context;
  const std::string_view code = super_kernel_code();
  auto super = llvm::parseBitcodeFile({llvm::StringRef(code.data(), code.size()), "super kernel"}, context);
  if (!super) return std::unexpected("the super kernel can not be read: " + llvm::toString(super.takeError()));
  llvm::Module& module = **super;
  set_target(module, **target);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (const std::string why = refusal_of_nvptx(ranges[i].group); !why.empty()) return std::unexpected(why);
    auto part = std::make_unique<llvm::Module>(points_name(i), context);
    set_target(*part, **target);
    ModuleEmitter emitter(ranges[i].group, {.unrolls_recursion = false, .for_device = true, .has_worker = false},
                          *part);
    emit_points(emitter, ranges[i].entry.reads, points_name(i));
    emitter.emit_pending();
    if (llvm::Linker::linkModules(module, std::move(part))) return std::unexpected("LLVM links no super kernel");
  }
  emit_dispatch(module, ranges.size());
  bound_registers(module);
  return optimised_ptx(module, **target);
}

}  // namespace raddle::codegen
