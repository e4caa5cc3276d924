#pragma once
// Memory of frames and of everything else that waits: slabs of blocks that can be enumerated, so that a run can say
// what is stuck and can free what a stopped run has left behind.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vm/schedule/task.hpp"

namespace raddle::vm {

/// Base of all that lies in a CellStore. Owned by a reference count (frames) or by whoever will run or resolve it: a
/// deque, a waiter list, a process. At the end of a run the store destroys those that are left; destructors therefore
/// release values only and touch no other cell.
class Cell : public Task {
 public:
  virtual ~Cell() = default;
};

/// What a store has done so far.
struct CellCounters {
  std::uint64_t peak_bytes = 0;      ///< the most that was taken from the system at any time
  std::uint64_t returned_bytes = 0;  ///< given back to the system before the end
  std::uint64_t refills = 0;         ///< magazines that workers have taken
};

/// Shared part. A slab is a chunk of equal blocks, whole cache lines; a free block's first word (the vtable pointer of
/// a live one) is 0, its second links it to the next free block. Each NUMA domain has a pool of slabs, whose pages lie
/// in the domain, as a worker of it has written them first. Workers take and give blocks in magazines, which the pool
/// keeps as they are as long as they are needed now and then. Others are taken apart: their blocks go back to the slabs
/// that they come from, whoever gave them back, and a slab of free blocks only to the system, but for the last few. So
/// memory returns when a phase of a run is over, while others go on. Threads: take and give under the pool's mutex, in
/// magazines; for_each_live and destroy_all only when no worker runs. Source: Bonwick, "The Slab Allocator" (USENIX
/// 1994); Bonwick, Adams, "Magazines and Vmem" (USENIX 2001): what is kept is the working set of an interval.
class CellStore {
 public:
  static constexpr std::size_t granule = 64;      ///< bytes; blocks are multiples of it
  static constexpr std::size_t class_count = 32;  ///< larger blocks are allocated one by one
  static constexpr std::size_t magazine_size = 64;
  static constexpr std::size_t slab_bytes = 64 * 1024;
  static constexpr std::size_t kept_slabs = 4;  ///< of free blocks, of each class: what is needed again and again

  struct FreeBlock {
    std::uintptr_t zero;
    FreeBlock* next;
  };
  /// Free blocks of a class, linked.
  struct Magazine {
    FreeBlock* first;
    std::size_t count;
  };

  /// @param limit_bytes  beyond it the store is full
  /// @param domains      1 or more
  explicit CellStore(std::size_t limit_bytes, unsigned domains = 1);
  CellStore(const CellStore&) = delete;
  ~CellStore();

  /// magazine_size free blocks (fewer if a slab holds fewer), in the domain.
  Magazine take_magazine(std::size_t size_class, unsigned domain);
  /// magazine_size blocks of the class, mostly of one domain.
  void give_magazine(std::size_t size_class, FreeBlock* magazine);
  /// Nothing is going on for a while: all that workers have given back goes to the slabs. Any thread.
  void trim();
  void* allocate_large(std::size_t size_bytes);
  void free_large(void* memory, std::size_t size_bytes);
  /// The limit was passed and nothing was given back since. What asks still gets memory: whoever makes much of it looks
  /// here first. Any thread.
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }
  std::size_t limit_bytes() const { return limit_bytes_; }
  /// Any thread.
  CellCounters counters() const;
  /// What is taken from the system now. Any thread.
  std::size_t reserved_bytes() const { return reserved_bytes_.load(std::memory_order_relaxed); }

  void for_each_live(const std::function<void(Cell&)>& visit) const;
  /// Destroys all live cells and frees all memory.
  void destroy_all();
  /// Ends a live cell without its destructor: what it owns is left to nobody.
  static void abandon(Cell* cell) { ::new (static_cast<void*>(cell)) FreeBlock{0, nullptr}; }

 private:
  struct Slab;
  struct Pool;
  static Slab& slab_of(void* block);
  using Surplus = std::vector<std::pair<std::size_t, FreeBlock*>>;  ///< magazines, with their classes
  Magazine take_from_slab(Pool& pool, std::size_t size_class);
  Slab& make_slab(Pool& pool, std::size_t size_class);
  void return_to_slabs(const Surplus& surplus);
  void return_to_slab(Slab& slab, FreeBlock& block, std::size_t size_class);
  void reserve(std::size_t size_bytes);
  void unreserve(std::size_t size_bytes);

  const std::size_t limit_bytes_;
  // Statistics and hints, all relaxed: nothing is read on the strength of them, and that a call sees the limit a little
  // later costs a few blocks.
  std::atomic<bool> is_full_{false};
  std::atomic<std::size_t> reserved_bytes_{0}, peak_bytes_{0};  ///< slabs and large blocks
  std::atomic<std::uint64_t> returned_bytes_{0};
  std::vector<std::unique_ptr<Pool>> pools_;  ///< by domain
  mutable std::mutex large_mutex_;            ///< guards large_
  std::unordered_set<void*> large_;
};

/// Under AddressSanitizer what lies in a free block, or behind a cell in its block, must not be touched.
void poison(void* memory, std::size_t size_bytes);
void unpoison(void* memory, std::size_t size_bytes);

/// One worker's free lists: its thread only. A block may be given back on another worker than it was taken on; full
/// magazines go back to the store, so that memory does not pile up on one of them.
class CellCache {
 public:
  /// @param domain  of the worker
  explicit CellCache(CellStore& store, unsigned domain = 0) : store_(store), domain_(domain) {}

  void* allocate(std::size_t size_bytes) {
    const std::size_t index = (size_bytes - 1) / CellStore::granule;
    if (index >= CellStore::class_count) return store_.allocate_large(size_bytes);
    FreeList& list = lists_[index];
    if (!list.first) refill(index);
    CellStore::FreeBlock* block = list.first;
    list.first = block->next;
    --list.count;
    unpoison(block, size_bytes);
    return block;
  }
  /// @pre the cell there has been destroyed
  void deallocate(void* memory, std::size_t size_bytes) {
    const std::size_t index = (size_bytes - 1) / CellStore::granule;
    if (index >= CellStore::class_count) return store_.free_large(memory, size_bytes);
    FreeList& list = lists_[index];
    auto* block = ::new (memory) CellStore::FreeBlock{0, list.first};
    list.first = block;
    poison(block + 1, (index + 1) * CellStore::granule - sizeof *block);
    if (++list.count >= 2 * CellStore::magazine_size) drain(index);
  }

 private:
  struct FreeList {
    CellStore::FreeBlock* first = nullptr;
    std::size_t count = 0;
  };
  void refill(std::size_t index);
  void drain(std::size_t index);

  CellStore& store_;
  const unsigned domain_;
  FreeList lists_[CellStore::class_count];
};

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __asan_poison_memory_region(void const volatile* memory, std::size_t size_bytes);
extern "C" void __asan_unpoison_memory_region(void const volatile* memory, std::size_t size_bytes);
inline void poison(void* memory, std::size_t size_bytes) { __asan_poison_memory_region(memory, size_bytes); }
inline void unpoison(void* memory, std::size_t size_bytes) { __asan_unpoison_memory_region(memory, size_bytes); }
#else
inline void poison(void*, std::size_t) {}
inline void unpoison(void*, std::size_t) {}
#endif

}  // namespace raddle::vm
