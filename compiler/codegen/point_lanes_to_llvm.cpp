// Many points in one call, side by side: see Note [stretches] in leaf_abi.hpp and Note [lanes] in lane_emitter.hpp.
#include <algorithm>

#include "compiler/codegen/lane_emitter.hpp"
#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/point_elements.hpp"
#include "compiler/codegen/stretch.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// Emits the loop over groups of lanes around a kernel.
class LaneLoop {
 public:
  LaneLoop(ModuleEmitter& module, LaneShape shape, llvm::Function* function, const Stretch& stretch,
           llvm::IRBuilder<>& builder)
      : module_(module), shape_(shape), function_(function), stretch_(stretch), builder_(builder) {}

  void emit(vm::KernelId kernel, std::vector<LaneValue> arguments) {
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *head = block("head"), *body = block("body"),
                     *rest = block("rest"), *end = block("end"), *stopped = block("stopped");
    const LaneParts distances = find_distances();
    llvm::Value* steps_by_1 = builder_.CreateICmpEQ(stretch_.step, builder_.getInt64(1));
    llvm::Value* goes_past_cache = find_past_cache(kernel);
    llvm::Value* last_at = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, builder_.CreateSub(stretch_.count, lane_count()), builder_.getInt64(0));
    builder_.CreateBr(head);

    builder_.SetInsertPoint(head);
    number_ = builder_.CreatePHI(builder_.getInt64Ty(), 2, "number");
    number_->addIncoming(builder_.getInt64(0), entry);
    llvm::BasicBlock* some = block("some");
    builder_.CreateCondBr(builder_.CreateICmpSLT(number_, stretch_.count), some, stopped);
    builder_.SetInsertPoint(some);
    // the last lanes have points once more that come before theirs, so that there is one for each lane
    at_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number_, last_at);
    llvm::Value* left = builder_.CreateSub(stretch_.count, at_);
    llvm::Value* first = builder_.CreateAdd(stretch_.first, builder_.CreateMul(at_, stretch_.step));
    llvm::Value* are_all = builder_.CreateICmpSGE(left, lane_count());
    llvm::Value* counts = builder_.CreateAnd(are_all, steps_by_1);
    builder_.CreateCondBr(are_all, body, rest);

    // of fewer points than lanes the last one is there several times: it ends as well each time
    builder_.SetInsertPoint(rest);
    llvm::Value* last = builder_.CreateMul(builder_.CreateSub(left, builder_.getInt64(1)), stretch_.step);
    const LaneParts are_points = lanes_below(left);
    LaneParts last_distances;
    for (std::size_t i = 0; i < distances.size(); ++i)
      last_distances.push_back(builder_.CreateSelect(are_points[i], distances[i], splat(last)));
    builder_.CreateBr(body);

    builder_.SetInsertPoint(body);
    LaneValue variable;
    variable.distance = builder_.getInt64(0);
    for (std::size_t i = 0; i < distances.size(); ++i) {
      llvm::PHINode* distance = builder_.CreatePHI(distances[i]->getType(), 2);
      distance->addIncoming(distances[i], some);
      distance->addIncoming(last_distances[i], rest);
      variable.parts.push_back(distance);
    }
    for (llvm::Value*& part : variable.parts) part = builder_.CreateAdd(splat(first), part);
    arguments.insert(arguments.begin(), variable);
    LaneEmitter lanes(module_, shape_, body, function_->getArg(0), stopped, first, counts);
    const std::vector<LaneValue> results = lanes.emit(kernel, std::move(arguments));
    builder_.SetInsertPoint(lanes.builder().GetInsertBlock());
    store(lanes, results, left, goes_past_cache, head, end);

    builder_.SetInsertPoint(stopped);
    builder_.CreateBr(end);
    llvm::PHINode* made = llvm::PHINode::Create(builder_.getInt64Ty(), 2, "made", end);
    made->addIncoming(number_, stopped);
    made->addIncoming(made_, last_store_);
    builder_.SetInsertPoint(end);
    builder_.CreateStore(made, function_->getArg(2));
    builder_.CreateRet(builder_.getInt32(raddle_leaf_ok));
  }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, function_); }
  llvm::Value* lane_count() { return builder_.getInt64(shape_.lanes()); }
  llvm::Value* splat(llvm::Value* value) { return builder_.CreateVectorSplat(shape_.vector_size, value); }
  /// The numbers of a vector's lanes.
  llvm::Value* numbers(std::size_t vector) {
    llvm::SmallVector<std::uint64_t, 8> all;
    for (std::size_t i = 0; i < shape_.vector_size; ++i) all.push_back(vector * shape_.vector_size + i);
    return llvm::ConstantDataVector::get(module_.llvm_context, all);
  }
  LaneParts lanes_below(llvm::Value* limit) {
    LaneParts mask;
    for (std::size_t i = 0; i < shape_.vector_count; ++i)
      mask.push_back(builder_.CreateICmpSLT(numbers(i), splat(limit)));
    return mask;
  }
  /// Of each lane's point to that of the first lane.
  LaneParts find_distances() {
    LaneParts distances;
    for (std::size_t i = 0; i < shape_.vector_count; ++i)
      distances.push_back(builder_.CreateMul(numbers(i), splat(stretch_.step)));
    return distances;
  }

  /// Whether vectors of results go past the cache, which they must fill parts of its lines for. Null: never
  llvm::Value* find_past_cache(vm::KernelId kernel) {
    if (!module_.can_go_past_cache(kernel)) return nullptr;
    llvm::Value* goes = stretch_.is_past_cache;
    for (llvm::Value* results : stretch_.results) {
      llvm::Value* in_line =
          builder_.CreateAnd(builder_.CreatePtrToInt(results, builder_.getInt64Ty()), bytes_of_line - 1);
      goes = builder_.CreateAnd(goes, builder_.CreateICmpEQ(in_line, builder_.getInt64(0)));
    }
    return goes;
  }

  /// Stores the results of all lanes; or, if one has failed or they are the last ones, of those before.
  void store(LaneEmitter& lanes, const std::vector<LaneValue>& results, llvm::Value* left, llvm::Value* goes_past_cache,
             llvm::BasicBlock* head, llvm::BasicBlock* end) {
    llvm::Value* limit = left;
    const LaneParts failed = lanes.failed();
    if (!failed.empty()) limit = least_of(left, failed);
    std::vector<LaneParts> vectors;
    lanes.builder().SetInsertPoint(builder_.GetInsertBlock());
    for (const LaneValue& result : results) vectors.push_back(lanes.vectors(result));
    llvm::BasicBlock *all = block("all"), *some = block("first_ones");
    llvm::MDBuilder hints(module_.llvm_context);
    builder_.CreateCondBr(builder_.CreateICmpSGE(limit, lane_count()), all, some, hints.createLikelyBranchWeights());

    builder_.SetInsertPoint(all);
    llvm::Value* next = builder_.CreateNSWAdd(at_, lane_count());
    if (goes_past_cache) {
      llvm::BasicBlock *past = block("past"), *into = block("into");
      llvm::Value* fills_lines = builder_.CreateICmpEQ(at_, number_);
      builder_.CreateCondBr(builder_.CreateAnd(goes_past_cache, fills_lines), past, into);
      builder_.SetInsertPoint(past);
      store_results(vectors, {}, true);
      number_->addIncoming(next, past);
      builder_.CreateBr(head);
      builder_.SetInsertPoint(into);
    }
    store_results(vectors, {});
    number_->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateBr(head);

    builder_.SetInsertPoint(some);
    store_results(vectors, lanes_below(limit));
    made_ = builder_.CreateAdd(at_, limit);
    last_store_ = builder_.GetInsertBlock();
    builder_.CreateBr(end);
  }

  void store_results(const std::vector<LaneParts>& results, const LaneParts& mask, bool goes_past_cache = false) {
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t vector = 0; vector < shape_.vector_count; ++vector) {
        llvm::Value* at = builder_.CreateAdd(at_, builder_.getInt64(vector * shape_.vector_size));
        if (goes_past_cache)
          store_past_cache(
              builder_, results[i][vector],
              builder_.CreateInBoundsGEP(results[i][vector]->getType()->getScalarType(), stretch_.results[i], at));
        else
          store_result(builder_, results[i][vector], stretch_.results[i], at, mask.empty() ? nullptr : mask[vector]);
      }
  }

  /// @return  `limit`, or the first of the lanes that have failed
  llvm::Value* least_of(llvm::Value* limit, const LaneParts& failed) {
    llvm::Value* any = failed[0];
    for (std::size_t i = 1; i < failed.size(); ++i) any = builder_.CreateOr(any, failed[i]);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *fails = block("fails"), *well = block("");
    builder_.CreateCondBr(builder_.CreateOrReduce(any), fails, well,
                          llvm::MDBuilder(module_.llvm_context).createUnlikelyBranchWeights());
    builder_.SetInsertPoint(fails);
    llvm::Value* bits = builder_.getInt64(0);
    for (std::size_t i = 0; i < failed.size(); ++i) {
      llvm::Value* part = builder_.CreateZExt(builder_.CreateBitCast(failed[i], builder_.getIntNTy(shape_.vector_size)),
                                              builder_.getInt64Ty());
      bits = builder_.CreateOr(bits, builder_.CreateShl(part, i * shape_.vector_size));
    }
    llvm::Value* first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getTrue());
    llvm::Value* fewer = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, limit);
    builder_.CreateBr(well);
    builder_.SetInsertPoint(well);
    llvm::PHINode* least = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    least->addIncoming(limit, before);
    least->addIncoming(fewer, fails);
    return least;
  }

  ModuleEmitter& module_;
  const LaneShape shape_;
  llvm::Function* function_;
  const Stretch& stretch_;
  llvm::IRBuilder<>& builder_;
  llvm::PHINode* number_ = nullptr;  ///< points that are done
  llvm::Value* at_ = nullptr;        ///< of the first lane, among the stretch's points
  llvm::Value* made_ = nullptr;      ///< likewise, when the last ones are stored
  llvm::BasicBlock* last_store_ = nullptr;
};

}  // namespace

/// Several, as operations need each other's results: four where there is a loop, or where there are few values to keep.
/// Masks take registers, too, of which processors without such for masks have few. (Two of Black-Scholes' formula,
/// which costs some 250, are faster than one by a quarter.) What is very large is not worth its compilation twice.
unsigned ModuleEmitter::vector_count(vm::KernelId kernel) const {
  constexpr std::size_t few = 60, many = 1000;
  const std::size_t cost = facts.cost(group[kernel], 0);
  if (cost > many) return 1;
  if (facts.has_loop(group[kernel], 0)) return facts.has_open_loop(kernel) && !options_.has_mask_registers ? 2 : 4;
  return cost > few ? 2 : 4;
}

/// Lanes that divide ints in a loop wait for the one that divides longest, and divide one by one, or by doubles: trial
/// divisions of the numbers up to 300,000 took ten times as long. With AVX-512 loops that all lanes leave at once do.
bool ModuleEmitter::suits_lanes(vm::KernelId kernel) const {
  const bool may_divide = options_.has_mask_registers && !facts.has_open_loop(kernel);
  return facts.suits_lanes(kernel) && (may_divide || !facts.divides_in_loop(kernel));
}

void ModuleEmitter::emit_lanes(vm::KernelId kernel, llvm::Function* function) {
  const vm::Kernel& source = group[kernel];
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_context, "entry", function));
  const unsigned lanes = options_.vector_lanes, vectors = vector_count(kernel);
  const bool is_narrow = facts.is_narrow(kernel);
  const unsigned mask_bits = options_.has_mask_registers ? 1 : is_narrow ? 32 : 64;
  // numbers of 32 bits fill a vector with twice as many; what is computed with 64 bits takes two then
  const LaneShape shape =
      is_narrow ? LaneShape{2 * lanes, std::min(vectors, 2U), mask_bits} : LaneShape{lanes, vectors, mask_bits};
  // else LLVM splits the widest vectors on processors that run slower with them
  function->addFnAttr("min-legal-vector-width", std::to_string(options_.vector_lanes * 64));
  WordReader words(builder, function->getArg(1));
  const Stretch stretch(words, builder, source, 0);
  std::vector<LaneValue> captures;
  for (vm::KernelRegister parameter = 1; parameter < source.parameter_count; ++parameter) {
    std::vector<llvm::Value*> parts;
    words.load_argument(type(source.types[parameter]), parts);
    captures.push_back({{parts[0]}, parts.size() > 1 ? parts[1] : nullptr});
  }
  LaneLoop(*this, shape, function, stretch, builder).emit(kernel, std::move(captures));
}

}  // namespace raddle::codegen
