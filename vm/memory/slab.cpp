#include "vm/memory/slab.hpp"

#include <cstdlib>
#include <new>

namespace raddle::vm {

namespace {

// Under AddressSanitizer every block comes from the heap, so that it finds uses after release and leaks.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool use_heap = true;
#else
constexpr bool use_heap = false;
#endif

constexpr std::size_t chunk_bytes = 64 * 1024;

}  // namespace

SlabDepot::~SlabDepot() {
  for (void* chunk : chunks_) std::free(chunk);
}

FreeBlock* SlabDepot::take_batch(std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (!batches_[index].empty()) {
    FreeBlock* batch = batches_[index].back();
    batches_[index].pop_back();
    return batch;
  }
  const std::size_t size = slab_class_size(index);
  char* chunk = static_cast<char*>(std::aligned_alloc(64, chunk_bytes));
  if (!chunk) throw std::bad_alloc();
  chunks_.push_back(chunk);
  reserved_bytes_ += chunk_bytes;
  // cut into batches of at most batch_size blocks; the first one is handed out
  FreeBlock* batch = nullptr;
  std::size_t count = 0;
  for (std::size_t offset = 0; offset + size <= chunk_bytes; offset += size) {
    if (count == SlabCache::batch_size) {
      batches_[index].push_back(batch);
      batch = nullptr;
      count = 0;
    }
    batch = new (chunk + offset) FreeBlock{batch};
    ++count;
  }
  return batch;
}

void SlabDepot::give_batch(std::size_t index, FreeBlock* batch) {
  const std::lock_guard lock(mutex_);
  batches_[index].push_back(batch);
}

std::size_t SlabDepot::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  return reserved_bytes_;
}

void* SlabCache::allocate(std::size_t size_bytes) {
  if (use_heap || size_bytes > slab_block_limit) return ::operator new(size_bytes);
  const std::size_t index = slab_class(size_bytes);
  FreeList& list = lists_[index];
  if (!list.first) refill(index);
  FreeBlock* block = list.first;
  list.first = block->next;
  --list.count;
  return block;
}

void SlabCache::deallocate(void* memory, std::size_t size_bytes) {
  if (use_heap || size_bytes > slab_block_limit) {
    ::operator delete(memory);
    return;
  }
  const std::size_t index = slab_class(size_bytes);
  FreeList& list = lists_[index];
  if (list.count == batch_size) drain(index);
  list.first = new (memory) FreeBlock{list.first};
  ++list.count;
}

void SlabCache::refill(std::size_t index) {
  FreeList& list = lists_[index];
  list.first = list.spare ? list.spare : depot_.take_batch(index);
  list.spare = nullptr;
  list.count = 0;
  for (FreeBlock* block = list.first; block; block = block->next) ++list.count;
}

// The list is a full batch: it becomes the spare one, and the spare one before goes to the depot.
void SlabCache::drain(std::size_t index) {
  FreeList& list = lists_[index];
  if (list.spare) depot_.give_batch(index, list.spare);
  list.spare = list.first;
  list.first = nullptr;
  list.count = 0;
}

}  // namespace raddle::vm
