// Batches: see Note [batches] in leaf_abi.hpp.
//
// Note [narrow batches]. A check for overflow after each operation keeps LLVM from vectorising a batch. Mostly the loop
// variable and the captured ints lie within 32 bits, and then sums, and products with constants, fit 64 without a
// check. (A product of two variables may fill them: what is added to it keeps its check.) So the batch of a small leaf
// that does nothing but calculate, of a launch without a projection, is made twice: in the first loop, for such values,
// the ints are sign-extended halves, from which LLVM itself sees what can not overflow; the other loop is for all
// values. 10^9 points of `i * 2 + 1` with their sum take 0.8 s so, 1.2 s otherwise; the leaf takes 3 to 6 ms more to
// compile.
#include <optional>
#include <set>
#include <span>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/word_reader.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// More take long to compile, twice. Those of a function that is called twice count twice, as it is inlined.
constexpr std::size_t most_narrow_ops = 32;

/// Neither fails but by overflow nor keeps LLVM from vectorising.
bool is_vectorisable(LeafBuiltin builtin) {
  switch (builtin) {
    case LeafBuiltin::floor:
    case LeafBuiltin::ceil:
    case LeafBuiltin::abs_float:
    case LeafBuiltin::max_int:
    case LeafBuiltin::min_int:
    case LeafBuiltin::max_float:
    case LeafBuiltin::min_float:
    case LeafBuiltin::is_nan:
    case LeafBuiltin::int_to_float:
    case LeafBuiltin::bool_to_int: return true;
    default: return false;
  }
}
bool is_vectorisable(ir::OpKind kind) {
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
    case ir::OpKind::if_: return true;
    default: return false;
  }
}

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

bool ModuleEmitter::gains_from_narrow_ints(ir::FunctionId leaf) const {
  std::size_t op_count = 0;  // with those of each call: so a leaf that can call itself has too many
  bool can_overflow = false;
  const auto is_small_and_vectorisable = [&](const auto& self, ir::FunctionId id) -> bool {
    const ir::Function& function = ir_module().functions.at(id);
    for (const ir::Region& region : function.regions) {
      for (const ir::Op& op : region.ops) {
        if (++op_count > most_narrow_ops) return false;
        if (op.kind == ir::OpKind::call) {
          if (ir_module().functions.at(op.callee).kind != ir::FunctionKind::leaf || !self(self, op.callee))
            return false;
        } else if (op.kind == ir::OpKind::call_builtin) {
          const std::optional<LeafBuiltin> builtin = builtin_of(function, op);
          if (!builtin || !is_vectorisable(*builtin)) return false;
        } else if (!is_vectorisable(op.kind)) {
          return false;
        }
        can_overflow |= ir::info(op.kind).effect == ir::Effect::fails &&
                        kind(ir::type_of(ir_module(), function, op.operands.at(0))) == TypeKind::int_;
      }
    }
    return true;
  };
  return is_small_and_vectorisable(is_small_and_vectorisable, leaf) && can_overflow;
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
  if (source.is_batched && gains_from_narrow_ints(leaf))
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
  // all values lie between the first and the end, which is computed of narrow ints, and so does not overflow
  narrowed(builder.CreateAdd(batch.first, builder.CreateMul(batch.count, batch.step)));
  for (llvm::Value*& captured : std::span(batch.arguments).subspan(2)) {
    if (captured->getType()->isIntegerTy(64)) captured = narrowed(captured);
  }
  builder.CreateCondBr(all_narrow, narrow, wide);
  batch.is_narrow = true;
  emit_batch_loop(leaf, narrow, batch);
  // both loops call it, and so LLVM would inline very small ones only
  for (const ir::FunctionId each : with_callees(leaf)) inner(each)->addFnAttr(llvm::Attribute::AlwaysInline);
}

/// A loop around the inner function, which LLVM inlines and vectorises if it can.
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

}  // namespace raddle::codegen
