// Note [inner functions]. A leaf becomes two functions. The inner one, `leaf.NAME`, takes scalars in registers and
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
// ir_number.hpp), so that loops over it become vectors. libm is not called: neither its vectors nor another version of
// it give the same last bits.
#include "compiler/codegen/leaf_to_llvm.hpp"

#include <algorithm>
#include <cstddef>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/word_reader.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// How far recursion is unrolled: see Note [levels].
constexpr unsigned most_levels = 4;
constexpr std::size_t most_unrolled_ops = 100;

}  // namespace

llvm::Type* ModuleEmitter::type(TypeId id) {
  switch (kind(id)) {
    case TypeKind::int_: return llvm::Type::getInt64Ty(llvm_context);
    case TypeKind::float_: return llvm::Type::getDoubleTy(llvm_context);
    case TypeKind::boolean: return llvm::Type::getInt1Ty(llvm_context);
    case TypeKind::array: {
      const TypeKind element = element_kind(id);
      if (element == TypeKind::int_ || element == TypeKind::float_ || element == TypeKind::boolean) {
        return llvm::PointerType::get(llvm_context, 0);
      }
      break;
    }
    case TypeKind::error:
    case TypeKind::string:
    case TypeKind::void_:
    case TypeKind::blob:
    case TypeKind::file:
    case TypeKind::url:
    case TypeKind::bag:
    case TypeKind::structure:
    case TypeKind::named:
    case TypeKind::updateable: break;
  }
  refuse("a variable of type `" + ir_module().types->name(id) + "`");
  return llvm::Type::getInt64Ty(llvm_context);
}

llvm::Function* ModuleEmitter::inner(ir::FunctionId leaf, unsigned level) {
  llvm::Function*& function = inners_[{leaf, level}];
  if (function) return function;
  const ir::Function& source = ir_module().functions.at(leaf);
  llvm::Type* pointer = llvm::PointerType::get(llvm_context, 0);
  std::vector<llvm::Type*> parameters = {pointer};
  std::vector<unsigned> lengths;
  for (ir::VarId parameter : source.parameters) {
    parameters.push_back(type(source.variables.at(parameter).type));
    if (parameters.back() != pointer) continue;
    lengths.push_back(static_cast<unsigned>(parameters.size()));
    parameters.push_back(llvm::Type::getInt64Ty(llvm_context));
  }
  std::vector<llvm::Type*> results = {llvm::Type::getInt32Ty(llvm_context)};
  for (ir::VarId output : source.outputs) {
    results.push_back(type(source.variables.at(output).type));
    if (results.back() == pointer) refuse("an array as output");
  }
  function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::StructType::get(llvm_context, results), parameters, /*isVarArg=*/false),
      llvm::Function::InternalLinkage, "leaf." + source.name, out);
  if (level > 0) function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->setCallingConv(llvm::CallingConv::Fast);
  function->setDoesNotThrow();
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::get(llvm_context, llvm::Attribute::Dereferenceable, 3 * sizeof(void*)));
  for (unsigned length : lengths) {
    const llvm::ConstantRange range(llvm::APInt(64, 0), llvm::APInt(64, length_end));
    function->addParamAttr(length, llvm::Attribute::get(llvm_context, llvm::Attribute::Range, range));
    function->addParamAttr(length - 1, llvm::Attribute::NoAlias);  // nobody writes the elements meanwhile
    function->addParamAttr(length - 1, llvm::Attribute::ReadOnly);
  }
  pending_.push_back({leaf, level});
  return function;
}

void ModuleEmitter::emit_pending() {
  while (!pending_.empty() && refusal.empty()) {
    const Level next = pending_.back();
    const auto& [leaf, level] = next;
    pending_.pop_back();
    emit_function(*this, leaf, level, inners_.at(next));
  }
}

void ModuleEmitter::find_callees(const ir::Function& function, std::set<ir::FunctionId>& found) const {
  for (const ir::Region& region : function.regions) {
    for (const ir::Op& op : region.ops) {
      if (op.kind == ir::OpKind::call && found.insert(op.callee).second) {
        find_callees(ir_module().functions.at(op.callee), found);
      }
    }
  }
}

bool ModuleEmitter::is_recursive(ir::FunctionId leaf) const {
  std::set<ir::FunctionId> found;
  find_callees(ir_module().functions.at(leaf), found);
  return found.contains(leaf);
}

unsigned ModuleEmitter::levels(ir::FunctionId leaf) const {
  if (!source.unrolls_recursion) return 1;
  std::size_t op_count = 0, call_count = 0;
  for (const ir::Region& region : ir_module().functions.at(leaf).regions) {
    op_count += region.ops.size();
    call_count += static_cast<std::size_t>(std::ranges::count_if(
        region.ops, [&](const ir::Op& op) { return op.kind == ir::OpKind::call && op.callee == leaf; }));
  }
  unsigned levels = 1;
  std::size_t copies = call_count;  // that the next level adds
  for (std::size_t total = op_count; call_count > 0 && levels < most_levels; ++levels, copies *= call_count) {
    total += copies * op_count;
    if (total > most_unrolled_ops) break;
  }
  return levels;
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

void ModuleEmitter::emit_exported(ir::FunctionId leaf) {
  llvm::Function* function = make_entry(exported_name(leaf), llvm::Function::ExternalLinkage);
  if (ir_module().functions.at(leaf).is_launched)
    emit_batch(leaf, function);
  else
    emit_call(leaf, function);
}

llvm::Constant* ModuleEmitter::fork_site(ir::FunctionId leaf) {
  llvm::Constant*& site = fork_sites_[leaf];
  if (site) return site;
  const ir::Function& source = ir_module().functions.at(leaf);
  llvm::Function* entry = make_entry("fork." + source.name, llvm::Function::InternalLinkage);
  emit_call(leaf, entry);
  std::uint32_t words = 0;
  for (ir::VarId parameter : source.parameters)
    words += kind(source.variables.at(parameter).type) == TypeKind::array ? 2 : 1;
  llvm::Type* count = llvm::Type::getInt32Ty(llvm_context);
  llvm::StructType* type = llvm::StructType::get(llvm_context, {entry->getType(), count});
  auto* constant = llvm::ConstantStruct::get(type, {entry, llvm::ConstantInt::get(count, words)});
  site = new llvm::GlobalVariable(out, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, constant,
                                  "fork_site." + source.name);
  return site;
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

void ModuleEmitter::emit_call(ir::FunctionId leaf, llvm::Function* function) {
  const ir::Function& source = ir_module().functions.at(leaf);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_context, "entry", function));
  llvm::Type* word = builder.getInt64Ty();
  std::vector<llvm::Value*> arguments = {make_context(builder, function)};
  WordReader words(builder, function->getArg(1));
  for (ir::VarId parameter : source.parameters)
    words.load_argument(type(source.variables.at(parameter).type), arguments);
  llvm::CallInst* all = builder.CreateCall(inner(leaf), arguments);
  all->setCallingConv(llvm::CallingConv::Fast);

  for (unsigned i = 0; i < source.outputs.size(); ++i) {  // also of a failed call, where they mean nothing
    llvm::Value* result = builder.CreateExtractValue(all, i + 1);
    if (result->getType()->isIntegerTy(1)) result = builder.CreateZExt(result, word);
    builder.CreateStore(result, builder.CreateConstInBoundsGEP1_64(word, function->getArg(2), i));
  }
  builder.CreateRet(builder.CreateExtractValue(all, 0));
}

std::string exported_name(ir::FunctionId leaf) { return "raddle_leaf_" + std::to_string(leaf); }

std::expected<void, std::string> leaves_to_llvm(const LeafSource& source, std::span<const ir::FunctionId> leaves,
                                                llvm::Module& out) {
  ModuleEmitter emitter(source, out);
  for (ir::FunctionId leaf : leaves) emitter.emit_exported(leaf);
  emitter.emit_pending();
  if (!emitter.refusal.empty()) return std::unexpected(emitter.refusal);
  return {};
}

}  // namespace raddle::codegen
