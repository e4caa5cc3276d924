// Points that the threads of a device share out: Note [ranges] in vm/program/leaf_abi.hpp.
#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/point_elements.hpp"
#include "compiler/codegen/word_reader.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// Parameters of range(), in this order, before the addresses of the results and of what points read, and the captures.
enum RangeParameter : unsigned {
  range_context,
  range_thread,
  range_threads,
  range_first,
  range_step,
  range_count,
  range_words
};

}  // namespace

llvm::Function* ModuleEmitter::range(vm::KernelId kernel, std::size_t reads) {
  const vm::Kernel& source = group.at(kernel);
  llvm::Type *word = llvm::Type::getInt64Ty(llvm_context), *pointer = llvm::PointerType::get(llvm_context, 0);
  std::vector<llvm::Type*> types = {pointer, word, word, word, word, word};
  types.insert(types.end(), source.outputs.size() + reads, pointer);
  for (auto parameter = static_cast<vm::KernelRegister>(1 + reads); parameter < source.parameter_count; ++parameter) {
    types.push_back(type(source.types[parameter]));
    if (is_array(source.types[parameter])) types.push_back(word);
  }
  auto* function = llvm::Function::Create(llvm::FunctionType::get(word, types, /*isVarArg=*/false),
                                          llvm::Function::InternalLinkage, "range." + source.name, out);
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(llvm_context, name, function); };
  llvm::BasicBlock *entry = block("entry"), *head = block("head"), *body = block("body"), *store = block("store"),
                   *failed = block("failed"), *end = block("end");
  llvm::IRBuilder<> builder(entry);
  builder.CreateBr(head);

  builder.SetInsertPoint(head);
  llvm::PHINode* number = builder.CreatePHI(word, 2, "number");
  number->addIncoming(function->getArg(range_thread), entry);
  builder.CreateCondBr(builder.CreateICmpSLT(number, function->getArg(range_count)), body, end);

  builder.SetInsertPoint(body);
  llvm::Value* distance = builder.CreateMul(number, function->getArg(range_step));
  std::vector<llvm::Value*> arguments = {function->getArg(range_context),
                                         builder.CreateAdd(function->getArg(range_first), distance)};
  const auto result_count = static_cast<unsigned>(source.outputs.size());
  const auto first_read = range_words + result_count, first_capture = first_read + static_cast<unsigned>(reads);
  for (unsigned i = first_read; i < first_capture; ++i)
    arguments.push_back(load_element(builder, type(source.types[1 + i - first_read]), function->getArg(i), number));
  for (unsigned i = first_capture; i < types.size(); ++i) arguments.push_back(function->getArg(i));
  llvm::CallInst* all = builder.CreateCall(inner(kernel), arguments);
  all->setCallingConv(llvm::CallingConv::Fast);
  llvm::Value* is_good = builder.CreateICmpEQ(builder.CreateExtractValue(all, 0), builder.getInt32(raddle_leaf_ok));
  builder.CreateCondBr(is_good, store, failed, llvm::MDBuilder(llvm_context).createLikelyBranchWeights());

  builder.SetInsertPoint(store);
  for (unsigned i = 0; i < result_count; ++i)
    store_result(builder, builder.CreateExtractValue(all, i + 1), function->getArg(range_words + i), number, nullptr);
  number->addIncoming(builder.CreateAdd(number, function->getArg(range_threads)), store);
  builder.CreateBr(head);

  builder.SetInsertPoint(failed);
  builder.CreateRet(number);
  builder.SetInsertPoint(end);
  builder.CreateRet(function->getArg(range_count));
  return function;
}

/// For threads of this machine.
void ModuleEmitter::emit_range(vm::KernelId kernel, std::size_t reads, llvm::Function* function) {
  const vm::Kernel& source = group.at(kernel);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_context, "entry", function));
  llvm::Type* word = builder.getInt64Ty();
  const auto result = [&](unsigned i) { return builder.CreateConstInBoundsGEP1_64(word, function->getArg(2), i); };
  std::vector<llvm::Value*> arguments = {make_context(builder, function), builder.CreateLoad(word, result(0)),
                                         builder.CreateLoad(word, result(1))};
  WordReader words(builder, function->getArg(1));
  for (unsigned i = range_first; i < range_words; ++i) arguments.push_back(words.load(word));
  for (std::size_t i = 0; i < source.outputs.size() + reads; ++i) arguments.push_back(words.load(builder.getPtrTy()));
  for (auto parameter = static_cast<vm::KernelRegister>(1 + reads); parameter < source.parameter_count; ++parameter)
    words.load_argument(type(source.types[parameter]), arguments);
  builder.CreateStore(builder.CreateCall(range(kernel, reads), arguments), result(0));
  builder.CreateRet(builder.getInt32(raddle_leaf_ok));
}

}  // namespace raddle::codegen
