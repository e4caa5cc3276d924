#include "vm/value/element_table.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "vm/memory/bounded_memory.hpp"
#include "vm/value/made_once.hpp"

namespace raddle::vm {

namespace {

/// Elements that lie apart never go to a file.
void* counted(void* memory) {
  if (!memory) throw std::bad_alloc();
  if (BoundedMemory* const bounded = BoundedMemory::get())
    bounded->count_small(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  return memory;
}

void free_counted(void* memory) {
  if (BoundedMemory* const bounded = BoundedMemory::get())
    bounded->count_small(-static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  std::free(memory);
}

}  // namespace

void NumberChunk::Free::operator()(NumberChunk* chunk) const { free_counted(chunk); }

NumberChunk::Owner NumberChunk::make(ValueKind kind, std::int64_t count) {
  static_assert(sizeof(NumberChunk) % alignof(double) == 0);
  void* memory = counted(std::malloc(sizeof(NumberChunk) + static_cast<std::size_t>(count) * size_of_number(kind)));
  return Owner(new (memory) NumberChunk(kind));
}

void NumberChunk::set_present(std::int64_t first, std::int64_t count) {
  const std::int64_t end = first + count;
  for (std::int64_t at = first; at < end;) {
    const std::int64_t in_word = at % 64, here = std::min(end - at, 64 - in_word);
    const std::uint64_t mask = here == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << here) - 1) << in_word;
    present_[static_cast<std::size_t>(at) / 64].fetch_or(mask, std::memory_order_release);
    at += here;
  }
}

void NumberChunk::write(std::int64_t first, const NumberRun& numbers) {
  std::memcpy(word(first), numbers.words, static_cast<std::size_t>(numbers.count) * size_of_number(numbers.kind));
  set_present(first, numbers.count);
}

std::pair<std::int64_t, std::int64_t> NumberChunk::next_run(std::int64_t offset, std::int64_t count) const {
  while (offset < count && !has(offset)) ++offset;
  std::int64_t end = offset;
  while (end < count && has(end)) ++end;
  return {offset, end};
}

ElementTable::~ElementTable() {
  for (unsigned block = 0; block < block_count; ++block) free_part(find_block(block), block_size(block));
  const Directory* directory = directory_.load(std::memory_order_relaxed);  // relaxed: the destroyer is alone
  const Levels* levels = find_levels();
  for (unsigned level = 0; levels && level < level_count; ++level) {
    const Chunk* chunks = (*levels)[level].load(std::memory_order_relaxed);
    if (!chunks) continue;
    for (std::size_t i = 0; i < std::size_t{1} << level; ++i) {
      free_part(chunks[i].load(std::memory_order_relaxed), chunk_size);
    }
    delete[] chunks;
  }
  delete levels;
  delete directory;
}

Element* ElementTable::allocate(std::int64_t size) {
  const auto count = static_cast<std::size_t>(size);
  void* memory = counted(std::malloc(count * sizeof(Element)));
  auto* part = static_cast<Element*>(memory);
  std::uninitialized_default_construct_n(part, count);
  return part;
}

void ElementTable::free(Element* part, std::int64_t size) {
  if (!part) return;
  std::destroy_n(part, size);
  free_counted(part);
}

void ElementTable::free_part(std::uintptr_t part, std::int64_t size) {
  if (is_numbers(part))
    NumberChunk::Free()(numbers_of(part));
  else
    free(elements_of(part), size);
}

void ElementTable::publish(Chunk& place, Element* part, std::int64_t size) {
  std::uintptr_t expected = 0;
  if (!place.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(part), std::memory_order_acq_rel))
    free(part, size);
}

bool ElementTable::adopt_block(unsigned block, const NumberRun& numbers) {
  NumberChunk::Owner made = NumberChunk::make(numbers.kind, numbers.count);
  made->write(0, numbers);
  std::uintptr_t expected = 0;
  const std::uintptr_t part = reinterpret_cast<std::uintptr_t>(made.get()) | 1;
  if (!directory().blocks[block].compare_exchange_strong(expected, part, std::memory_order_acq_rel)) return false;
  static_cast<void>(made.release());
  return true;
}

Element* ElementTable::make_small(std::int64_t key) {
  if (key < inner_size) return inner_element(key);
  const unsigned block = block_of(key);
  if (find_block(block) == 0) publish(directory().blocks[block], allocate(block_size(block)), block_size(block));
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
