#include "vm/value/element_table.hpp"

#include <cstdlib>
#include <new>

namespace raddle::vm {

NumberChunk::Owner NumberChunk::make(ValueKind kind) {
  static_assert(sizeof(NumberChunk) % alignof(double) == 0);
  const std::size_t element_size = kind == ValueKind::boolean ? sizeof(std::uint8_t) : sizeof(std::int64_t);
  void* memory = std::malloc(sizeof(NumberChunk) + static_cast<std::size_t>(size) * element_size);
  if (!memory) throw std::bad_alloc();
  return Owner(new (memory) NumberChunk(kind));
}

ElementTable::~ElementTable() {
  for (unsigned block = 0; block < block_count; ++block)
    free(blocks_[block].load(std::memory_order_relaxed), block_size(block));  // relaxed: the destroyer is alone
  const Levels* levels = levels_.load(std::memory_order_relaxed);
  if (!levels) return;
  for (unsigned level = 0; level < level_count; ++level) {
    const Chunk* chunks = levels->chunks[level].load(std::memory_order_relaxed);
    if (!chunks) continue;
    for (std::size_t i = 0; i < std::size_t{1} << level; ++i) {
      const std::uintptr_t chunk = chunks[i].load(std::memory_order_relaxed);
      if (is_numbers(chunk))
        NumberChunk::Free()(numbers_of(chunk));
      else
        free(futures_of(chunk), chunk_size);
    }
    delete[] chunks;
  }
  delete levels;
}

Future* ElementTable::allocate(std::int64_t size) {
  const auto count = static_cast<std::size_t>(size);
  void* memory = std::malloc(count * (sizeof(Future) + sizeof(ElementMark)));
  if (!memory) throw std::bad_alloc();
  auto* part = static_cast<Future*>(memory);
  for (std::size_t i = 0; i < count; ++i) new (part + i) Future;
  auto* marks = reinterpret_cast<std::atomic<ElementMark>*>(part + count);
  for (std::size_t i = 0; i < count; ++i) new (marks + i) std::atomic<ElementMark>(ElementMark::untouched);
  return part;
}

void ElementTable::free(Future* part, std::int64_t size) {
  if (!part) return;
  for (std::int64_t i = 0; i < size; ++i) part[i].~Future();
  std::free(part);
}

void ElementTable::publish(std::atomic<Future*>& place, Future* part, std::int64_t size) {
  Future* expected = nullptr;
  if (!place.compare_exchange_strong(expected, part, std::memory_order_acq_rel)) free(part, size);
}

ElementSlot ElementTable::make_small(std::int64_t key) {
  if (key < inner_size) return inner_slot(key);
  const unsigned block = block_of(key);
  if (!blocks_[block].load(std::memory_order_acquire))
    publish(blocks_[block], allocate(block_size(block)), block_size(block));
  return find(key);
}

bool ElementTable::adopt(std::int64_t first, NumberChunk::Owner& numbers) {
  std::uintptr_t expected = 0;
  const std::uintptr_t chunk = reinterpret_cast<std::uintptr_t>(numbers.get()) | 1;
  Chunk& place = chunk_place(static_cast<std::uint64_t>(first / chunk_size));
  if (!place.compare_exchange_strong(expected, chunk, std::memory_order_acq_rel)) return false;
  static_cast<void>(numbers.release());
  return true;
}

ElementTable::Chunk& ElementTable::chunk_place(std::uint64_t number) {
  Levels* levels = levels_.load(std::memory_order_acquire);
  if (!levels) {
    auto* made = new Levels;
    if (levels_.compare_exchange_strong(levels, made, std::memory_order_acq_rel))
      levels = made;
    else
      delete made;
  }
  const unsigned level = static_cast<unsigned>(std::bit_width(number)) - 1;
  const std::size_t size = std::size_t{1} << level;
  Chunk* chunks = levels->chunks[level].load(std::memory_order_acquire);
  if (!chunks) {
    auto* made = new Chunk[size]();
    if (levels->chunks[level].compare_exchange_strong(chunks, made, std::memory_order_acq_rel))
      chunks = made;
    else
      delete[] made;
  }
  return chunks[number - size];
}

}  // namespace raddle::vm
