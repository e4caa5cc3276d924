#include "compiler/codegen/point_loops.hpp"

#include <algorithm>

#include "compiler/codegen/point_elements.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

llvm::Value* PointLoops::emit_parts(const EmittedWindows& windows, const PointRow& row, bool is_past_cache) {
  const std::vector<llvm::Value*> numbers = rooms_of_parts(windows);
  std::vector<llvm::Value*> rooms;
  if (is_past_cache) rooms = rooms_of_results();
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("head"), *end = block("end");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* done = builder_.CreatePHI(builder_.getInt64Ty(), 2, "done");
  done->addIncoming(builder_.getInt64(0), before);
  llvm::Value* count = count_from(done);
  const PointRow here = moved(row, done);
  llvm::Value* made = emit_block(windows, numbers, here.elements, is_past_cache ? rooms : here.results, done, count);
  if (is_past_cache) copy_past_cache(rooms, here.results, made);
  llvm::Value* all = builder_.CreateNSWAdd(done, made);
  done->addIncoming(all, builder_.GetInsertBlock());
  llvm::Value* goes_on =
      builder_.CreateAnd(builder_.CreateICmpEQ(made, count), builder_.CreateICmpSLT(all, stretch_.count));
  builder_.CreateCondBr(goes_on, head, end);
  builder_.SetInsertPoint(end);
  return all;
}

llvm::Value* PointLoops::emit_rows(const StretchRows& rows,
                                   const std::function<llvm::Value*(const PointRow&)>& emit_row) {
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = block("row"), *end = block("rows_end");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* row = builder_.CreatePHI(builder_.getInt64Ty(), 2, "row");
  row->addIncoming(builder_.getInt64(0), before);
  llvm::Value* made = emit_row(row_at(rows, row));
  llvm::Value* next = builder_.CreateNSWAdd(row, builder_.getInt64(1));
  llvm::Value* is_whole = builder_.CreateICmpEQ(made, stretch_.count);
  // of a row that is not the first one only the whole counts
  llvm::Value* is_first = builder_.CreateICmpEQ(row, builder_.getInt64(0));
  llvm::Value* counted = builder_.CreateSelect(builder_.CreateOr(is_whole, is_first), made, builder_.getInt64(0));
  llvm::Value* all = builder_.CreateNSWAdd(builder_.CreateNSWMul(row, stretch_.count), counted);
  row->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateAnd(is_whole, builder_.CreateICmpSLT(next, rows.count)), head, end);
  builder_.SetInsertPoint(end);
  return all;
}

llvm::Value* PointLoops::are_windows(const vm::KernelEntry& entry, const StretchRows& rows) {
  llvm::Value* all = builder_.getTrue();
  const auto require = [&](llvm::Value* one, llvm::Value* other) {
    all = builder_.CreateAnd(all, builder_.CreateICmpEQ(one, other));
  };
  std::size_t line = 0;
  llvm::Value* distance = rows.distance(builder_, 0);
  for (std::size_t i = 1; i < entry.reads; ++i) {
    llvm::Value* own = rows.distance(builder_, i);
    if (is_in(entry.follows, i)) {
      require(stretch_.reads[i], next_element(i, stretch_.reads[i - 1]));
      require(own, distance);
      continue;
    }
    if (is_in(entry.row_follows, i)) {
      require(stretch_.reads[i], builder_.CreateGEP(builder_.getInt8Ty(), stretch_.reads[line], distance));
      require(own, distance);
    }
    line = i;
    distance = own;
  }
  return all;
}

llvm::Value* PointLoops::emit_ring(const EmittedWindows& shared, const EmittedWindows& rest,
                                   const vm::KernelEntry& entry, const StretchRows& rows, bool can_go_past_cache) {
  const std::vector<llvm::Value*> numbers = rooms_of_parts(rest);
  std::vector<llvm::Value*> rooms;
  if (can_go_past_cache) rooms = rooms_of_results();
  std::vector<std::vector<llvm::Value*>> rings;
  std::int64_t most = 0;  // rows before the first one whose sums it needs
  for (const SharedWindows::Part& part : shared.shared.parts) {
    std::vector<llvm::Value*>& ring = rings.emplace_back();
    for (std::uint32_t i = 0; i <= part.rows; ++i)
      ring.push_back(room_for(type_of_output(part.kernel, 0), points_at_once + part.reach));
    most = std::max<std::int64_t>(most, part.rows);
  }
  llvm::Type* word = builder_.getInt64Ty();
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *column = block("column"), *head = block("row"),
                   *compute = block("compute"), *next = block("next"), *row_end = block("column_end"),
                   *end = block("end");
  builder_.CreateBr(column);
  builder_.SetInsertPoint(column);
  llvm::PHINode *done = builder_.CreatePHI(word, 2, "done"), *whole = builder_.CreatePHI(word, 2, "whole");
  done->addIncoming(builder_.getInt64(0), before);
  whole->addIncoming(rows.count, before);
  llvm::Value* count = count_from(done);
  builder_.CreateBr(head);

  builder_.SetInsertPoint(head);
  llvm::PHINode* row = builder_.CreatePHI(word, 2, "row");
  row->addIncoming(builder_.getInt64(-most), column);
  std::vector<std::vector<llvm::PHINode*>> slots;  // by part: the sums of this row, of the next one, ...
  for (const std::vector<llvm::Value*>& ring : rings) {
    std::vector<llvm::PHINode*>& own = slots.emplace_back();
    for (llvm::Value* room : ring) {
      own.push_back(builder_.CreatePHI(builder_.getPtrTy(), 2));
      own.back()->addIncoming(room, column);
    }
  }
  for (std::size_t i = 0; i < shared.parts.size(); ++i) {
    const SharedWindows::Part& part = shared.shared.parts[i];
    llvm::Value* needed = builder_.CreateNSWAdd(row, builder_.getInt64(part.rows));
    llvm::BasicBlock *sums = block("sums"), *behind = block("behind");
    builder_.CreateCondBr(builder_.CreateICmpSGE(needed, builder_.getInt64(0)), sums, behind);
    builder_.SetInsertPoint(sums);
    const std::vector<llvm::Value*> elements = moved(following(entry, row_at(rows, needed)), done).elements;
    std::vector<llvm::Value*> reads;
    for (const std::uint32_t read : part.reads) reads.push_back(elements[read]);
    emit({shared.parts[i], reads, {slots[i].back()}, done},
         builder_.CreateNSWAdd(count, builder_.getInt64(part.reach)));
    builder_.CreateBr(behind);
    builder_.SetInsertPoint(behind);
  }
  builder_.CreateCondBr(builder_.CreateICmpSGE(row, builder_.getInt64(0)), compute, next);

  builder_.SetInsertPoint(compute);
  const PointRow here = moved(following(entry, row_at(rows, row)), done);
  std::vector<llvm::Value*> inputs, results = here.results;
  for (const SharedWindows::Input& input : shared.shared.inputs)
    inputs.push_back(
        input.part ? builder_.CreateConstInBoundsGEP1_64(type_of_output(shared.shared.parts[*input.part].kernel, 0),
                                                         slots[*input.part][input.row], input.number)
                   : here.elements[input.number]);
  for (std::size_t i = 0; i < rooms.size(); ++i)
    results[i] = builder_.CreateSelect(stretch_.is_past_cache, rooms[i], results[i]);
  llvm::Value* made = emit_block(rest, numbers, inputs, results, done, count);
  llvm::BasicBlock* copied = block("copied");
  if (can_go_past_cache) {
    llvm::BasicBlock* past = block("past");
    builder_.CreateCondBr(stretch_.is_past_cache, past, copied);
    builder_.SetInsertPoint(past);
    copy_past_cache(rooms, here.results, made);
  }
  builder_.CreateBr(copied);
  builder_.SetInsertPoint(copied);
  builder_.CreateCondBr(builder_.CreateICmpEQ(made, count), next, row_end);

  builder_.SetInsertPoint(next);
  llvm::Value* following_row = builder_.CreateNSWAdd(row, builder_.getInt64(1));
  row->addIncoming(following_row, next);
  for (const std::vector<llvm::PHINode*>& own : slots)
    for (std::size_t i = 0; i < own.size(); ++i) own[i]->addIncoming(own[(i + 1) % own.size()], next);
  builder_.CreateCondBr(builder_.CreateICmpSLT(following_row, whole), head, row_end);

  builder_.SetInsertPoint(row_end);
  llvm::PHINode* reached = builder_.CreatePHI(word, 2, "reached");
  reached->addIncoming(row, copied);
  reached->addIncoming(following_row, next);
  llvm::Value* all = builder_.CreateNSWAdd(done, count);
  done->addIncoming(all, row_end);
  whole->addIncoming(reached, row_end);
  builder_.CreateCondBr(builder_.CreateAnd(builder_.CreateICmpSLT(all, stretch_.count),
                                           builder_.CreateICmpSGT(reached, builder_.getInt64(0))),
                        column, end);
  builder_.SetInsertPoint(end);
  return builder_.CreateNSWMul(reached, stretch_.count);
}

PointRow PointLoops::following(const vm::KernelEntry& entry, PointRow row) {
  for (std::size_t i = 1; i < row.elements.size(); ++i)
    if (is_in(entry.follows, i)) row.elements[i] = next_element(i, row.elements[i - 1]);
  return row;
}

llvm::Value* PointLoops::do_follow(const vm::KernelEntry& entry, const PointRow& row) {
  llvm::Value* all = builder_.getTrue();
  for (std::size_t i = 1; i < row.elements.size(); ++i)
    if (is_in(entry.follows, i))
      all = builder_.CreateAnd(all, builder_.CreateICmpEQ(row.elements[i], next_element(i, row.elements[i - 1])));
  return all;
}

llvm::Value* PointLoops::count_from(llvm::Value* done) {
  llvm::Value* left = builder_.CreateSub(stretch_.count, done);
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, builder_.getInt64(points_at_once));
}

std::vector<llvm::Value*> PointLoops::rooms_of_parts(const EmittedWindows& windows) {
  std::vector<llvm::Value*> rooms;
  for (const SharedWindows::Part& part : windows.shared.parts)
    rooms.push_back(room_for(type_of_output(part.kernel, 0), points_at_once + part.reach));
  return rooms;
}

std::vector<llvm::Value*> PointLoops::rooms_of_results() {
  std::vector<llvm::Value*> rooms;
  for (std::size_t i = 0; i < stretch_.results.size(); ++i)
    rooms.push_back(room_for(type_of_output(source_, i), points_at_once));
  return rooms;
}

PointRow PointLoops::moved(const PointRow& row, llvm::Value* points) {
  PointRow moved;
  for (std::size_t i = 0; i < row.elements.size(); ++i)
    moved.elements.push_back(builder_.CreateInBoundsGEP(type_of_read(i), row.elements[i], points));
  for (std::size_t i = 0; i < row.results.size(); ++i)
    moved.results.push_back(builder_.CreateInBoundsGEP(type_of_output(source_, i), row.results[i], points));
  return moved;
}

PointRow PointLoops::row_at(const StretchRows& rows, llvm::Value* number) {
  PointRow row;
  std::size_t next = 0;
  const auto place = [&](llvm::Value* first) {
    llvm::Value* bytes = builder_.CreateMul(number, rows.distance(builder_, next++));
    return builder_.CreateGEP(builder_.getInt8Ty(), first, bytes);
  };
  for (llvm::Value* first : stretch_.reads) row.elements.push_back(place(first));
  for (llvm::Value* first : stretch_.results) row.results.push_back(place(first));
  return row;
}

llvm::Value* PointLoops::emit_block(const EmittedWindows& windows, const std::vector<llvm::Value*>& numbers,
                                    const std::vector<llvm::Value*>& reads, const std::vector<llvm::Value*>& results,
                                    llvm::Value* first, llvm::Value* count) {
  for (std::size_t i = 0; i < windows.parts.size(); ++i) {
    const SharedWindows::Part& part = windows.shared.parts[i];
    std::vector<llvm::Value*> own;
    for (const std::uint32_t read : part.reads) own.push_back(reads[read]);
    emit({windows.parts[i], own, {numbers[i]}, first}, builder_.CreateNSWAdd(count, builder_.getInt64(part.reach)));
  }
  std::vector<llvm::Value*> inputs;
  for (const SharedWindows::Input& input : windows.shared.inputs)
    inputs.push_back(
        input.part ? builder_.CreateConstInBoundsGEP1_64(type_of_output(windows.shared.parts[*input.part].kernel, 0),
                                                         numbers[*input.part], input.number)
                   : reads[input.number]);
  return emit({windows.rest, inputs, results, first}, count);
}

void PointLoops::copy_past_cache(const std::vector<llvm::Value*>& rooms, const std::vector<llvm::Value*>& results,
                                 llvm::Value* made) {
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    llvm::Value* size = llvm::ConstantExpr::getSizeOf(type_of_output(source_, i));
    builder_.CreateCall(module_.copier_past_cache(), {results[i], rooms[i], builder_.CreateMul(made, size)});
  }
}

llvm::Value* PointLoops::emit(const Loop& loop, llvm::Value* count) {
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
  std::vector<llvm::Value*> arguments = {context_,
                                         builder_.CreateAdd(stretch_.first, builder_.CreateMul(point, stretch_.step))};
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
  llvm::Value* is_good = builder_.CreateICmpEQ(builder_.CreateExtractValue(all, 0), builder_.getInt32(raddle_leaf_ok));
  builder_.CreateCondBr(is_good, store, end, llvm::MDBuilder(module_.llvm_context).createLikelyBranchWeights());

  builder_.SetInsertPoint(store);
  for (unsigned i = 0; i < loop.results.size(); ++i)
    store_result(builder_, builder_.CreateExtractValue(all, i + 1), loop.results[i], number, nullptr);
  number->addIncoming(builder_.CreateNSWAdd(number, builder_.getInt64(1)), store);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(end);
  return number;
}

llvm::Value* PointLoops::room_for(llvm::Type* type, std::uint32_t numbers) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* room = at_entry.CreateAlloca(llvm::ArrayType::get(type, numbers));
  room->setAlignment(llvm::Align(64));
  return room;
}
}  // namespace raddle::codegen
