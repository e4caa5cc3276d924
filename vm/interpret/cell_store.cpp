#include "vm/interpret/cell_store.hpp"

#include <algorithm>
#include <new>

namespace raddle::vm {

namespace {

constexpr std::align_val_t alignment{CellStore::granule};

bool is_live(const void* block) { return *static_cast<const std::uintptr_t*>(block) != 0; }

}  // namespace

CellStore::~CellStore() { destroy_all(); }

CellStore::FreeBlock* CellStore::take_batch(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  std::vector<FreeBlock*>& batches = batches_[size_class];
  if (batches.empty()) return cut_chunk(size_class);
  FreeBlock* batch = batches.back();
  batches.pop_back();
  return batch;
}

void CellStore::give_batch(std::size_t size_class, FreeBlock* batch) {
  const std::lock_guard lock(mutex_);
  batches_[size_class].push_back(batch);
  is_full_.store(false, std::memory_order_relaxed);
}

void CellStore::reserve(std::size_t size_bytes) {
  reserved_bytes_ += size_bytes;
  peak_bytes_ = std::max(peak_bytes_, reserved_bytes_);
  if (reserved_bytes_ > limit_bytes_) is_full_.store(true, std::memory_order_relaxed);
}

std::size_t CellStore::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

CellStore::FreeBlock* CellStore::cut_chunk(std::size_t size_class) {
  const std::size_t block_bytes = (size_class + 1) * granule;
  const std::size_t count = chunk_bytes / block_bytes;
  reserve(count * block_bytes);
  auto* memory = static_cast<std::byte*>(::operator new(count* block_bytes, alignment));
  chunks_.push_back({memory, block_bytes, count});
  FreeBlock* batch = nullptr;
  for (std::size_t i = count; i-- > 0;) {
    batch = ::new (memory + i * block_bytes) FreeBlock{0, batch};
    if (i % batch_size != 0 || i == 0) continue;
    batches_[size_class].push_back(batch);
    batch = nullptr;
  }
  return batch;
}

void* CellStore::allocate_large(std::size_t size_bytes) {
  void* memory = ::operator new(size_bytes, alignment);
  *static_cast<std::uintptr_t*>(memory) = 0;
  const std::lock_guard lock(mutex_);
  reserve(size_bytes);
  large_.insert(memory);
  return memory;
}

void CellStore::free_large(void* memory, std::size_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    large_.erase(memory);
    reserved_bytes_ -= size_bytes;
    is_full_.store(false, std::memory_order_relaxed);
  }
  ::operator delete(memory, alignment);
}

void CellStore::for_each_live(const std::function<void(Cell&)>& visit) const {
  const std::lock_guard lock(mutex_);
  const auto look = [&visit](void* block) {
    if (is_live(block)) visit(*static_cast<Cell*>(block));
  };
  for (const Chunk& chunk : chunks_) {
    for (std::size_t i = 0; i < chunk.block_count; ++i) look(chunk.memory + i * chunk.block_bytes);
  }
  std::ranges::for_each(large_, look);
}

void CellStore::destroy_all() {
  for_each_live([](Cell& cell) { cell.~Cell(); });
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : chunks_) ::operator delete(chunk.memory, alignment);
  for (void* memory : large_) ::operator delete(memory, alignment);
  chunks_.clear();
  large_.clear();
  for (std::vector<FreeBlock*>& batches : batches_) batches.clear();
}

void CellCache::refill(std::size_t index) {
  FreeList& list = lists_[index];
  list.first = store_.take_batch(index);
  for (CellStore::FreeBlock* block = list.first; block; block = block->next) ++list.count;
}

void CellCache::drain(std::size_t index) {
  FreeList& list = lists_[index];
  CellStore::FreeBlock* batch = list.first;
  CellStore::FreeBlock* last = batch;
  for (std::size_t i = 1; i < CellStore::batch_size; ++i) last = last->next;
  list.first = last->next;
  list.count -= CellStore::batch_size;
  last->next = nullptr;
  store_.give_batch(index, batch);
}

}  // namespace raddle::vm
