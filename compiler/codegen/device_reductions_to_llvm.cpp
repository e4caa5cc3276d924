// Note [reductions on devices]. A thread of a device reduces the numbers of its point by itself, one after the other,
// with what has the bits of vm/value/reduction.cpp: floats in eight lanes, which are joined after each 256 numbers, and
// these blocks in the fixed tree. Of the tree there is one part for each power of two in the number of blocks so far,
// as in a binary counter. Lanes and parts lie in memory of the thread. Ints are added in 128 bits, in any order. NaN,
// Inf, floats whose squares have to be looked at, sums that are no int: such a point does not end well, so that a
// worker computes it.
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/codegen/function_emitter.hpp"
#include "vm/value/reduction.hpp"

namespace raddle::codegen {

using vm::KernelInstruction;
using vm::KernelReducer;
using vm::KernelReduction;
using vm::KernelRegister;

namespace {

constexpr std::uint64_t lanes = vm::reduction_lanes;
constexpr std::uint64_t block_numbers = vm::ReductionTree<double>::block_size;
constexpr std::uint64_t block_log2 = 8;
static_assert(block_numbers == std::uint64_t{1} << block_log2);
constexpr std::uint64_t tree_levels = 64 - block_log2;
constexpr std::int64_t exact_ints = std::int64_t{1} << 53;  ///< floats have each up to here

}  // namespace

/// Memory of this call, whatever comes around it.
llvm::Value* FunctionEmitter::memory_for(llvm::Type* type, std::uint64_t count) {
  llvm::IRBuilder<> entry(&target_->getEntryBlock(), target_->getEntryBlock().begin());
  return entry.CreateAlloca(count == 1 ? type : llvm::ArrayType::get(type, count));
}

/// `body` for 0, 1, .. below the count.
void FunctionEmitter::repeat(llvm::Value* count, const std::function<void(llvm::Value*)>& body) {
  llvm::Value* const next = memory_for(builder_.getInt64Ty());
  llvm::BasicBlock *head = block(""), *inside = block(""), *done = block("");
  builder_.CreateStore(int_constant(0), next);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::Value* const number = builder_.CreateLoad(builder_.getInt64Ty(), next);
  builder_.CreateCondBr(builder_.CreateICmpSLT(number, count), inside, done);
  builder_.SetInsertPoint(inside);
  body(number);
  builder_.CreateStore(builder_.CreateAdd(number, int_constant(1)), next);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(done);
}

void FunctionEmitter::emit_if_true(llvm::Value* condition, const std::function<void()>& body) {
  llvm::BasicBlock *inside = block(""), *done = block("");
  builder_.CreateCondBr(condition, inside, done);
  builder_.SetInsertPoint(inside);
  body();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

/// What the other kernel gives for the point.
llvm::Value* FunctionEmitter::number_at(const KernelReduction& reduction, llvm::Value* point, const vm::Place& place) {
  std::vector<llvm::Value*> arguments = {target_->getArg(0), point};
  for (const KernelRegister input : reduction.inputs) {
    const LeafValue value = read(input);
    arguments.push_back(value.word);
    if (value.length) arguments.push_back(value.length);
  }
  llvm::CallInst* const call = builder_.CreateCall(module_.inner(reduction.kernel), arguments);
  call->setCallingConv(llvm::CallingConv::Fast);
  fail_if(builder_.CreateIsNotNull(builder_.CreateExtractValue(call, 0)), raddle_leaf_domain_error, place, {});
  return builder_.CreateExtractValue(call, 1);
}

void FunctionEmitter::reduce_here(const KernelInstruction& instruction) {
  const KernelReduction& reduction = kernel_.reductions[instruction.index];
  const vm::Kernel& source = module_.group[reduction.kernel];
  llvm::Value* const count = word(reduction.count);
  if (reduction.reducer != KernelReducer::sum)  // of no numbers there is a sum only
    fail_if(builder_.CreateICmpSLT(count, int_constant(1)), raddle_leaf_domain_error, instruction.place, {});
  const bool adds = reduction.reducer == KernelReducer::sum || reduction.reducer == KernelReducer::mean;
  const bool are_floats = source.types[source.outputs[0]] == vm::KernelType::float_;
  llvm::Value* const result =
      are_floats ? reduce_floats(instruction, count, adds) : reduce_ints(instruction, count, adds);
  assign(reduction.result, LeafValue{result, nullptr});
}

namespace {

/// Sums beside what rounding has lost of them, or extremes.
struct Part {
  llvm::Value* value = nullptr;
  llvm::Value* lost = nullptr;  ///< of a sum
};

/// CompensatedSum::add
Part with_term(llvm::IRBuilderBase& builder, const Part& sum, llvm::Value* term) {
  llvm::Value *next = builder.CreateFAdd(sum.value, term), *part = builder.CreateFSub(next, sum.value);
  llvm::Value* const lost_here =
      builder.CreateFAdd(builder.CreateFSub(sum.value, builder.CreateFSub(next, part)), builder.CreateFSub(term, part));
  return {next, builder.CreateFAdd(sum.lost, lost_here)};
}

}  // namespace

llvm::Value* FunctionEmitter::reduce_floats(const KernelInstruction& instruction, llvm::Value* count, bool adds) {
  const KernelReduction& reduction = kernel_.reductions[instruction.index];
  const bool is_greatest = reduction.reducer == KernelReducer::greatest;
  llvm::Type* const real = builder_.getDoubleTy();
  const auto number = [&](double x) { return llvm::ConstantFP::get(real, x); };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  llvm::Value* const none = number(adds ? 0.0 : is_greatest ? -infinity : infinity);
  /// Of lanes, of parts of the tree, of what is joined now.
  struct Memory {
    llvm::Value *values, *losses;
  };
  const auto memory = [&](std::uint64_t size) {
    return Memory{memory_for(real, size), adds ? memory_for(real, size) : nullptr};
  };
  const auto at = [&](llvm::Value* of, llvm::Value* index) { return builder_.CreateInBoundsGEP(real, of, index); };
  const auto load = [&](const Memory& of, llvm::Value* index) {
    return Part{builder_.CreateLoad(real, at(of.values, index)),
                adds ? builder_.CreateLoad(real, at(of.losses, index)) : nullptr};
  };
  const auto store = [&](const Memory& to, llvm::Value* index, const Part& part) {
    builder_.CreateStore(part.value, at(to.values, index));
    if (adds) builder_.CreateStore(part.lost, at(to.losses, index));
  };
  const auto joined = [&](const Part& first, const Part& later) {
    if (adds) {
      const Part sum = with_term(builder_, first, later.value);
      return Part{sum.value, builder_.CreateFAdd(sum.lost, later.lost)};
    }
    llvm::Value* const is_beyond = is_greatest ? builder_.CreateFCmpOLT(first.value, later.value)
                                               : builder_.CreateFCmpOLT(later.value, first.value);
    return Part{builder_.CreateSelect(is_beyond, later.value, first.value), nullptr};
  };
  llvm::Value* const zero = int_constant(0);
  const Memory in_lanes = memory(lanes), tree = memory(tree_levels), now = memory(1);
  const auto clear_lanes = [&] {
    for (std::uint64_t lane = 0; lane < lanes; ++lane)
      store(in_lanes, int_constant(static_cast<std::int64_t>(lane)), {none, number(0.0)});
  };
  clear_lanes();

  repeat(count, [&](llvm::Value* point) {
    llvm::Value* const term = number_at(reduction, point, instruction.place);
    llvm::Value* const size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, term);
    fail_if(builder_.CreateNot(builder_.CreateFCmpOLT(size, number(vm::plain_float_end))), raddle_leaf_domain_error,
            instruction.place, {});
    llvm::Value* const lane = builder_.CreateAnd(point, int_constant(lanes - 1));
    const Part before = load(in_lanes, lane);
    store(in_lanes, lane, adds ? with_term(builder_, before, term) : joined(before, {term, nullptr}));
    llvm::Value* const is_full = builder_.CreateICmpEQ(builder_.CreateAnd(point, int_constant(block_numbers - 1)),
                                                       int_constant(block_numbers - 1));
    llvm::Value* const is_last = builder_.CreateICmpEQ(builder_.CreateAdd(point, int_constant(1)), count);
    emit_if_true(builder_.CreateOr(is_full, is_last), [&] {
      Part all = adds ? Part{number(0.0), number(0.0)} : load(in_lanes, zero);
      for (std::uint64_t i = adds ? 0 : 1; i < lanes; ++i)
        all = joined(all, load(in_lanes, int_constant(static_cast<std::int64_t>(i))));
      store(now, zero, all);
      clear_lanes();
      llvm::Value* const blocks_before = builder_.CreateLShr(point, int_constant(block_log2));
      llvm::Value* const pairs =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, builder_.CreateNot(blocks_before), builder_.getFalse());
      repeat(pairs, [&](llvm::Value* level) { store(now, zero, joined(load(tree, level), load(now, zero))); });
      store(tree, pairs, load(now, zero));
    });
  });

  // the parts that are left, from the least one on
  llvm::Value* const blocks =
      builder_.CreateLShr(builder_.CreateAdd(count, int_constant(block_numbers - 1)), block_log2);
  store(now, zero, {none, number(0.0)});
  emit_if_true(builder_.CreateICmpSGT(count, zero), [&] {
    llvm::Value* const least = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, builder_.getFalse());
    store(now, zero, load(tree, least));
    llvm::Value* const above = builder_.CreateSub(int_constant(tree_levels - 1), least);
    repeat(above, [&](llvm::Value* i) {
      llvm::Value* const level = builder_.CreateAdd(builder_.CreateAdd(least, i), int_constant(1));
      llvm::Value* const bit = builder_.CreateAnd(builder_.CreateLShr(blocks, level), int_constant(1));
      emit_if_true(builder_.CreateIsNotNull(bit),
                   [&] { store(now, zero, joined(load(tree, level), load(now, zero))); });
    });
  });
  const Part all = load(now, zero);
  if (!adds) return all.value;
  llvm::Value* const total = builder_.CreateFAdd(all.value, all.lost);
  return reduction.reducer == KernelReducer::sum ? total
                                                 : builder_.CreateFDiv(total, builder_.CreateSIToFP(count, real));
}

llvm::Value* FunctionEmitter::reduce_ints(const KernelInstruction& instruction, llvm::Value* count, bool adds) {
  const KernelReduction& reduction = kernel_.reductions[instruction.index];
  const bool is_greatest = reduction.reducer == KernelReducer::greatest;
  llvm::Type* const type = adds ? builder_.getInt128Ty() : builder_.getInt64Ty();
  llvm::Value* const all = memory_for(type);
  using Limits = std::numeric_limits<std::int64_t>;
  builder_.CreateStore(
      adds ? llvm::ConstantInt::get(type, 0) : int_constant(is_greatest ? Limits::min() : Limits::max()), all);
  repeat(count, [&](llvm::Value* point) {
    llvm::Value* const number = number_at(reduction, point, instruction.place);
    llvm::Value* const before = builder_.CreateLoad(type, all);
    builder_.CreateStore(adds ? builder_.CreateAdd(before, builder_.CreateSExt(number, type))
                              : builder_.CreateBinaryIntrinsic(
                                    is_greatest ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, before, number),
                         all);
  });
  llvm::Value* const total = builder_.CreateLoad(type, all);
  if (!adds) return total;
  llvm::Value* const narrow = builder_.CreateTrunc(total, builder_.getInt64Ty());
  llvm::Value* is_other = builder_.CreateICmpNE(builder_.CreateSExt(narrow, type), total);
  const bool is_mean = reduction.reducer == KernelReducer::mean;
  if (is_mean) {  // WideSum::mean
    llvm::Value* const size = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, narrow, builder_.getFalse());
    is_other = builder_.CreateOr(is_other, builder_.CreateICmpUGT(size, int_constant(exact_ints)));
  }
  fail_if(is_other, raddle_leaf_domain_error, instruction.place, {});
  llvm::Type* const real = builder_.getDoubleTy();
  return is_mean ? builder_.CreateFDiv(builder_.CreateSIToFP(narrow, real), builder_.CreateSIToFP(count, real))
                 : narrow;
}

}  // namespace raddle::codegen
