#pragma once
// Memory of frames and of everything else that waits: blocks that can be enumerated, so that a run can say what is
// stuck and can free what a stopped run has left behind.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// Base of all that lies in a CellStore. Owned by a reference count (frames) or by whoever will run or resolve it: a
/// deque, a waiter list, a process. At the end of a run the store destroys those that are left; destructors therefore
/// release values only and touch no other cell.
class Cell : public Task {
 public:
  virtual ~Cell() = default;
};

/// Shared part. Chunks of equal blocks; a free block's first word (the vtable pointer of a live one) is 0, its second
/// links it to the next free block.
/// Threads: take and give under the mutex, in batches; for_each_live and destroy_all only when no worker runs.
class CellStore {
 public:
  static constexpr std::size_t granule = 64;      ///< bytes; blocks are multiples of it
  static constexpr std::size_t class_count = 32;  ///< larger blocks are allocated one by one
  static constexpr std::size_t batch_size = 64;
  static constexpr std::size_t chunk_bytes = 64 * 1024;

  struct FreeBlock {
    std::uintptr_t zero;
    FreeBlock* next;
  };

  /// @param limit_bytes  beyond it the store is full
  explicit CellStore(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  CellStore(const CellStore&) = delete;
  ~CellStore();

  /// A list of batch_size free blocks (fewer if the chunk holds fewer).
  FreeBlock* take_batch(std::size_t size_class);
  void give_batch(std::size_t size_class, FreeBlock* batch);
  void* allocate_large(std::size_t size_bytes);
  void free_large(void* memory, std::size_t size_bytes);
  /// The limit was passed and nothing was given back since. What asks still gets memory: whoever makes much of it looks
  /// here first. Any thread.
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }
  std::size_t limit_bytes() const { return limit_bytes_; }
  /// The most that was taken from the system at any time. Any thread.
  std::size_t peak_bytes() const;

  void for_each_live(const std::function<void(Cell&)>& visit) const;
  /// Destroys all live cells and frees all memory.
  void destroy_all();
  /// Ends a live cell without its destructor: what it owns is left to nobody.
  static void abandon(Cell* cell) { ::new (static_cast<void*>(cell)) FreeBlock{0, nullptr}; }

 private:
  struct Chunk {
    std::byte* memory;
    std::size_t block_bytes, block_count;
  };
  FreeBlock* cut_chunk(std::size_t size_class);
  void reserve(std::size_t size_bytes);  // with mutex_ held

  const std::size_t limit_bytes_;
  /// Written under the mutex. relaxed: nothing is read on the strength of it, and that a call sees it a little later
  /// costs a few blocks.
  std::atomic<bool> is_full_{false};
  mutable std::mutex mutex_;  ///< guards all below
  std::vector<Chunk> chunks_;
  std::vector<FreeBlock*> batches_[class_count];
  std::unordered_set<void*> large_;
  std::size_t reserved_bytes_ = 0;  ///< chunks and large blocks
  std::size_t peak_bytes_ = 0;
};

/// One worker's free lists: its thread only. A block may be given back on another worker than it was taken on; full
/// batches go back to the store, so that memory does not pile up on one of them.
class CellCache {
 public:
  explicit CellCache(CellStore& store) : store_(store) {}

  void* allocate(std::size_t size_bytes) {
    const std::size_t index = (size_bytes - 1) / CellStore::granule;
    if (index >= CellStore::class_count) return store_.allocate_large(size_bytes);
    FreeList& list = lists_[index];
    if (!list.first) refill(index);
    CellStore::FreeBlock* block = list.first;
    list.first = block->next;
    --list.count;
    return block;
  }
  /// @pre the cell there has been destroyed
  void deallocate(void* memory, std::size_t size_bytes) {
    const std::size_t index = (size_bytes - 1) / CellStore::granule;
    if (index >= CellStore::class_count) return store_.free_large(memory, size_bytes);
    FreeList& list = lists_[index];
    auto* block = ::new (memory) CellStore::FreeBlock{0, list.first};
    list.first = block;
    if (++list.count >= 2 * CellStore::batch_size) drain(index);
  }

 private:
  struct FreeList {
    CellStore::FreeBlock* first = nullptr;
    std::size_t count = 0;
  };
  void refill(std::size_t index);
  void drain(std::size_t index);

  CellStore& store_;
  FreeList lists_[CellStore::class_count];
};

}  // namespace raddle::vm
