// Many points in one call, one after the other: see Note [stretches] in leaf_abi.hpp.
#include <algorithm>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/point_elements.hpp"
#include "compiler/codegen/stretch.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {
namespace {

/// Emits loops around inner functions into `function`: what points do that are computed one by one.
class PointLoops {
 public:
  PointLoops(ModuleEmitter& module, const vm::Kernel& source, const Stretch& stretch, llvm::Value* context,
             llvm::Function* function, llvm::IRBuilder<>& builder)
      : module_(module),
        source_(source),
        stretch_(stretch),
        context_(context),
        function_(function),
        builder_(builder) {}

  /// Behind the point, the rows and what is read.
  std::vector<llvm::Value*> captures;

  /// All points. @param elements  where those lie that they read  @return how many have ended well
  llvm::Value* emit_whole(vm::KernelId kernel, const std::vector<llvm::Value*>& elements) {
    return emit({kernel, elements, stretch_.results, builder_.getInt64(0)}, stretch_.count);
  }

  /// The same by parts of so many points, for which what they share is computed before.
  /// @param is_past_cache  results lie elsewhere first, and are copied past the cache then
  llvm::Value* emit_parts(const EmittedWindows& windows, const std::vector<llvm::Value*>& elements,
                          bool is_past_cache) {
    std::vector<llvm::Value*> numbers, rooms;  // of each part of the kernel; of each result
    for (const SharedWindows::Part& part : windows.shared.parts)
      numbers.push_back(room_for(type_of_output(part.kernel, 0), points_at_once + part.reach));
    for (std::size_t i = 0; is_past_cache && i < stretch_.results.size(); ++i)
      rooms.push_back(room_for(type_of_output(source_, i), points_at_once));
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("head"), *end = block("end");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* done = builder_.CreatePHI(builder_.getInt64Ty(), 2, "done");
    done->addIncoming(builder_.getInt64(0), before);
    llvm::Value* left = builder_.CreateSub(stretch_.count, done);
    llvm::Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, builder_.getInt64(points_at_once));
    const auto read_from = [&](std::uint32_t read) {
      return builder_.CreateInBoundsGEP(module_.stored_type(source_.types[1 + source_.row_count + read]),
                                        elements[read], done);
    };
    for (std::size_t i = 0; i < windows.parts.size(); ++i) {
      const SharedWindows::Part& part = windows.shared.parts[i];
      std::vector<llvm::Value*> reads;
      for (const std::uint32_t read : part.reads) reads.push_back(read_from(read));
      emit({windows.parts[i], reads, {numbers[i]}, done}, builder_.CreateNSWAdd(count, builder_.getInt64(part.reach)));
    }
    std::vector<llvm::Value*> reads, results;
    for (const SharedWindows::Input& input : windows.shared.inputs)
      reads.push_back(
          input.part ? builder_.CreateConstInBoundsGEP1_64(type_of_output(windows.shared.parts[*input.part].kernel, 0),
                                                           numbers[*input.part], input.number)
                     : read_from(input.number));
    for (std::size_t i = 0; i < stretch_.results.size(); ++i)
      results.push_back(builder_.CreateInBoundsGEP(type_of_output(source_, i), stretch_.results[i], done));
    llvm::Value* made = emit({windows.rest, reads, is_past_cache ? rooms : results, done}, count);
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      llvm::Value* size = llvm::ConstantExpr::getSizeOf(type_of_output(source_, i));
      builder_.CreateCall(module_.copier_past_cache(), {results[i], rooms[i], builder_.CreateMul(made, size)});
    }
    llvm::Value* all = builder_.CreateNSWAdd(done, made);
    done->addIncoming(all, builder_.GetInsertBlock());
    llvm::Value* goes_on =
        builder_.CreateAnd(builder_.CreateICmpEQ(made, count), builder_.CreateICmpSLT(all, stretch_.count));
    builder_.CreateCondBr(goes_on, head, end);
    builder_.SetInsertPoint(end);
    return all;
  }

 private:
  static constexpr std::uint32_t points_at_once = 256;  ///< whose shared numbers stay in the nearest cache

  /// What one loop does.
  struct Loop {
    vm::KernelId kernel;
    const std::vector<llvm::Value*>&elements, results;
    llvm::Value* first;  ///< point of the stretch
  };

  /// @return  how many have ended well
  llvm::Value* emit(const Loop& loop, llvm::Value* count) {
    const vm::Kernel& kernel = module_.group[loop.kernel];
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("head"), *body = block("body"),
                     *store = block("store"), *end = block("end");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* number = builder_.CreatePHI(builder_.getInt64Ty(), 2, "number");
    number->addIncoming(builder_.getInt64(0), before);
    builder_.CreateCondBr(builder_.CreateICmpSLT(number, count), body, end);

    builder_.SetInsertPoint(body);
    llvm::Value* point = builder_.CreateAdd(loop.first, number);
    std::vector<llvm::Value*> arguments = {
        context_, builder_.CreateAdd(stretch_.first, builder_.CreateMul(point, stretch_.step))};
    for (std::uint32_t i = 0; i < kernel.row_count; ++i) {
      llvm::Value *first = stretch_.rows[2 * i], *width = stretch_.rows[2 * i + 1];
      llvm::Type* stored = module_.stored_type(kernel.types[1 + i]);
      arguments.push_back(builder_.CreateInBoundsGEP(stored, first, builder_.CreateMul(number, width)));
      arguments.push_back(width);
    }
    for (std::size_t i = 0; i < loop.elements.size(); ++i)
      arguments.push_back(
          load_element(builder_, module_.type(kernel.types[1 + kernel.row_count + i]), loop.elements[i], number));
    arguments.insert(arguments.end(), captures.begin(), captures.end());
    llvm::CallInst* all = builder_.CreateCall(module_.inner(loop.kernel), arguments);
    all->setCallingConv(llvm::CallingConv::Fast);
    llvm::Value* is_good =
        builder_.CreateICmpEQ(builder_.CreateExtractValue(all, 0), builder_.getInt32(raddle_leaf_ok));
    builder_.CreateCondBr(is_good, store, end, llvm::MDBuilder(module_.llvm_context).createLikelyBranchWeights());

    builder_.SetInsertPoint(store);
    for (unsigned i = 0; i < loop.results.size(); ++i)
      store_result(builder_, builder_.CreateExtractValue(all, i + 1), loop.results[i], number, nullptr);
    number->addIncoming(builder_.CreateNSWAdd(number, builder_.getInt64(1)), store);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(end);
    return number;
  }

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, function_); }
  llvm::Type* type_of_output(const vm::Kernel& kernel, std::size_t output) const {
    return module_.stored_type(kernel.types[kernel.outputs[output]]);
  }
  llvm::Value* room_for(llvm::Type* type, std::uint32_t numbers) {
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    llvm::AllocaInst* room = at_entry.CreateAlloca(llvm::ArrayType::get(type, numbers));
    room->setAlignment(llvm::Align(64));
    return room;
  }

  ModuleEmitter& module_;
  const vm::Kernel& source_;
  const Stretch& stretch_;
  llvm::Value* context_;
  llvm::Function* function_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace

void ModuleEmitter::emit_points(vm::KernelId kernel, vm::KernelEntry entry, llvm::Function* function) {
  const vm::Kernel& source = group[kernel];
  const std::size_t reads = entry.reads;
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(llvm_context, name, function); };
  llvm::IRBuilder<> builder(block("entry"));
  llvm::Value* context = make_context(builder, function);
  WordReader words(builder, function->getArg(1));
  const Stretch stretch(words, builder, source, reads);
  PointLoops loops(*this, source, stretch, context, function, builder);
  for (auto parameter = static_cast<vm::KernelRegister>(1 + source.row_count + reads);
       parameter < source.parameter_count; ++parameter)
    words.load_argument(type(source.types[parameter]), loops.captures);
  const auto finish = [&](llvm::Value* made) {
    builder.CreateStore(made, function->getArg(2));
    builder.CreateRet(builder.getInt32(raddle_leaf_ok));
  };
  EmittedWindows windows;
  if (const auto shared = windows_.find(kernel); shared != windows_.end()) {
    windows = shared->second;
  } else {
    windows.rest = kernel;
    for (std::uint32_t i = 0; i < reads; ++i) windows.shared.inputs.push_back({std::nullopt, i});
  }
  const auto likely = llvm::MDBuilder(llvm_context).createLikelyBranchWeights();

  std::vector<llvm::Value*> elements = stretch.reads;
  if (entry.follows != 0) {  // one register is enough for the addresses of many elements then
    llvm::Value* do_follow = builder.getTrue();
    for (std::size_t i = 1; i < reads; ++i) {
      if (i >= 64 || (entry.follows >> i & 1) == 0) continue;
      llvm::Type* stored = stored_type(source.types[1 + source.row_count + i]);
      elements[i] = builder.CreateConstInBoundsGEP1_64(stored, elements[i - 1], 1);
      do_follow = builder.CreateAnd(do_follow, builder.CreateICmpEQ(elements[i], stretch.reads[i]));
    }
    llvm::BasicBlock *follow = block("follow"), *apart = block("apart");
    builder.CreateCondBr(do_follow, follow, apart, likely);
    builder.SetInsertPoint(apart);
    finish(loops.emit_whole(kernel, stretch.reads));
    builder.SetInsertPoint(follow);
  }
  if (can_go_past_cache(kernel)) {
    llvm::BasicBlock *past = block("past"), *into = block("into");
    builder.CreateCondBr(stretch.is_past_cache, past, into);
    builder.SetInsertPoint(past);
    finish(loops.emit_parts(windows, elements, true));
    builder.SetInsertPoint(into);
  }
  finish(windows.parts.empty() ? loops.emit_whole(kernel, elements) : loops.emit_parts(windows, elements, false));
}

}  // namespace raddle::codegen
