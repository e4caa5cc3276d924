// Note [inner functions]. A kernel becomes two functions. The inner one, `leaf.NAME`, takes scalars in registers and
// returns {status, results...}, which small results also do; it is internal and fastcc, so LLVM inlines it, drops what
// it does not use, and makes recursion cheap. The exported one unpacks the words of leaf_abi.hpp around it. The first
// parameter of an inner function is the Context, which lies in the exported function's frame: where to write a
// failure, how far down the stack may grow, the worker. It is read on failing paths, by functions that can call
// themselves, which compare their stack address with the limit on entry (no counter needs to be kept), and to fork.
//
// Note [levels]. Half of the calls of a function like fib only find that there is nothing to do. So a small function
// that calls itself is made several times over: level 0, which is the function, calls level 1 where the script says
// that it calls itself, level 1 calls level 2, the last calls level 0; LLVM inlines all but level 0. A level that is
// inlined has no frame of its own and so does not look at the stack, nor does it fork.
//
// Note [agreement]. A leaf gives the same results interpreted and compiled, to the last bit. So there is no fast-math
// and no contraction, and mathematics is emitted from the source that the interpreter's is compiled from (vm/math, by
// ir_number.hpp), for lanes, too. libm is not called: neither its vectors nor another version of
// it give the same last bits.
#include "compiler/codegen/kernels_to_llvm.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/word_reader.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// How far recursion is unrolled: see Note [levels].
constexpr unsigned most_levels = 4;
constexpr std::size_t most_unrolled_instructions = 100;

}  // namespace

llvm::Type* ModuleEmitter::type(vm::KernelType type) const {
  if (is_array(type)) return llvm::PointerType::get(llvm_context, 0);
  if (type == vm::KernelType::boolean) return llvm::Type::getInt1Ty(llvm_context);
  return stored_type(type);
}

llvm::Type* ModuleEmitter::stored_type(vm::KernelType type) const {
  switch (is_array(type) ? element_of(type) : type) {
    case vm::KernelType::float_: return llvm::Type::getDoubleTy(llvm_context);
    case vm::KernelType::boolean: return llvm::Type::getInt8Ty(llvm_context);
    case vm::KernelType::int32: return llvm::Type::getInt32Ty(llvm_context);
    case vm::KernelType::float32: return llvm::Type::getFloatTy(llvm_context);
    default: return llvm::Type::getInt64Ty(llvm_context);
  }
}

llvm::Function* ModuleEmitter::inner(vm::KernelId kernel, unsigned level) {
  llvm::Function*& function = inners_[{kernel, level}];
  if (function) return function;
  const vm::Kernel& source = group.at(kernel);
  std::vector<llvm::Type*> parameters = {llvm::PointerType::get(llvm_context, 0)};
  std::vector<unsigned> lengths;
  for (vm::KernelRegister parameter = 0; parameter < source.parameter_count; ++parameter) {
    parameters.push_back(type(source.types[parameter]));
    if (!is_array(source.types[parameter])) continue;
    lengths.push_back(static_cast<unsigned>(parameters.size()));
    parameters.push_back(llvm::Type::getInt64Ty(llvm_context));
  }
  std::vector<llvm::Type*> results = {llvm::Type::getInt32Ty(llvm_context)};
  for (const vm::KernelRegister output : source.outputs) results.push_back(type(source.types[output]));
  function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::StructType::get(llvm_context, results), parameters, /*isVarArg=*/false),
      llvm::Function::InternalLinkage, "leaf." + source.name, out);
  const std::size_t last_row = source.row_count == 0 ? 0 : lengths[source.row_count - 1];
  if (level > 0 || is_for_device()) function->addFnAttr(llvm::Attribute::AlwaysInline);  // cards have no recursion
  function->setCallingConv(llvm::CallingConv::Fast);
  function->setDoesNotThrow();
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  if (has_worker())
    function->addParamAttr(0, llvm::Attribute::get(llvm_context, llvm::Attribute::Dereferenceable, 2 * sizeof(void*)));
  for (unsigned length : lengths) {
    const llvm::ConstantRange range(llvm::APInt(64, 0), llvm::APInt(64, length_end));
    function->addParamAttr(length, llvm::Attribute::get(llvm_context, llvm::Attribute::Range, range));
    function->addParamAttr(length - 1, llvm::Attribute::NoAlias);  // nobody writes the elements meanwhile
    if (length - 1 > last_row) function->addParamAttr(length - 1, llvm::Attribute::ReadOnly);
  }
  pending_.push_back({kernel, level});
  return function;
}

void ModuleEmitter::emit_pending() {
  while (!pending_.empty()) {
    const Level next = pending_.back();
    pending_.pop_back();
    emit_function(*this, next.first, next.second, inners_.at(next));
  }
}

unsigned ModuleEmitter::levels(vm::KernelId kernel) const {
  if (!options_.unrolls_recursion || is_for_device()) return 1;
  std::size_t instruction_count = 0, call_count = 0;
  for (const auto& block : group[kernel].blocks) {
    instruction_count += block.size();
    call_count += static_cast<std::size_t>(std::ranges::count_if(block, [&](const vm::KernelInstruction& each) {
      return each.op == vm::KernelOp::call && group[kernel].calls[each.index].kernel == kernel;
    }));
  }
  unsigned levels = 1;
  std::size_t copies = call_count;  // that the next level adds
  for (std::size_t total = instruction_count; call_count > 0 && levels < most_levels; ++levels, copies *= call_count) {
    total += copies * instruction_count;
    if (total > most_unrolled_instructions) break;
  }
  return levels;
}

llvm::Value* ModuleEmitter::stack_limit(llvm::IRBuilder<>& builder, llvm::Value* worker) {
  static_assert(offsetof(raddle_leaf_worker, stack_limit) == 0);
  llvm::LoadInst* limit = builder.CreateAlignedLoad(builder.getPtrTy(), worker, llvm::Align(alignof(void*)), "limit");
  limit->setVolatile(true);
  limit->setAtomic(llvm::AtomicOrdering::Unordered);
  return limit;
}

llvm::Value* ModuleEmitter::is_interrupted(llvm::IRBuilder<>& builder, llvm::Value* worker) {
  llvm::Value* everything =
      llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::getAllOnesValue(builder.getInt64Ty()), builder.getPtrTy());
  return builder.CreateICmpEQ(stack_limit(builder, worker), everything);
}

llvm::Function* ModuleEmitter::make_entry(const std::string& name, llvm::GlobalValue::LinkageTypes linkage) {
  llvm::Type* pointer = llvm::PointerType::get(llvm_context, 0);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(llvm_context), {pointer, pointer, pointer, pointer}, false),
      linkage, name, out);
  function->setDoesNotThrow();
  for (unsigned i = 1; i < function->arg_size(); ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  return function;
}

void ModuleEmitter::emit_exported(vm::KernelId kernel, vm::KernelEntry entry) {
  llvm::Function* function = make_entry(exported_name(kernel), llvm::Function::ExternalLinkage);
  if (entry.kind == vm::KernelEntry::call)
    emit_call(kernel, function);
  else if (entry.kind == vm::KernelEntry::range)
    emit_range(kernel, entry.reads, function);
  else if (entry.kind == vm::KernelEntry::lanes && suits_lanes(kernel))
    emit_lanes(kernel, function);
  else
    emit_points(kernel, entry, function);
}

/// @param name  the same for the same value only
llvm::Constant* ModuleEmitter::make_global(const std::string& name, llvm::Constant* value) {
  auto* made = llvm::cast<llvm::GlobalVariable>(out.getOrInsertGlobal(name, value->getType()));
  made->setInitializer(value);
  made->setConstant(true);
  made->setLinkage(llvm::GlobalValue::InternalLinkage);
  return made;
}

llvm::Constant* ModuleEmitter::fork_site(vm::KernelId kernel) {
  llvm::Constant*& site = fork_sites_[kernel];
  if (site) return site;
  const vm::Kernel& source = group.at(kernel);
  llvm::Function* entry = make_entry("fork." + source.name, llvm::Function::InternalLinkage);
  emit_call(kernel, entry);
  std::uint64_t words = 0;
  for (vm::KernelRegister parameter = 0; parameter < source.parameter_count; ++parameter)
    words += vm::words_of(source.types[parameter]);
  llvm::Type* count = llvm::Type::getInt32Ty(llvm_context);
  llvm::StructType* type = llvm::StructType::get(llvm_context, {entry->getType(), count});
  auto* constant = llvm::ConstantStruct::get(type, {entry, llvm::ConstantInt::get(count, words)});
  return site = make_global("fork_site." + std::to_string(kernel), constant);
}

llvm::Constant* ModuleEmitter::reduction(const vm::KernelReduction& reduction) {
  const vm::Kernel& source = group.at(reduction.kernel);
  llvm::Function*& points = reduced_[reduction.kernel];
  if (!points) {
    points = make_entry("points." + source.name, llvm::Function::InternalLinkage);
    if (suits_lanes(reduction.kernel))
      emit_lanes(reduction.kernel, points);
    else
      emit_points(reduction.kernel, vm::KernelEntry::points, points);
  }
  const bool is_float = source.types[source.outputs.at(0)] == vm::KernelType::float_;
  llvm::Type* byte = llvm::Type::getInt8Ty(llvm_context);
  const auto number = [byte](std::uint64_t value) { return llvm::ConstantInt::get(byte, value); };
  auto* constant =
      llvm::ConstantStruct::getAnon({points, number(static_cast<std::uint64_t>(reduction.reducer)),
                                     number(is_float ? 1 : 0), number(facts.has_loops_or_recursion() ? 0 : 1)});
  return make_global("reduction." + std::to_string(reduction.kernel) + "." + vm::text_of(reduction.reducer), constant);
}

llvm::Value* ModuleEmitter::make_context(llvm::IRBuilder<>& builder, llvm::Function* function) {
  llvm::Value* worker = function->getArg(0);
  llvm::Value* context = builder.CreateAlloca(context_type(), nullptr, "context");
  const auto store = [&](llvm::Value* value, ContextField field) {
    builder.CreateStore(value, builder.CreateStructGEP(context_type(), context, field));
  };
  store(function->getArg(3), context_failure);
  store(worker, context_worker);
  return context;
}

void ModuleEmitter::emit_call(vm::KernelId kernel, llvm::Function* function) {
  const vm::Kernel& source = group.at(kernel);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_context, "entry", function));
  llvm::Type* word = builder.getInt64Ty();
  std::vector<llvm::Value*> arguments = {make_context(builder, function)};
  WordReader words(builder, function->getArg(1));
  for (vm::KernelRegister parameter = 0; parameter < source.parameter_count; ++parameter)
    words.load_argument(type(source.types[parameter]), arguments);
  llvm::CallInst* all = builder.CreateCall(inner(kernel), arguments);
  all->setCallingConv(llvm::CallingConv::Fast);

  for (unsigned i = 0; i < source.outputs.size(); ++i) {  // also of a failed call, where they mean nothing
    llvm::Value* result = word_of_value(builder, builder.CreateExtractValue(all, i + 1));
    builder.CreateStore(result, builder.CreateConstInBoundsGEP1_64(word, function->getArg(2), i));
  }
  builder.CreateRet(builder.CreateExtractValue(all, 0));
}

std::string exported_name(vm::KernelId kernel) { return "raddle_leaf_" + std::to_string(kernel); }

void kernels_to_llvm(const vm::KernelGroup& group, std::span<const vm::KernelEntryPoint> entries,
                     const GenerationOptions& options, llvm::Module& out) {
  vm::KernelGroup all = group;
  std::map<vm::KernelId, EmittedWindows> windows, row_windows;
  const auto add = [&](const vm::Kernel& kernel) {
    all.push_back(kernel);
    return static_cast<vm::KernelId>(all.size() - 1);
  };
  const auto emitted = [&](SharedWindows shared) {
    EmittedWindows made{std::move(shared), {}, vm::no_kernel_part};
    for (const SharedWindows::Part& part : made.shared.parts) made.parts.push_back(add(part.kernel));
    made.rest = add(made.shared.rest);
    return made;
  };
  for (const vm::KernelEntryPoint& each : entries) {
    const vm::KernelEntry& entry = each.entry;
    if (entry.kind != vm::KernelEntry::points) continue;
    if (auto shared = share_windows(group[each.kernel], entry.reads, entry.follows))
      windows.emplace(each.kernel, emitted(std::move(*shared)));
    auto shared = share_rows(group[each.kernel], entry.reads, entry.follows, entry.row_follows);
    if (!shared) continue;
    const EmittedWindows& made = row_windows.emplace(each.kernel, emitted(std::move(*shared))).first->second;
    if (auto rest = share_windows(made.shared.rest, static_cast<std::uint32_t>(made.shared.inputs.size()),
                                  following_inputs(made.shared, entry.follows)))
      windows.emplace(made.rest, emitted(std::move(*rest)));
  }
  ModuleEmitter emitter(all, options, out, std::move(windows), std::move(row_windows));
  for (const vm::KernelEntryPoint& each : entries) emitter.emit_exported(each.kernel, each.entry);
  emitter.emit_pending();
}

}  // namespace raddle::codegen
