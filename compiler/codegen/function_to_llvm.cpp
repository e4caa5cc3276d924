// The body of one leaf function: its variables become stack slots, its regions structured control flow.
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/codegen/leaf_math.hpp"
#include "compiler/codegen/module_emitter.hpp"
#include "compiler/opt/leaf_builtins.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

using ir::OpKind;
using llvm::Intrinsic::ID;

/// What a variable or constant is in LLVM: one word, or for an array address and length.
struct Value {
  llvm::Value* word = nullptr;
  llvm::Value* length = nullptr;
};

/// Emits the body of one inner function.
class FunctionEmitter {
 public:
  FunctionEmitter(ModuleEmitter& module, ir::FunctionId leaf, unsigned level, llvm::Function* target)
      : module_(module),
        leaf_(leaf),
        level_(level),
        source_(module.ir_module().functions[leaf]),
        target_(target),
        builder_(module.llvm_context) {}
  void emit();

 private:
  void declare_variables();
  void check_stack();
  void emit_region(ir::RegionId region, bool is_tail);
  void emit_op(const ir::Op& op, bool is_tail);
  void emit_arithmetic(const ir::Op& op);
  void emit_checked_int(const ir::Op& op, ID intrinsic);
  void emit_fused(const ir::Op& op);
  void emit_division(const ir::Op& op);
  void emit_comparison(const ir::Op& op);
  void emit_array_get(const ir::Op& op);
  void emit_call(const ir::Op& op, bool is_tail);
  void emit_builtin(const ir::Op& op);
  llvm::Value* builtin_value(LeafBuiltin builtin, const ir::Op& op);
  llvm::Value* extreme(llvm::Value* left, llvm::Value* right, llvm::CmpInst::Predicate wins);
  llvm::Value* float_to_int(llvm::Value* number, Span span);
  llvm::Value* call_math(std::string_view name, std::vector<llvm::Value*> arguments);
  void emit_if(const ir::Op& op, bool is_tail);
  void emit_switch(const ir::Op& op, bool is_tail);
  void emit_loop(const ir::Op& op);

  TypeKind kind(ir::Operand operand) const { return module_.kind(ir::type_of(module_.ir_module(), source_, operand)); }
  Value read(ir::Operand operand);
  llvm::Value* word(ir::Operand operand) { return read(operand).word; }
  llvm::Value* condition(ir::Operand operand);
  void assign(ir::VarId variable, Value value);
  void assign(const ir::Op& op, llvm::Value* value) { assign(op.results.at(0), Value{value, nullptr}); }
  void fail_if(llvm::Value* failed, std::int32_t status, Span span, std::span<llvm::Value* const> detail = {});
  void store_place(llvm::Value* address, Span span);
  void note_call(Span span);
  void emit_return(llvm::Value* status, std::span<llvm::Value* const> results);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, target_); }
  llvm::Value* int_constant(std::int64_t value) { return builder_.getInt64(static_cast<std::uint64_t>(value)); }
  bool returns_as(ir::FunctionId callee, const ir::Op& op) const;

  ModuleEmitter& module_;
  const ir::FunctionId leaf_;
  const unsigned level_;
  const ir::Function& source_;
  llvm::Function* target_;
  llvm::IRBuilder<> builder_;
  std::vector<Value> slots_;  ///< allocas, by VarId; SROA turns them into SSA values
};

// ---- FunctionEmitter: frame ----

void FunctionEmitter::emit() {
  builder_.SetInsertPoint(block("entry"));
  declare_variables();
  auto* argument = target_->arg_begin();
  ++argument;  // the context
  for (ir::VarId parameter : source_.parameters) {
    Value value{argument++, nullptr};
    if (slots_[parameter].length) value.length = argument++;
    assign(parameter, value);
  }
  if (level_ == 0 && module_.is_recursive(leaf_)) check_stack();
  emit_region(0, /*is_tail=*/true);
  std::vector<llvm::Value*> results;
  for (ir::VarId output : source_.outputs) results.push_back(word(ir::Operand::variable(output)));
  emit_return(builder_.getInt32(raddle_leaf_ok), results);
}

/// Slots start as zero, not undefined: an IR that breaks the rule of leaves_to_llvm() then gives wrong numbers, but no
/// undefined behaviour.
void FunctionEmitter::declare_variables() {
  for (const ir::Var& variable : source_.variables) {
    llvm::Type* type = module_.type(variable.type);
    Value slot{builder_.CreateAlloca(type, nullptr, variable.name), nullptr};
    builder_.CreateStore(llvm::Constant::getNullValue(type), slot.word);
    if (module_.kind(variable.type) == TypeKind::array) {
      slot.length = builder_.CreateAlloca(builder_.getInt64Ty(), nullptr, variable.name + ".length");
      builder_.CreateStore(int_constant(0), slot.length);
    }
    slots_.push_back(slot);
  }
}

void FunctionEmitter::check_stack() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* here = builder_.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {pointer}, {});
  llvm::Value* limit = builder_.CreateLoad(
      pointer, builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_stack_limit), "limit");
  fail_if(builder_.CreateICmpULT(here, limit), raddle_leaf_recursion_too_deep, source_.span);
}

void FunctionEmitter::emit_return(llvm::Value* status, std::span<llvm::Value* const> results) {
  llvm::Value* all = llvm::PoisonValue::get(target_->getReturnType());
  all = builder_.CreateInsertValue(all, status, 0);
  for (unsigned i = 0; i < results.size(); ++i) all = builder_.CreateInsertValue(all, results[i], i + 1);
  builder_.CreateRet(all);
}

void FunctionEmitter::fail_if(llvm::Value* failed, std::int32_t status, Span span,
                              std::span<llvm::Value* const> detail) {
  llvm::BasicBlock* fails = block("fails");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(failed, fails, goes_on, llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(fails);
  llvm::Value* failure = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  const auto store = [&](llvm::Value* value, std::size_t offset) {
    builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), failure, offset));
  };
  store_place(builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), failure, offsetof(raddle_leaf_failure, place)),
              span);
  for (std::size_t i = 0; i < detail.size(); ++i) {
    store(detail[i], offsetof(raddle_leaf_failure, detail) + i * sizeof(std::int64_t));
  }
  emit_return(builder_.getInt32(static_cast<std::uint32_t>(status)), {});
  builder_.SetInsertPoint(goes_on);
}

void FunctionEmitter::store_place(llvm::Value* address, Span span) {
  const std::uint32_t words[] = {span.file, span.begin, span.end};
  for (unsigned i = 0; i < std::size(words); ++i) {
    builder_.CreateStore(builder_.getInt32(words[i]),
                         builder_.CreateConstInBoundsGEP1_64(builder_.getInt32Ty(), address, i));
  }
}

/// Adds a call to the chain of those that led to the failure.
void FunctionEmitter::note_call(Span span) {
  llvm::Type* byte = builder_.getInt8Ty();
  llvm::Value* failure = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_failure));
  llvm::Value* count_address =
      builder_.CreateConstInBoundsGEP1_64(byte, failure, offsetof(raddle_leaf_failure, call_count));
  llvm::Value* count = builder_.CreateLoad(builder_.getInt32Ty(), count_address);
  llvm::Value* position =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, builder_.getInt32(raddle_leaf_call_limit));
  llvm::Value* offset = builder_.CreateMul(builder_.CreateZExt(position, builder_.getInt64Ty()),
                                           builder_.getInt64(sizeof(raddle_leaf_place)));
  llvm::Value* first = builder_.CreateConstInBoundsGEP1_64(byte, failure, offsetof(raddle_leaf_failure, calls));
  store_place(builder_.CreateInBoundsGEP(byte, first, offset), span);
  builder_.CreateStore(builder_.CreateAdd(count, builder_.getInt32(1)), count_address);
}

// ---- FunctionEmitter: variables ----

Value FunctionEmitter::read(ir::Operand operand) {
  if (!operand.is_constant) {
    const Value slot = slots_.at(operand.index);
    Value value{builder_.CreateLoad(llvm::cast<llvm::AllocaInst>(slot.word)->getAllocatedType(), slot.word), nullptr};
    if (slot.length) value.length = builder_.CreateLoad(builder_.getInt64Ty(), slot.length);
    return value;
  }
  const ir::Constant& constant = module_.ir_module().constants.at(operand.index);
  if (const auto* number = std::get_if<std::int64_t>(&constant)) return {int_constant(*number), nullptr};
  if (const auto* number = std::get_if<double>(&constant)) {
    return {llvm::ConstantFP::get(builder_.getDoubleTy(), *number), nullptr};
  }
  if (const auto* truth = std::get_if<bool>(&constant)) return {builder_.getInt1(*truth), nullptr};
  module_.refuse("a string constant");
  return {int_constant(0), nullptr};
}

/// An int is a condition too: 0 is false.
llvm::Value* FunctionEmitter::condition(ir::Operand operand) {
  llvm::Value* value = word(operand);
  return value->getType()->isIntegerTy(1) ? value : builder_.CreateIsNotNull(value);
}

void FunctionEmitter::assign(ir::VarId variable, Value value) {
  const Value slot = slots_.at(variable);
  builder_.CreateStore(value.word, slot.word);
  if (slot.length) builder_.CreateStore(value.length, slot.length);
}

// ---- FunctionEmitter: operations ----

void FunctionEmitter::emit_region(ir::RegionId region, bool is_tail) {
  const std::vector<ir::Op>& ops = source_.regions.at(region).ops;
  for (const ir::Op& op : ops) {
    emit_op(op, is_tail && &op == &ops.back());
    if (!module_.refusal.empty()) return;
  }
}

void FunctionEmitter::emit_op(const ir::Op& op, bool is_tail) {
  switch (op.kind) {
    case OpKind::copy: return assign(op.results.at(0), read(op.operands.at(0)));
    case OpKind::int_to_float:
      return assign(op, builder_.CreateSIToFP(word(op.operands.at(0)), builder_.getDoubleTy()));
    case OpKind::add:
    case OpKind::sub:
    case OpKind::mul:
    case OpKind::neg:
    case OpKind::div:
    case OpKind::pow: return emit_arithmetic(op);
    case OpKind::mul_add:
    case OpKind::mul_sub:
    case OpKind::sub_mul: return emit_fused(op);
    case OpKind::idiv:
    case OpKind::mod: return emit_division(op);
    case OpKind::not_: return assign(op, builder_.CreateNot(word(op.operands.at(0))));
    case OpKind::and_: return assign(op, builder_.CreateAnd(word(op.operands.at(0)), word(op.operands.at(1))));
    case OpKind::or_: return assign(op, builder_.CreateOr(word(op.operands.at(0)), word(op.operands.at(1))));
    case OpKind::eq:
    case OpKind::ne:
    case OpKind::lt:
    case OpKind::le:
    case OpKind::gt:
    case OpKind::ge: return emit_comparison(op);
    case OpKind::array_get: return emit_array_get(op);
    case OpKind::call: return emit_call(op, is_tail);
    case OpKind::call_builtin: return emit_builtin(op);
    case OpKind::if_: return emit_if(op, is_tail);
    case OpKind::switch_: return emit_switch(op, is_tail);
    case OpKind::loop: return emit_loop(op);
    case OpKind::concat:
    case OpKind::path_join:
    case OpKind::array_new:
    case OpKind::array_insert:
    case OpKind::array_row:
    case OpKind::array_list:
    case OpKind::array_map:
    case OpKind::array_range:
    case OpKind::bag_new:
    case OpKind::bag_append:
    case OpKind::bag_row:
    case OpKind::struct_new:
    case OpKind::struct_make:
    case OpKind::struct_get:
    case OpKind::struct_set:
    case OpKind::file_new:
    case OpKind::file_assign:
    case OpKind::update_new:
    case OpKind::update_get:
    case OpKind::update:
    case OpKind::call_app:
    case OpKind::foreach_range:
    case OpKind::foreach_array:
    case OpKind::wait:
    case OpKind::wait_deep: return module_.refuse(std::string("the operation `") + ir::info(op.kind).text + "`");
  }
}

// One instruction where the processor has it; else the C library computes the same bits.
void FunctionEmitter::emit_fused(const ir::Op& op) {
  llvm::Value* factor = word(op.operands.at(0));
  llvm::Value* addend = word(op.operands.at(2));
  if (op.kind == OpKind::sub_mul) factor = builder_.CreateFNeg(factor);
  if (op.kind == OpKind::mul_sub) addend = builder_.CreateFNeg(addend);
  llvm::Value* operands[] = {factor, word(op.operands.at(1)), addend};
  assign(op, builder_.CreateIntrinsic(llvm::Intrinsic::fma, {builder_.getDoubleTy()}, operands));
}

void FunctionEmitter::emit_arithmetic(const ir::Op& op) {
  if (kind(op.operands.at(0)) == TypeKind::int_) {
    if (op.kind == OpKind::sub || op.kind == OpKind::neg)
      return emit_checked_int(op, llvm::Intrinsic::ssub_with_overflow);
    if (op.kind == OpKind::add) return emit_checked_int(op, llvm::Intrinsic::sadd_with_overflow);
    if (op.kind == OpKind::mul) return emit_checked_int(op, llvm::Intrinsic::smul_with_overflow);
    return module_.refuse("an operation on ints of the wrong type");
  }
  llvm::Value* left = word(op.operands.at(0));
  if (op.kind == OpKind::neg) return assign(op, builder_.CreateFNeg(left));
  llvm::Value* right = word(op.operands.at(1));
  if (op.kind == OpKind::add) return assign(op, builder_.CreateFAdd(left, right));
  if (op.kind == OpKind::sub) return assign(op, builder_.CreateFSub(left, right));
  if (op.kind == OpKind::mul) return assign(op, builder_.CreateFMul(left, right));
  if (op.kind == OpKind::div) return assign(op, builder_.CreateFDiv(left, right));
  assign(op, call_math("pow", {left, right}));
}

void FunctionEmitter::emit_checked_int(const ir::Op& op, ID intrinsic) {
  llvm::Value* left = op.kind == OpKind::neg ? int_constant(0) : word(op.operands.at(0));
  llvm::Value* right = word(op.operands.back());
  llvm::Value* both = builder_.CreateBinaryIntrinsic(intrinsic, left, right);
  fail_if(builder_.CreateExtractValue(both, 1), raddle_leaf_integer_overflow, op.span);
  assign(op, builder_.CreateExtractValue(both, 0));
}

/// The least int by -1 is the one quotient that overflows, and a trap on x86, also for the remainder, which is 0.
void FunctionEmitter::emit_division(const ir::Op& op) {
  llvm::Value* left = word(op.operands.at(0));
  llvm::Value* right = word(op.operands.at(1));
  fail_if(builder_.CreateIsNull(right), raddle_leaf_division_by_zero, op.span);
  llvm::Value* by_minus_one = builder_.CreateICmpEQ(right, int_constant(-1));
  if (op.kind == OpKind::mod) {
    return assign(op, builder_.CreateSRem(left, builder_.CreateSelect(by_minus_one, int_constant(1), right)));
  }
  llvm::Value* least = builder_.CreateICmpEQ(left, int_constant(std::numeric_limits<std::int64_t>::min()));
  fail_if(builder_.CreateAnd(by_minus_one, least), raddle_leaf_integer_overflow, op.span);
  assign(op, builder_.CreateSDiv(left, right));
}

void FunctionEmitter::emit_comparison(const ir::Op& op) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Predicates {
    Predicate of_ints, of_floats;
  };
  const Predicates predicates = [&]() -> Predicates {
    if (op.kind == OpKind::eq) return {Predicate::ICMP_EQ, Predicate::FCMP_OEQ};
    if (op.kind == OpKind::ne) return {Predicate::ICMP_NE, Predicate::FCMP_UNE};
    if (op.kind == OpKind::lt) return {Predicate::ICMP_SLT, Predicate::FCMP_OLT};
    if (op.kind == OpKind::le) return {Predicate::ICMP_SLE, Predicate::FCMP_OLE};
    if (op.kind == OpKind::gt) return {Predicate::ICMP_SGT, Predicate::FCMP_OGT};
    return {Predicate::ICMP_SGE, Predicate::FCMP_OGE};
  }();
  const TypeKind kind = this->kind(op.operands.at(0));
  if (kind == TypeKind::boolean && op.kind != OpKind::eq && op.kind != OpKind::ne) {
    return module_.refuse("booleans compared by order");
  }
  const Predicate predicate = kind == TypeKind::float_ ? predicates.of_floats : predicates.of_ints;
  assign(op, builder_.CreateCmp(predicate, word(op.operands.at(0)), word(op.operands.at(1))));
}

void FunctionEmitter::emit_array_get(const ir::Op& op) {
  const Value array = read(op.operands.at(0));
  llvm::Value* index = word(op.operands.at(1));
  if (!array.length) return module_.refuse("an element of something that is no array");
  llvm::Value* const detail[] = {index, builder_.CreatePtrToInt(array.word, builder_.getInt64Ty())};
  fail_if(builder_.CreateICmpUGE(index, array.length), raddle_leaf_index_out_of_range, op.span, detail);
  const TypeKind element = module_.element_kind(source_.variables.at(op.operands.at(0).index).type);
  llvm::Type* stored = element == TypeKind::float_ ? builder_.getDoubleTy()
                       : element == TypeKind::int_ ? llvm::Type::getInt64Ty(module_.llvm_context)
                                                   : llvm::Type::getInt8Ty(module_.llvm_context);
  llvm::LoadInst* value = builder_.CreateLoad(stored, builder_.CreateInBoundsGEP(stored, array.word, index));
  value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.llvm_context, {}));
  assign(op, element == TypeKind::boolean ? builder_.CreateIsNotNull(value) : value);
}

/// Whether the results of `op`, the last thing to be done, are those of this function.
bool FunctionEmitter::returns_as(ir::FunctionId callee, const ir::Op& op) const {
  const std::size_t given = module_.ir_module().functions[callee].outputs.size();
  return op.results == source_.outputs && given == source_.outputs.size();
}

void FunctionEmitter::emit_call(const ir::Op& op, bool is_tail) {
  if (module_.ir_module().functions.at(op.callee).kind != ir::FunctionKind::leaf) {
    return module_.refuse("a call of `" + module_.ir_module().functions[op.callee].name +
                          "`, which is no leaf function");
  }
  const bool returns_call = is_tail && returns_as(op.callee, op);
  const bool unrolls = op.callee == leaf_ && !returns_call;
  llvm::Function* callee = module_.inner(op.callee, unrolls ? (level_ + 1) % module_.levels(leaf_) : 0);
  std::vector<llvm::Value*> arguments = {target_->getArg(0)};
  for (ir::Operand operand : op.operands) {
    const Value value = read(operand);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::CallInst* call = builder_.CreateCall(callee, arguments);
  call->setCallingConv(llvm::CallingConv::Fast);
  if (returns_call) {
    builder_.CreateRet(call);  // status and all: LLVM makes a loop of it
    return builder_.SetInsertPoint(block("never"));
  }
  llvm::Value* status = builder_.CreateExtractValue(call, 0);
  llvm::BasicBlock* failed = block("call_failed");
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(builder_.CreateIsNotNull(status), failed, goes_on,
                        llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(failed);
  note_call(op.span);
  emit_return(status, {});
  builder_.SetInsertPoint(goes_on);
  for (unsigned i = 0; i < op.results.size(); ++i) {
    assign(op.results[i], Value{builder_.CreateExtractValue(call, i + 1), nullptr});
  }
}

void FunctionEmitter::emit_builtin(const ir::Op& op) {
  const ir::Module& module = module_.ir_module();
  std::vector<TypeId> types;
  for (ir::Operand operand : op.operands) types.push_back(ir::type_of(module, source_, operand));
  const std::string_view name = module_.source.builtin_name(op.callee);
  const std::optional<LeafBuiltin> builtin = leaf_builtin(*module.types, name, types);
  if (!builtin) return module_.refuse("a call of `" + std::string(name) + "`, which only the interpreter knows");
  llvm::Value* result = builtin_value(*builtin, op);
  if (failure_of(*builtin) == LeafBuiltinFailure::domain) {
    llvm::Value* of_numbers = builder_.CreateFCmpORD(word(op.operands.front()), word(op.operands.back()));
    fail_if(builder_.CreateAnd(of_numbers, builder_.CreateFCmpUNO(result, result)), raddle_leaf_domain_error, op.span);
  }
  assign(op, result);
}

llvm::Value* FunctionEmitter::builtin_value(LeafBuiltin builtin, const ir::Op& op) {
  llvm::Type* floating = builder_.getDoubleTy();
  const auto argument = [&](std::size_t i) { return word(op.operands.at(i)); };
  const auto unary = [&](ID intrinsic) { return builder_.CreateUnaryIntrinsic(intrinsic, argument(0)); };
  const auto to_float = [&](std::size_t i) { return builder_.CreateSIToFP(argument(i), floating); };
  switch (builtin) {
    case LeafBuiltin::sqrt: return unary(llvm::Intrinsic::sqrt);
    case LeafBuiltin::floor: return unary(llvm::Intrinsic::floor);
    case LeafBuiltin::ceil: return unary(llvm::Intrinsic::ceil);
    case LeafBuiltin::round: return unary(llvm::Intrinsic::round);
    case LeafBuiltin::abs_float: return unary(llvm::Intrinsic::fabs);
    case LeafBuiltin::cbrt: return call_math("cbrt", {argument(0)});
    case LeafBuiltin::exp: return call_math("exp", {argument(0)});
    case LeafBuiltin::log: return call_math("log", {argument(0)});
    case LeafBuiltin::log10: return call_math("log10", {argument(0)});
    case LeafBuiltin::log2: return call_math("log2", {argument(0)});
    case LeafBuiltin::sin: return call_math("sin", {argument(0)});
    case LeafBuiltin::cos: return call_math("cos", {argument(0)});
    case LeafBuiltin::tan: return call_math("tan", {argument(0)});
    case LeafBuiltin::asin: return call_math("asin", {argument(0)});
    case LeafBuiltin::acos: return call_math("acos", {argument(0)});
    case LeafBuiltin::atan: return call_math("atan", {argument(0)});
    case LeafBuiltin::atan2: return call_math("atan2", {argument(0), argument(1)});
    case LeafBuiltin::pow_float: return call_math("pow", {argument(0), argument(1)});
    case LeafBuiltin::pow_int: return call_math("pow", {to_float(0), to_float(1)});
    case LeafBuiltin::abs_int: {
      fail_if(builder_.CreateICmpEQ(argument(0), int_constant(std::numeric_limits<std::int64_t>::min())),
              raddle_leaf_integer_overflow, op.span);
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, argument(0), builder_.getTrue());
    }
    case LeafBuiltin::max_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, argument(0), argument(1));
    case LeafBuiltin::min_int: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, argument(0), argument(1));
    case LeafBuiltin::max_float: return extreme(argument(0), argument(1), llvm::CmpInst::FCMP_OGT);
    case LeafBuiltin::min_float: return extreme(argument(0), argument(1), llvm::CmpInst::FCMP_OLT);
    case LeafBuiltin::is_nan: return builder_.CreateFCmpUNO(argument(0), argument(0));
    case LeafBuiltin::int_to_float: return to_float(0);
    case LeafBuiltin::float_to_int: return float_to_int(argument(0), op.span);
    case LeafBuiltin::bool_to_int: return builder_.CreateZExt(argument(0), builder_.getInt64Ty());
    case LeafBuiltin::exclusive_or: return builder_.CreateXor(argument(0), argument(1));
    case LeafBuiltin::size: return read(op.operands.at(0)).length;
  }
  std::unreachable();
}

/// NaN if either is; of two zeros the right one. As stdlib/native/math.cpp has it.
llvm::Value* FunctionEmitter::extreme(llvm::Value* left, llvm::Value* right, llvm::CmpInst::Predicate wins) {
  llvm::Value* takes_left =
      builder_.CreateOr(builder_.CreateFCmpUNO(left, left), builder_.CreateFCmp(wins, left, right));
  return builder_.CreateSelect(takes_left, left, right);
}

/// Truncates. Below -2^63, from 2^63 on, and NaN there is no such int; 2^63 is a float, 2^63 - 1 is not.
llvm::Value* FunctionEmitter::float_to_int(llvm::Value* number, Span span) {
  constexpr double end = 9223372036854775808.0;
  llvm::Type* floating = builder_.getDoubleTy();
  llvm::Value* too_small = builder_.CreateFCmpULT(number, llvm::ConstantFP::get(floating, -end));
  llvm::Value* too_large = builder_.CreateFCmpUGE(number, llvm::ConstantFP::get(floating, end));
  fail_if(builder_.CreateOr(too_small, too_large), raddle_leaf_domain_error, span);
  return builder_.CreateFPToSI(number, builder_.getInt64Ty());
}

/// A function of libm, under a name of our own: see Note [agreement] in leaf_to_llvm.cpp. It is pure but for errno.
llvm::Value* FunctionEmitter::call_math(std::string_view name, std::vector<llvm::Value*> arguments) {
  llvm::Type* floating = builder_.getDoubleTy();
  const std::vector<llvm::Type*> parameters(arguments.size(), floating);
  llvm::FunctionCallee callee = module_.out.getOrInsertFunction(
      math_symbol(name), llvm::FunctionType::get(floating, parameters, /*isVarArg=*/false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::Speculatable);
  return builder_.CreateCall(callee, arguments);
}

void FunctionEmitter::emit_if(const ir::Op& op, bool is_tail) {
  llvm::BasicBlock* then = block("then");
  llvm::BasicBlock* join = llvm::BasicBlock::Create(module_.llvm_context, "join");
  llvm::BasicBlock* other = op.regions.size() > 1 ? block("else") : join;
  builder_.CreateCondBr(condition(op.operands.at(0)), then, other);
  builder_.SetInsertPoint(then);
  emit_region(op.regions.at(0), is_tail);
  builder_.CreateBr(join);
  if (op.regions.size() > 1) {
    builder_.SetInsertPoint(other);
    emit_region(op.regions[1], is_tail);
    builder_.CreateBr(join);
  }
  join->insertInto(target_);
  builder_.SetInsertPoint(join);
}

void FunctionEmitter::emit_switch(const ir::Op& op, bool is_tail) {
  llvm::BasicBlock* join = llvm::BasicBlock::Create(module_.llvm_context, "join");
  const bool has_default = op.regions.size() > op.labels.size();
  llvm::BasicBlock* other = has_default ? block("default") : join;
  llvm::SwitchInst* instruction =
      builder_.CreateSwitch(word(op.operands.at(0)), other, static_cast<unsigned>(op.labels.size()));
  for (std::size_t i = 0; i < op.regions.size(); ++i) {
    llvm::BasicBlock* arm = i < op.labels.size() ? block("case") : other;
    if (i < op.labels.size()) instruction->addCase(builder_.getInt64(static_cast<std::uint64_t>(op.labels[i])), arm);
    builder_.SetInsertPoint(arm);
    emit_region(op.regions[i], is_tail);
    builder_.CreateBr(join);
  }
  join->insertInto(target_);
  builder_.SetInsertPoint(join);
}

/// See Note [loop] in ir/module.hpp. The loop variables keep their values when the loop ends: `nexts` are taken over
/// only for another round.
void FunctionEmitter::emit_loop(const ir::Op& op) {
  const std::vector<ir::VarId>& variables = source_.regions.at(op.regions.at(0)).parameters;
  const auto assign_variables = [&](const std::vector<ir::Operand>& from) {
    std::vector<Value> values;  // all read before the first is assigned
    for (ir::Operand operand : from) values.push_back(read(operand));
    for (std::size_t i = 0; i < variables.size(); ++i) assign(variables[i], values.at(i));
  };
  llvm::BasicBlock* head = block("loop");
  llvm::BasicBlock* again = llvm::BasicBlock::Create(module_.llvm_context, "again");
  llvm::BasicBlock* end = llvm::BasicBlock::Create(module_.llvm_context, "end");
  assign_variables(op.operands);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  emit_region(op.regions[0], /*is_tail=*/false);
  if (op.test_after) {
    emit_region(op.regions.at(1), /*is_tail=*/false);
    builder_.CreateCondBr(condition(op.condition), end, again);
  } else {
    llvm::BasicBlock* body = block("body");
    builder_.CreateCondBr(condition(op.condition), body, end);
    builder_.SetInsertPoint(body);
    emit_region(op.regions.at(1), /*is_tail=*/false);
    builder_.CreateBr(again);
  }
  again->insertInto(target_);
  builder_.SetInsertPoint(again);
  assign_variables(op.nexts);
  builder_.CreateBr(head);
  end->insertInto(target_);
  builder_.SetInsertPoint(end);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    assign(op.results[i], read(ir::Operand::variable(variables.at(i))));
}

}  // namespace

void emit_function(ModuleEmitter& module, ir::FunctionId leaf, unsigned level, llvm::Function* target) {
  FunctionEmitter(module, leaf, level, target).emit();
}

}  // namespace raddle::codegen
