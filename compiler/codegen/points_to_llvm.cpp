// Many points in one call, one after the other: see Note [stretches] in leaf_abi.hpp.
#include <algorithm>
#include <utility>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/point_loops.hpp"
#include "compiler/codegen/stretch.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

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
  const auto windows_of = [&](vm::KernelId id, std::size_t inputs) {
    if (const auto shared = windows_.find(id); shared != windows_.end()) return shared->second;
    EmittedWindows none;
    none.rest = id;
    for (std::uint32_t i = 0; i < inputs; ++i) none.shared.inputs.push_back({std::nullopt, i});
    return none;
  };
  const EmittedWindows windows = windows_of(kernel, reads);
  const auto likely = llvm::MDBuilder(llvm_context).createLikelyBranchWeights();

  const auto emit_row = [&](PointRow row) -> llvm::Value* {
    llvm::BasicBlock* end = block("made");
    std::vector<std::pair<llvm::Value*, llvm::BasicBlock*>> ends;
    const auto ends_with = [&](llvm::Value* made) {
      ends.emplace_back(made, builder.GetInsertBlock());
      builder.CreateBr(end);
    };
    if (entry.follows != 0) {
      llvm::BasicBlock *follow = block("follow"), *apart = block("apart");
      builder.CreateCondBr(loops.do_follow(entry, row), follow, apart, likely);
      builder.SetInsertPoint(apart);
      ends_with(loops.emit_whole(kernel, row));
      builder.SetInsertPoint(follow);
      row = loops.following(entry, row);
    }
    if (can_go_past_cache(kernel)) {
      llvm::BasicBlock *past = block("past"), *into = block("into");
      builder.CreateCondBr(stretch.is_past_cache, past, into);
      builder.SetInsertPoint(past);
      ends_with(loops.emit_parts(windows, row, true));
      builder.SetInsertPoint(into);
    }
    ends_with(windows.parts.empty() ? loops.emit_whole(kernel, row) : loops.emit_parts(windows, row, false));
    builder.SetInsertPoint(end);
    llvm::PHINode* made = builder.CreatePHI(builder.getInt64Ty(), static_cast<unsigned>(ends.size()));
    for (const auto& [value, from] : ends) made->addIncoming(value, from);
    return made;
  };
  if (reads == 0) return finish(emit_row({{}, stretch.results}));
  const StretchRows rows(words, builder);
  if (const auto shared = row_windows_.find(kernel); shared != row_windows_.end()) {
    std::uint32_t most = 0;
    for (const SharedWindows::Part& part : shared->second.shared.parts) most = std::max(most, part.rows);
    llvm::BasicBlock *many = block("many"), *ring = block("ring"), *others = block("others");
    builder.CreateCondBr(builder.CreateICmpSGT(rows.count, builder.getInt64(most)), many, others);
    builder.SetInsertPoint(many);
    builder.CreateCondBr(loops.are_windows(entry, rows), ring, others, likely);
    builder.SetInsertPoint(ring);
    const EmittedWindows rest = windows_of(shared->second.rest, shared->second.shared.inputs.size());
    finish(loops.emit_ring(shared->second, rest, entry, rows, can_go_past_cache(kernel)));
    builder.SetInsertPoint(others);
  }
  finish(loops.emit_rows(rows, emit_row));
}

}  // namespace raddle::codegen
