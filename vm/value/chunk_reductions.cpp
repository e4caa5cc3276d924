#include "vm/value/chunk_reductions.hpp"

namespace raddle::vm {

void ChunkReductions::add(std::int64_t first, const NumberChunk& numbers, bool has_deviation) {
  const auto add_to = [&]<typename T>(ReductionTree<T>& tree) {
    static_assert(ReductionTree<T>::block_size == NumberChunk::size);
    tree.add(static_cast<std::uint64_t>(first / NumberChunk::size),
             Reduction<T>::of({static_cast<const T*>(numbers.words()), NumberChunk::size}, has_deviation));
  };
  count += NumberChunk::size;
  if (numbers.kind() == ValueKind::int_)
    add_to(ints);
  else
    add_to(floats);
}

void ChunkReductions::add(const ChunkReductions& others) {
  count += others.count;
  ints.add(others.ints);
  floats.add(others.floats);
}

}  // namespace raddle::vm
