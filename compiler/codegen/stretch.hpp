#pragma once
// Inside of kernels_to_llvm: the words of a call for many points, as Notes [stretches] and [rows] of
// vm/program/leaf_abi.hpp have them.
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "compiler/codegen/word_reader.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::codegen {

/// The words before the captures.
struct Stretch {
  llvm::Value* first = nullptr;
  llvm::Value* step = nullptr;
  llvm::Value* count = nullptr;
  llvm::Value* is_past_cache = nullptr;  ///< results go past it: Note [past the cache] in leaf_abi.hpp
  std::vector<llvm::Value*> results;     ///< where they go
  std::vector<llvm::Value*> rows;        ///< where those of the first point go, and how many elements each has
  std::vector<llvm::Value*> reads;       ///< where the elements lie that points read

  Stretch(WordReader& words, llvm::IRBuilder<>& builder, const vm::Kernel& kernel, std::size_t read_count) {
    first = words.load(builder.getInt64Ty());
    step = words.load(builder.getInt64Ty());
    llvm::Value* asked = words.load(builder.getInt64Ty());
    is_past_cache = builder.CreateICmpSLT(asked, builder.getInt64(0));
    count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, asked, builder.getTrue());
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) results.push_back(words.load(builder.getPtrTy()));
    for (std::size_t i = 0; i < kernel.row_count; ++i) words.load_argument(builder.getPtrTy(), rows);
    for (std::size_t i = 0; i < read_count; ++i) reads.push_back(words.load(builder.getPtrTy()));
  }
};

/// The words behind the captures where points read elements: there are rows of points.
struct StretchRows {
  llvm::Value* count;
  llvm::Value* distances;  ///< in bytes, of reads, then of results

  StretchRows(WordReader& words, llvm::IRBuilder<>& builder)
      : count(words.load(builder.getInt64Ty())), distances(words.load(builder.getPtrTy())) {}
  llvm::Value* distance(llvm::IRBuilder<>& builder, std::size_t number) const {
    llvm::Type* word = builder.getInt64Ty();
    return builder.CreateLoad(word, builder.CreateConstInBoundsGEP1_64(word, distances, number));
  }
};

}  // namespace raddle::codegen
