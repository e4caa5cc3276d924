// The function as a whole, its variables, control flow.
#include <algorithm>
#include <optional>

#include "compiler/codegen/function_emitter.hpp"

namespace raddle::codegen {

using ir::OpKind;

// ---- the frame, failures ----

void FunctionEmitter::emit() {
  builder_.SetInsertPoint(block("entry"));
  declare_variables();
  auto* argument = target_->arg_begin();
  ++argument;  // the context
  for (ir::VarId parameter : source_.parameters) {
    LeafValue value{argument++, nullptr};
    if (slots_[parameter].length) value.length = argument++;
    assign(parameter, value);
  }
  if (level_ == 0 && module_.is_recursive(leaf_)) check_stack();
  may_fork_ = level_ == 0 && !has_tail_call(0);
  emit_region(0, /*is_tail=*/true);
  std::vector<llvm::Value*> results;
  for (ir::VarId output : source_.outputs) results.push_back(word(ir::Operand::variable(output)));
  emit_return(builder_.getInt32(raddle_leaf_ok), results);
}

/// Slots start as zero, not undefined: an IR that breaks the rule of leaves_to_llvm() then gives wrong numbers, but no
/// undefined behaviour.
void FunctionEmitter::declare_variables() {
  for (const ir::Var& variable : source_.variables) {
    if (module_.kind(variable.type) == TypeKind::void_) {  // of an assertion; nothing reads it
      slots_.emplace_back();
      continue;
    }
    llvm::Type* type = module_.type(variable.type);
    LeafValue slot{builder_.CreateAlloca(type, nullptr, variable.name), nullptr};
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
  fail_if(builder_.CreateICmpULT(here, stack_limit()), raddle_leaf_recursion_too_deep, source_.span);
}

/// Anew each time: another thread may change it, to end the run.
llvm::Value* FunctionEmitter::stack_limit() {
  static_assert(offsetof(raddle_leaf_worker, stack_limit) == 0);
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Value* worker = builder_.CreateLoad(
      pointer, builder_.CreateStructGEP(module_.context_type(), target_->getArg(0), context_worker), "worker");
  llvm::LoadInst* limit = builder_.CreateAlignedLoad(pointer, worker, llvm::Align(alignof(void*)), "limit");
  limit->setVolatile(true);
  limit->setAtomic(llvm::AtomicOrdering::Unordered);
  return limit;
}

/// Leaves the function if the run is to end.
void FunctionEmitter::check_interrupt(Span span) {
  llvm::Value* everything =
      llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::getAllOnesValue(builder_.getInt64Ty()), builder_.getPtrTy());
  fail_if(builder_.CreateICmpEQ(stack_limit(), everything), raddle_leaf_interrupted, span);
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

// ---- variables ----

LeafValue FunctionEmitter::read(ir::Operand operand) {
  if (!operand.is_constant) {
    const LeafValue slot = slots_.at(operand.index);
    LeafValue value{builder_.CreateLoad(llvm::cast<llvm::AllocaInst>(slot.word)->getAllocatedType(), slot.word),
                    nullptr};
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

void FunctionEmitter::assign(ir::VarId variable, LeafValue value) {
  const LeafValue slot = slots_.at(variable);
  builder_.CreateStore(value.word, slot.word);
  if (slot.length) builder_.CreateStore(value.length, slot.length);
}

// ---- regions ----

void FunctionEmitter::emit_region(ir::RegionId region, bool is_tail) {
  const std::span<const ir::Op> ops = source_.regions.at(region).ops;
  for (std::size_t i = 0; i < ops.size() && module_.refusal.empty();) {
    const std::size_t at_once = calls_at_once(ops.subspan(i));
    if (at_once > 1)
      emit_calls_at_once(ops.subspan(i, at_once));
    else
      emit_op(ops[i], is_tail && i + 1 == ops.size());
    i += std::max<std::size_t>(at_once, 1);
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
    case OpKind::memo:
    case OpKind::memo_keep:
    case OpKind::wait:
    case OpKind::wait_deep: return module_.refuse(std::string("the operation `") + ir::info(op.kind).text + "`");
  }
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

/// Without loops and calls in it, and counted from one constant to another: LLVM may unroll it. All other loops ask
/// whether the run is to end.
bool FunctionEmitter::is_brief(const ir::Op& op) const {
  constexpr std::int64_t most_iterations = 1000;
  for (const ir::RegionId region : op.regions)
    for (const ir::Op& inner : source_.regions.at(region).ops)
      if (inner.kind == OpKind::call || !inner.regions.empty()) return false;
  if (op.test_after || op.condition.is_constant) return false;
  const auto constant = [&](ir::Operand operand) -> std::optional<std::int64_t> {
    if (!operand.is_constant) return std::nullopt;
    const auto* number = std::get_if<std::int64_t>(&module_.ir_module().constants.at(operand.index));
    return number ? std::optional(*number) : std::nullopt;
  };
  const auto maker = [&](ir::RegionId region, ir::Operand value) -> const ir::Op* {
    for (const ir::Op& inner : source_.regions.at(region).ops)
      if (!value.is_constant && inner.results.size() == 1 && inner.results[0] == value.index) return &inner;
    return nullptr;
  };
  const std::vector<ir::VarId>& variables = source_.regions.at(op.regions[0]).parameters;
  const ir::Op* test = maker(op.regions[0], op.condition);
  if (!test || (test->kind != OpKind::lt && test->kind != OpKind::le) || test->operands[0].is_constant) return false;
  const auto counter = std::ranges::find(variables, test->operands[0].index);
  if (counter == variables.end()) return false;
  const auto index = static_cast<std::size_t>(counter - variables.begin());
  const ir::Op* step = maker(op.regions[1], op.nexts.at(index));
  const bool counts = step && step->kind == OpKind::add && !step->operands[0].is_constant &&
                      step->operands[0].index == *counter && constant(step->operands[1]).value_or(0) > 0;
  const auto first = constant(op.operands.at(index)), end = constant(test->operands[1]);
  return counts && first && end && *first > -most_iterations && *end < most_iterations;
}

/// See Note [loop] in ir/module.hpp. The loop variables keep their values when the loop ends: `nexts` are taken over
/// only for another round.
void FunctionEmitter::emit_loop(const ir::Op& op) {
  const std::vector<ir::VarId>& variables = source_.regions.at(op.regions.at(0)).parameters;
  const auto assign_variables = [&](const std::vector<ir::Operand>& from) {
    std::vector<LeafValue> values;  // all read before the first is assigned
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
  if (!is_brief(op)) check_interrupt(op.span);
  assign_variables(op.nexts);
  builder_.CreateBr(head);
  end->insertInto(target_);
  builder_.SetInsertPoint(end);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    assign(op.results[i], read(ir::Operand::variable(variables.at(i))));
}

void emit_function(ModuleEmitter& module, ir::FunctionId leaf, unsigned level, llvm::Function* target) {
  FunctionEmitter(module, leaf, level, target).emit();
}

}  // namespace raddle::codegen
