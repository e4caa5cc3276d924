#include "vm/value/element_table.hpp"

#include <cstdlib>
#include <new>

namespace raddle::vm {

ElementTable::~ElementTable() {
  for (unsigned block = 0; block < block_count; ++block)
    free(blocks_[block].load(std::memory_order_relaxed), block_size(block));  // relaxed: the destroyer is alone
  const Levels* levels = levels_.load(std::memory_order_relaxed);
  if (!levels) return;
  for (unsigned level = 0; level < level_count; ++level) {
    const std::atomic<Future*>* chunks = levels->chunks[level].load(std::memory_order_relaxed);
    if (!chunks) continue;
    for (std::size_t i = 0; i < std::size_t{1} << level; ++i)
      free(chunks[i].load(std::memory_order_relaxed), chunk_size);
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
  const unsigned block = block_of(key);
  if (!blocks_[block].load(std::memory_order_acquire))
    publish(blocks_[block], allocate(block_size(block)), block_size(block));
  return find(key);
}

std::atomic<Future*>& ElementTable::chunk_place(std::uint64_t number) {
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
  std::atomic<Future*>* chunks = levels->chunks[level].load(std::memory_order_acquire);
  if (!chunks) {
    auto* made = new std::atomic<Future*>[size]();
    if (levels->chunks[level].compare_exchange_strong(chunks, made, std::memory_order_acq_rel))
      chunks = made;
    else
      delete[] made;
  }
  return chunks[number - size];
}

}  // namespace raddle::vm
