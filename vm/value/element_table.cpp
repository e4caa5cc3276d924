#include "vm/value/element_table.hpp"

#include <cstdlib>
#include <memory>
#include <new>

#include "vm/value/made_once.hpp"

namespace raddle::vm {

NumberChunk::Owner NumberChunk::make(ValueKind kind) {
  static_assert(sizeof(NumberChunk) % alignof(double) == 0);
  const std::size_t element_size = kind == ValueKind::boolean ? sizeof(std::uint8_t) : sizeof(std::int64_t);
  void* memory = std::malloc(sizeof(NumberChunk) + static_cast<std::size_t>(size) * element_size);
  if (!memory) throw std::bad_alloc();
  return Owner(new (memory) NumberChunk(kind));
}

ElementTable::~ElementTable() {
  for (unsigned block = 0; block < block_count; ++block) free(find_block(block), block_size(block));
  const Directory* directory = directory_.load(std::memory_order_relaxed);  // relaxed: the destroyer is alone
  const Levels* levels = find_levels();
  for (unsigned level = 0; levels && level < level_count; ++level) {
    const Chunk* chunks = (*levels)[level].load(std::memory_order_relaxed);
    if (!chunks) continue;
    for (std::size_t i = 0; i < std::size_t{1} << level; ++i) {
      const std::uintptr_t chunk = chunks[i].load(std::memory_order_relaxed);
      if (is_numbers(chunk))
        NumberChunk::Free()(numbers_of(chunk));
      else
        free(elements_of(chunk), chunk_size);
    }
    delete[] chunks;
  }
  delete levels;
  delete directory;
}

Element* ElementTable::allocate(std::int64_t size) {
  const auto count = static_cast<std::size_t>(size);
  void* memory = std::malloc(count * sizeof(Element));
  if (!memory) throw std::bad_alloc();
  auto* part = static_cast<Element*>(memory);
  std::uninitialized_default_construct_n(part, count);
  return part;
}

void ElementTable::free(Element* part, std::int64_t size) {
  if (!part) return;
  std::destroy_n(part, size);
  std::free(part);
}

void ElementTable::publish(std::atomic<Element*>& place, Element* part, std::int64_t size) {
  Element* expected = nullptr;
  if (!place.compare_exchange_strong(expected, part, std::memory_order_acq_rel)) free(part, size);
}

Element* ElementTable::make_small(std::int64_t key) {
  if (key < inner_size) return inner_element(key);
  const unsigned block = block_of(key);
  if (!find_block(block)) publish(directory().blocks[block], allocate(block_size(block)), block_size(block));
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

ElementTable::Directory& ElementTable::directory() { return made_once(directory_); }

ElementTable::Chunk& ElementTable::chunk_place(std::uint64_t number) {
  const unsigned level = static_cast<unsigned>(std::bit_width(number)) - 1;
  const std::size_t size = std::size_t{1} << level;
  std::atomic<Chunk*>& place = made_once(directory().levels)[level];
  Chunk* chunks = place.load(std::memory_order_acquire);
  if (!chunks) {
    auto* made = new Chunk[size]();
    if (place.compare_exchange_strong(chunks, made, std::memory_order_acq_rel))
      chunks = made;
    else
      delete[] made;
  }
  return chunks[number - size];
}

}  // namespace raddle::vm
