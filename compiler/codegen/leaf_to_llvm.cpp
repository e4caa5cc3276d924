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
// Note [narrow batches]. A check for overflow after each operation keeps LLVM from vectorising a batch. Mostly the loop
// variable and the captured ints lie within 32 bits, and what is computed of them fits 64 without a check. So the batch
// of a leaf that only calculates, of a launch without a projection, is made twice: in the first loop, for such values,
// the ints are sign-extended halves, from which LLVM itself sees what can not overflow, and drops those checks; the
// other loop is for all values. 10^9 points of `i * 2 + 1` with their sum take 0.8 s so, 1.2 s otherwise; the leaf
// takes 2 to 3 ms more of 20 to compile.
//
// Note [agreement]. A leaf gives the same results interpreted and compiled, to the last bit. So there is no fast-math
// and no contraction, and functions of libm are called under names LLVM does not know: it would rewrite, say,
// pow(x, 2.0) to x * x, which rounds differently. For the same reason no vector library stands in for libm: in 43 % of
// 15,377 arguments glibc's libmvec gave another last bit of exp than its libm, in 63 % of sin.
#include "compiler/codegen/leaf_to_llvm.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "compiler/codegen/module_emitter.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// Lengths are below 2^59: their elements' bytes fit the address space. Lets LLVM drop overflow checks of indices.
constexpr std::uint64_t length_end = std::uint64_t{1} << 59;

/// How far recursion is unrolled: see Note [levels].
constexpr unsigned most_levels = 4;
constexpr std::size_t most_unrolled_ops = 100;

/// What vectors can do, or LLVM makes of it.
bool calculates(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::add:
    case ir::OpKind::sub:
    case ir::OpKind::mul:
    case ir::OpKind::neg:
    case ir::OpKind::copy:
    case ir::OpKind::int_to_float:
    case ir::OpKind::div:
    case ir::OpKind::mul_add:
    case ir::OpKind::mul_sub:
    case ir::OpKind::sub_mul:
    case ir::OpKind::not_:
    case ir::OpKind::and_:
    case ir::OpKind::or_:
    case ir::OpKind::eq:
    case ir::OpKind::ne:
    case ir::OpKind::lt:
    case ir::OpKind::le:
    case ir::OpKind::gt:
    case ir::OpKind::ge:
    case ir::OpKind::if_:
    case ir::OpKind::call: return true;
    default: return false;
  }
}

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

namespace {

/// Takes a call's words one after the other.
class WordReader {
 public:
  WordReader(llvm::IRBuilder<>& builder, llvm::Value* words) : builder_(builder), words_(words) {}
  llvm::LoadInst* load(llvm::Type* type) {
    return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words_, next_++));
  }
  /// Appends a parameter of `type`: one word, or an array's two.
  void load_argument(llvm::Type* type, std::vector<llvm::Value*>& arguments) {
    if (type->isIntegerTy(1)) return arguments.push_back(builder_.CreateIsNotNull(load(builder_.getInt64Ty())));
    arguments.push_back(load(type));
    if (!type->isPointerTy()) return;
    llvm::LoadInst* length = load(builder_.getInt64Ty());
    const llvm::APInt first(64, 0), end(64, length_end);
    length->setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(builder_.getContext()).createRange(first, end));
    arguments.push_back(length);
  }

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Value* words_;
  unsigned next_ = 0;
};

/// The lower half, sign-extended: the value itself if it fits 32 bits.
llvm::Value* narrow_half(llvm::IRBuilder<>& builder, llvm::Value* value) {
  return builder.CreateSExt(builder.CreateTrunc(value, builder.getInt32Ty()), value->getType());
}

/// For the back edge of a loop that is not to be unrolled: what else LLVM makes of small loops takes as long to compile
/// as the whole function, and saves 3 %.
llvm::MDNode* one_vector_at_once(llvm::IRBuilder<>& builder) {
  llvm::LLVMContext& context = builder.getContext();
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder.getInt32(1));
  llvm::Metadata* properties[] = {
      nullptr, llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.interleave.count"), one}),
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"))};
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);  // LLVM knows a loop by that
  return loop;
}

}  // namespace

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

bool ModuleEmitter::is_arithmetic(ir::FunctionId leaf) const {
  std::set<ir::FunctionId> all;
  find_callees(ir_module().functions.at(leaf), all);
  if (std::ranges::any_of(all, [&](ir::FunctionId each) { return is_recursive(each); })) return false;
  all.insert(leaf);
  bool can_overflow = false;
  for (const ir::FunctionId each : all) {
    const ir::Function& function = ir_module().functions.at(each);
    for (const ir::Region& region : function.regions) {
      for (const ir::Op& op : region.ops) {
        if (!calculates(op.kind)) return false;
        can_overflow |= ir::info(op.kind).effect == ir::Effect::fails &&
                        kind(ir::type_of(ir_module(), function, op.operands.at(0))) == TypeKind::int_;
      }
    }
  }
  return can_overflow;
}

/// See Note [batches] in leaf_abi.hpp and Note [narrow batches].
void ModuleEmitter::emit_batch(ir::FunctionId leaf, llvm::Function* function) {
  const ir::Function& source = ir_module().functions.at(leaf);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_context, "entry", function));
  llvm::Type* word = builder.getInt64Ty();
  Batch batch;
  batch.arguments.push_back(make_context(builder, function));
  WordReader words(builder, function->getArg(1));
  batch.first = words.load(word);
  batch.step = words.load(word);
  batch.count = words.load(word);
  for (std::size_t i = 0; i < source.outputs.size(); ++i) batch.results.push_back(words.load(builder.getPtrTy()));
  batch.arguments.push_back(nullptr);  // the loop variable
  for (std::size_t i = 1; i < source.parameters.size(); ++i)
    words.load_argument(type(source.variables.at(source.parameters[i]).type), batch.arguments);

  llvm::BasicBlock* wide = llvm::BasicBlock::Create(llvm_context, "wide", function);
  if (source.is_batched && is_arithmetic(leaf))
    emit_narrow_batch(leaf, builder, wide, batch);
  else
    builder.CreateBr(wide);
  emit_batch_loop(leaf, wide, batch);
}

/// @param wide  where to go if the values are not narrow
void ModuleEmitter::emit_narrow_batch(ir::FunctionId leaf, llvm::IRBuilder<>& builder, llvm::BasicBlock* wide,
                                      Batch batch) {
  llvm::BasicBlock* narrow = llvm::BasicBlock::Create(llvm_context, "narrow", wide->getParent(), wide);
  llvm::Value* all_narrow = builder.getTrue();
  const auto narrowed = [&](llvm::Value* value) {
    llvm::Value* half = narrow_half(builder, value);
    all_narrow = builder.CreateAnd(all_narrow, builder.CreateICmpEQ(value, half));
    return half;
  };
  batch.first = narrowed(batch.first);
  batch.step = narrowed(batch.step);
  batch.count = narrowed(batch.count);
  // of narrow values: so it does not overflow; of others it does not matter
  narrowed(builder.CreateAdd(batch.first, builder.CreateMul(batch.count, batch.step)));
  for (llvm::Value*& captured : std::span(batch.arguments).subspan(2)) {
    if (captured->getType()->isIntegerTy(64)) captured = narrowed(captured);
  }
  builder.CreateCondBr(all_narrow, narrow, wide);
  batch.is_narrow = true;
  emit_batch_loop(leaf, narrow, batch);
}

/// A loop around the inner function, which LLVM inlines and vectorises.
void ModuleEmitter::emit_batch_loop(ir::FunctionId leaf, llvm::BasicBlock* entry, const Batch& batch) {
  llvm::Function* function = entry->getParent();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(llvm_context, "head", function);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(llvm_context, "body", function);
  llvm::BasicBlock* store = llvm::BasicBlock::Create(llvm_context, "store", function);
  llvm::BasicBlock* end = llvm::BasicBlock::Create(llvm_context, "end", function);
  llvm::IRBuilder<> builder(entry);
  llvm::Type* word = builder.getInt64Ty();
  builder.CreateBr(head);

  builder.SetInsertPoint(head);
  llvm::PHINode* number = builder.CreatePHI(word, 2, "number");
  number->addIncoming(builder.getInt64(0), entry);
  builder.CreateCondBr(builder.CreateICmpSLT(number, batch.count), body, end);

  builder.SetInsertPoint(body);
  std::vector<llvm::Value*> arguments = batch.arguments;
  llvm::Value*& variable = arguments.at(1);
  variable = builder.CreateAdd(batch.first, builder.CreateMul(number, batch.step));
  if (batch.is_narrow) variable = narrow_half(builder, variable);
  llvm::CallInst* all = builder.CreateCall(inner(leaf), arguments);
  all->setCallingConv(llvm::CallingConv::Fast);
  llvm::Value* is_good = builder.CreateICmpEQ(builder.CreateExtractValue(all, 0), builder.getInt32(raddle_leaf_ok));
  builder.CreateCondBr(is_good, store, end, llvm::MDBuilder(llvm_context).createLikelyBranchWeights());

  builder.SetInsertPoint(store);
  for (unsigned i = 0; i < batch.results.size(); ++i) {
    llvm::Value* result = builder.CreateExtractValue(all, i + 1);
    if (result->getType()->isIntegerTy(1)) result = builder.CreateZExt(result, builder.getInt8Ty());
    builder.CreateStore(result, builder.CreateInBoundsGEP(result->getType(), batch.results[i], number));
  }
  number->addIncoming(builder.CreateNSWAdd(number, builder.getInt64(1)), store);
  llvm::BranchInst* back = builder.CreateBr(head);
  if (batch.is_narrow) back->setMetadata(llvm::LLVMContext::MD_loop, one_vector_at_once(builder));

  builder.SetInsertPoint(end);
  builder.CreateStore(number, function->getArg(2));
  builder.CreateRet(builder.getInt32(raddle_leaf_ok));
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
