// Control flow of lanes: see Note [lanes] in lane_emitter.hpp.
#include <algorithm>

#include "compiler/codegen/lane_emitter.hpp"

namespace raddle::codegen {

using vm::Kernel;
using vm::KernelBlockId;
using vm::KernelInstruction;
using vm::KernelLoop;
using vm::KernelOp;
using vm::KernelRegister;

std::vector<LaneValue> LaneEmitter::emit(vm::KernelId id, std::vector<LaneValue> arguments) {
  const Kernel& kernel = module_.group[id];
  Frame frame{kernel, std::move(arguments)};
  for (std::size_t i = 0; i < kernel.constants.size(); ++i)
    frame.values.push_back(constant(kernel.types[frame.values.size()], kernel.constants[i]));
  frame.values.resize(kernel.types.size());
  return emit_versions(frame, 0, kernel.outputs).values;
}

void LaneEmitter::emit_block(Frame& frame, KernelBlockId block) {
  if (block == vm::no_kernel_part) return;
  for (const KernelInstruction& instruction : frame.kernel.blocks[block]) emit_instruction(frame, instruction);
}

void LaneEmitter::emit_instruction(Frame& frame, const KernelInstruction& instruction) {
  switch (instruction.op) {
    case KernelOp::if_: return emit_if(frame, instruction);
    case KernelOp::loop: return emit_loop(frame, instruction);
    case KernelOp::call: return emit_call(frame, instruction);
    default: break;
  }
  LaneValue value = compute(frame, instruction);
  if (instruction.result != vm::no_kernel_part) frame.values[instruction.result] = std::move(value);
}

/// All that the call needs is inlined: GroupFacts::suits_lanes.
void LaneEmitter::emit_call(Frame& frame, const KernelInstruction& instruction) {
  const vm::KernelCall& call = frame.kernel.calls[instruction.index];
  std::vector<LaneValue> arguments;
  for (const KernelRegister input : call.inputs) arguments.push_back(frame.values[input]);
  const std::vector<LaneValue> results = emit(call.kernel, std::move(arguments));
  for (std::size_t i = 0; i < results.size(); ++i) frame.values[call.results[i]] = results[i];
}

void LaneEmitter::fail_if(llvm::Value* failed, std::int32_t /*status*/, const vm::Place& /*place*/) {
  if (is_foreseeing_) return;
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(failed); known != nullptr && known->isNullValue()) return;
  if (failed_.empty()) failed_ = lanes(false);
  const bool is_uniform = !failed->getType()->isVectorTy();
  for (std::size_t part = is_uniform ? 0 : part_; part < (is_uniform ? shape_.vector_count : part_ + 1); ++part) {
    llvm::Value* here = mask(is_uniform ? builder_.CreateVectorSplat(shape_.vector_size, failed) : failed);
    if (!live_.empty()) here = builder_.CreateAnd(live_[part], here);
    failed_[part] = builder_.CreateOr(failed_[part], here);
  }
}

// ---- branches ----

/// The results that both arms give are joined; no other register of an arm is read behind it.
void LaneEmitter::emit_if(Frame& frame, const KernelInstruction& instruction) {
  const vm::KernelBranch& branch = frame.kernel.branches[instruction.index];
  const LaneValue condition = frame.values[instruction.inputs[0]];
  std::vector<KernelRegister> results;
  std::ranges::set_intersection(assigned_in(frame.kernel, branch.then_block),
                                assigned_in(frame.kernel, branch.else_block), std::back_inserter(results));
  if (condition.is_uniform()) {
    llvm::BasicBlock *then = block("then"), *other = block("else"), *end = block("join");
    const LaneMask failed = failed_;
    builder_.CreateCondBr(condition.parts[0], then, other);
    builder_.SetInsertPoint(then);
    const Path one = emit_versions(frame, branch.then_block, results);
    builder_.CreateBr(end);
    failed_ = failed;
    builder_.SetInsertPoint(other);
    const Path two = emit_versions(frame, branch.else_block, results);
    builder_.CreateBr(end);
    builder_.SetInsertPoint(end);
    const Path joined = join(one, two);
    for (std::size_t i = 0; i < results.size(); ++i) frame.values[results[i]] = joined.values[i];
    return;
  }
  const LaneMask live = live_, taken = mask(condition.parts);
  live_ = both(live, taken);
  const Path one = emit_arm(frame, branch.then_block, results);
  if (branch.else_block != vm::no_kernel_part) {
    live_ = without(live, taken);
    const Path two = emit_arm(frame, branch.else_block, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      LaneValue joined = select(condition.parts, one.values[i], two.values[i]);
      join_distances(condition.parts, one.values[i], two.values[i], joined);
      frame.values[results[i]] = std::move(joined);
    }
  }
  live_ = live;
}

LaneEmitter::Path LaneEmitter::emit_path(Frame& frame, KernelBlockId block, std::span<const KernelRegister> results) {
  emit_block(frame, block);
  Path path{builder_.GetInsertBlock(), {}, failed_};
  for (const KernelRegister result : results) path.values.push_back(frame.values[result]);
  return path;
}

/// For the lanes in `live_`.
LaneEmitter::Path LaneEmitter::emit_arm(Frame& frame, KernelBlockId arm, std::span<const KernelRegister> results) {
  if (!is_worth_jump(frame.kernel, arm)) return emit_versions(frame, arm, results);
  llvm::BasicBlock *taken = block("taken"), *end = block("join");
  Path skipped{builder_.GetInsertBlock(), {}, failed_};
  builder_.CreateCondBr(any(live_), taken, end);
  builder_.SetInsertPoint(taken);
  const Path path = emit_versions(frame, arm, results);
  builder_.CreateBr(end);
  for (const LaneValue& value : path.values) skipped.values.push_back(zero_like(value));
  builder_.SetInsertPoint(end);
  return join(path, skipped);
}

/// A loop that is the same for all lanes may never end if none of them is to run it.
bool LaneEmitter::is_worth_jump(const Kernel& kernel, KernelBlockId block) const {
  constexpr std::size_t cheap = 24;
  return module_.facts.has_loop(kernel, block) || module_.facts.cost(kernel, block) > cheap;
}

// ---- loops ----

/// Registers that are not the same for all lanes that are in the loop, at most; variables of the loop among them.
std::set<KernelRegister> LaneEmitter::varying_in(const Frame& frame, const KernelLoop& loop) const {
  const Kernel& kernel = frame.kernel;
  std::set<KernelRegister> varying;
  const std::set<KernelRegister> in_test = assigned_in(kernel, loop.test_block),
                                 in_body = assigned_in(kernel, loop.body_block);
  const auto is_inside = [&](KernelRegister id) {
    return in_test.contains(id) || in_body.contains(id) || contains(loop.variables, id);
  };
  const auto varies = [&](KernelRegister id) {
    return varying.contains(id) || (!is_inside(id) && frame.values[id].exists() && !frame.values[id].is_uniform());
  };
  const auto add_variables = [&](const KernelLoop& each, bool is_left_together) {
    for (std::size_t i = 0; i < each.variables.size(); ++i)
      if (!is_left_together || varies(each.initial[i]) || varies(each.next[i])) varying.insert(each.variables[i]);
  };
  const auto add = [&](const KernelInstruction& instruction) {
    if (instruction.op == KernelOp::loop) {
      const KernelLoop& inner = kernel.loops[instruction.index];
      return add_variables(inner, !varies(inner.condition));
    }
    const bool is_varying = std::ranges::any_of(inputs_of(kernel, instruction), varies);
    if (!is_varying) return;
    const vm::KernelBranch* branch = instruction.op == KernelOp::if_ ? &kernel.branches[instruction.index] : nullptr;
    if (branch != nullptr) {
      varying.merge(assigned_in(kernel, branch->then_block));
      varying.merge(assigned_in(kernel, branch->else_block));
    }
    for (const KernelRegister result : results_of(kernel, instruction)) varying.insert(result);
  };
  const auto add_block = [&](KernelBlockId block) {
    for (const KernelInstruction& instruction : kernel.blocks[block]) add(instruction);
  };
  for (std::size_t before = 1, count = 0; before != count;) {
    before = varying.size();
    add_variables(loop, true);
    visit_blocks(kernel, loop.test_block, add_block);
    visit_blocks(kernel, loop.body_block, add_block);
    count = varying.size();
  }
  if (varies(loop.condition)) varying.insert(loop.condition);
  return varying;
}

/// A variable that is read behind the loop keeps its value in lanes that have come to their end. That is its own value
/// if it varies, else one beside it; of those that grow by a constant in each round it is made of the number of rounds
/// that a lane was in the loop.
void LaneEmitter::emit_loop(Frame& frame, const KernelInstruction& instruction) {
  const Kernel& kernel = frame.kernel;
  const KernelLoop& loop = kernel.loops[instruction.index];
  const std::set<KernelRegister> varying = varying_in(frame, loop);
  const bool is_uniform = !varying.contains(loop.condition);
  const bool can_fail =
      module_.facts.can_fail(kernel, loop.test_block) || module_.facts.can_fail(kernel, loop.body_block);
  const LaneMask live = live_;
  if (can_fail && failed_.empty()) failed_ = lanes(false);
  if (!is_uniform) live_ = without(live_.empty() ? lanes(true) : live_, failed_);

  // a mask is -1 in lanes that are in the loop; a number as wide as that must not overflow
  const bool counts_rounds =
      !is_uniform && (shape_.mask_bits == 64 || (shape_.mask_bits == 32 && is_brief(kernel, loop)));
  struct Variable {
    KernelRegister id;
    bool varies, is_kept;              // kept: for lanes that have left
    std::optional<std::int64_t> step;  // kept by the number of rounds
    LaneValue initial, kept_initial, kept;
  };
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < loop.variables.size(); ++i) {
    const KernelRegister id = loop.variables[i];
    const LaneValue& value = frame.values[loop.initial[i]];
    Variable made{id, varying.contains(id), !is_uniform && is_read_outside(kernel, loop, id), std::nullopt, value, {},
                  {}};
    if (made.varies) made.initial.parts = vectors(value);
    if (made.is_kept && !made.varies && counts_rounds) made.step = step_of(kernel, loop, i);
    if (made.is_kept && !made.varies && !made.step) made.kept_initial.parts = vectors(value);
    variables.push_back(std::move(made));
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("loop"), *again = block("again"),
                   *end = block("end");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  const auto begin_phis = [&](const LaneParts& values) {
    LaneParts phis;
    for (llvm::Value* value : values) {
      llvm::PHINode* made = builder_.CreatePHI(value->getType(), 2);
      made->addIncoming(value, before);
      phis.push_back(made);
    }
    return phis;
  };
  const auto end_phis = [&](const LaneParts& phis, const LaneParts& values) {
    for (std::size_t i = 0; i < phis.size(); ++i)
      llvm::cast<llvm::PHINode>(phis[i])->addIncoming(values[i], builder_.GetInsertBlock());
  };
  for (Variable& variable : variables) {
    frame.values[variable.id] = {begin_phis(variable.initial.parts), variable.initial.length};
    variable.kept.parts = begin_phis(variable.kept_initial.parts);
  }
  const bool needs_rounds = std::ranges::any_of(variables, [](const Variable& each) { return each.step.has_value(); });
  const LaneParts rounds = needs_rounds ? begin_phis(lanes(false)) : LaneParts();
  const LaneMask live_at_head = is_uniform ? LaneMask() : begin_phis(live_);
  const LaneMask failed_at_head = can_fail ? begin_phis(failed_) : LaneMask();
  if (can_fail) failed_ = failed_at_head;
  if (!is_uniform) {  // from here on what fails in this round: who has failed before is not live
    live_ = live_at_head;
    failed_.clear();
  }

  emit_block(frame, loop.test_block);
  if (loop.test_after) emit_block(frame, loop.body_block);
  builder_.CreateCondBr(goes_on(frame, loop, is_uniform), again, end);
  const auto with_earlier = [&](const LaneMask& failed) {
    return is_uniform ? failed : either(failed_at_head, failed);
  };
  builder_.SetInsertPoint(end);
  const LaneMask failed_at_end = with_earlier(failed_);
  builder_.SetInsertPoint(again);
  if (!loop.test_after) emit_block(frame, loop.body_block);
  if (!is_brief(kernel, loop)) check_interrupt();

  std::vector<LaneParts> next, kept;  // all before the first is assigned
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const LaneValue& value = frame.values[loop.next[i]];
    const auto selected = [&](const LaneValue& left_with) { return select(conditions(live_), value, left_with).parts; };
    if (!variable.varies)
      next.push_back(value.parts);
    else
      next.push_back(variable.is_kept ? selected(frame.values[variable.id]) : vectors(value));
    kept.push_back(variable.kept.exists() ? selected(variable.kept) : LaneParts());
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    end_phis(frame.values[variables[i].id].parts, next[i]);
    end_phis(variables[i].kept.parts, kept[i]);
  }
  LaneParts more_rounds;
  for (std::size_t i = 0; i < rounds.size(); ++i) more_rounds.push_back(builder_.CreateSub(rounds[i], live_[i]));
  end_phis(rounds, more_rounds);
  if (!is_uniform) end_phis(live_at_head, without(live_, failed_));
  if (can_fail) end_phis(failed_at_head, with_earlier(failed_));
  builder_.CreateBr(head);
  builder_.SetInsertPoint(end);
  for (Variable& variable : variables) {
    if (variable.step) variable.kept.parts = after_rounds(variable.initial.parts[0], *variable.step, rounds);
    if (variable.kept.exists()) frame.values[variable.id] = std::move(variable.kept);
  }
  failed_ = failed_at_end;
  live_ = live;
}

/// Whether some lane has another round before it; which ones: `live_`. What has failed may go on for ever.
/// What is the same for all of them is tested once, as a scalar, so that LLVM knows its range in the loop.
llvm::Value* LaneEmitter::goes_on(const Frame& frame, const KernelLoop& loop, bool is_uniform) {
  const LaneValue& condition = frame.values[loop.condition];
  if (is_uniform) {
    llvm::Value* decides = loop.test_after ? builder_.CreateNot(condition.parts[0]) : condition.parts[0];
    if (failed_.empty()) return decides;
    return builder_.CreateAnd(decides, any(without(live_.empty() ? lanes(true) : live_, failed_)));
  }
  if (loop.test_after) {
    live_ = without(without(live_, mask(vectors(condition))), failed_);
    return any(live_);
  }
  llvm::Value* decides = nullptr;
  for (const KernelRegister id : conjunction(frame.kernel, loop)) {
    const LaneValue& part = frame.values[id];
    if (!part.is_uniform())
      live_ = both(live_, mask(part.parts));
    else
      decides = decides == nullptr ? part.parts[0] : builder_.CreateAnd(decides, part.parts[0]);
  }
  live_ = without(live_, failed_);
  return decides == nullptr ? any(live_) : builder_.CreateAnd(decides, any(live_));
}

/// Of a variable that has grown by `step` in each of them.
LaneParts LaneEmitter::after_rounds(llvm::Value* initial, std::int64_t step, const LaneParts& rounds) {
  LaneParts result;
  for (llvm::Value* each : rounds) {
    llvm::Value* number = builder_.CreateZExt(each, splat(initial, each->getType())->getType());
    llvm::Value* distance = builder_.CreateMul(number, splat(int_constant(step), number->getType()));
    result.push_back(builder_.CreateAdd(splat(initial, number->getType()), distance));
  }
  return result;
}

void LaneEmitter::check_interrupt() {
  llvm::BasicBlock* goes_on = block("");
  builder_.CreateCondBr(module_.is_interrupted(builder_, worker_), stopped_, goes_on,
                        llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(goes_on);
}

}  // namespace raddle::codegen
