#include "vm/memory/cell_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

namespace raddle::vm {

namespace {

constexpr std::align_val_t alignment{CellStore::granule};

constexpr unsigned operations_of_interval = 1024;

bool is_live(const void* block) { return *static_cast<const std::uintptr_t*>(block) != 0; }

}  // namespace

/// The head of a chunk of slab_bytes, which is aligned to its size: so a block knows its slab. All but `pool`, the
/// number and the sizes is guarded by the pool's mutex.
struct alignas(CellStore::granule) CellStore::Slab {
  Pool* pool = nullptr;
  std::uint64_t number = 0;
  std::size_t block_bytes = 0, block_count = 0;
  FreeBlock* free = nullptr;  ///< those that no worker has
  std::size_t free_count = 0;
  Slab *before = nullptr, *after = nullptr;  ///< of those of the pool's class that have such blocks

  std::byte* block(std::size_t number) { return reinterpret_cast<std::byte*>(this + 1) + number * block_bytes; }
  bool is_free() const { return free_count == block_count; }
};

struct CellStore::Pool {
  struct SizeClass {
    std::vector<FreeBlock*> magazines;  ///< full ones that a worker has given back: the next one takes them as they are
    std::size_t least_magazines = 0;    ///< that there were at any time of this interval: nobody has needed these
    Slab* first = nullptr;              ///< with blocks to take
    std::size_t free_slabs = 0;         ///< among them, of nothing else
    void link(Slab& slab) {
      slab.before = nullptr;
      slab.after = first;
      if (first) first->before = &slab;
      first = &slab;
    }
    void unlink(Slab& slab) {
      (slab.before ? slab.before->after : first) = slab.after;
      if (slab.after) slab.after->before = slab.before;
    }
  };
  /// Counts an operation. @return at the end of an interval half of what nobody has needed: else nothing
  Surplus look() {
    Surplus surplus;
    if (++operations % operations_of_interval != 0) return surplus;
    for (std::size_t size_class = 0; size_class < class_count; ++size_class) {
      SizeClass& own = classes[size_class];
      move_oldest(size_class, (own.least_magazines + 1) / 2, surplus);
      own.least_magazines = own.magazines.size();
    }
    return surplus;
  }
  void move_oldest(std::size_t size_class, std::size_t count, Surplus& to) {
    std::vector<FreeBlock*>& magazines = classes[size_class].magazines;
    const auto end = magazines.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto magazine = magazines.begin(); magazine != end; ++magazine) to.emplace_back(size_class, *magazine);
    magazines.erase(magazines.begin(), end);
  }
  mutable std::mutex mutex;  ///< guards all
  std::array<SizeClass, class_count> classes;
  std::map<std::uint64_t, Slab*>
      slabs;  ///< as they were made: live cells are told of in an order that runs have in common
  std::uint64_t slabs_made = 0;
  unsigned operations = 0;
  std::uint64_t refills = 0;
};

CellStore::CellStore(std::size_t limit_bytes, unsigned domains) : limit_bytes_(limit_bytes) {
  for (unsigned i = 0; i < domains; ++i) pools_.push_back(std::make_unique<Pool>());
}
CellStore::~CellStore() { destroy_all(); }

CellStore::Slab& CellStore::slab_of(void* block) {
  return *reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{slab_bytes - 1});
}

CellStore::Magazine CellStore::take_magazine(std::size_t size_class, unsigned domain) {
  Pool& pool = *pools_[domain];
  std::unique_lock lock(pool.mutex);
  ++pool.refills;
  Pool::SizeClass& own = pool.classes[size_class];
  Magazine magazine{nullptr, magazine_size};  // not counted: its blocks are in nobody's cache
  if (own.magazines.empty()) {
    magazine = take_from_slab(pool, size_class);
  } else {
    magazine.first = own.magazines.back();
    own.magazines.pop_back();
  }
  own.least_magazines = std::min(own.least_magazines, own.magazines.size());
  const Surplus surplus = pool.look();
  lock.unlock();
  return_to_slabs(surplus);
  return magazine;
}

void CellStore::give_magazine(std::size_t size_class, FreeBlock* magazine) {
  is_full_.store(false, std::memory_order_relaxed);
  Pool& pool = *slab_of(magazine).pool;
  std::unique_lock lock(pool.mutex);
  pool.classes[size_class].magazines.push_back(magazine);
  const Surplus surplus = pool.look();
  lock.unlock();
  return_to_slabs(surplus);
}

void CellStore::trim() {
  for (const std::unique_ptr<Pool>& pool : pools_) {
    Surplus all;
    {
      const std::lock_guard lock(pool->mutex);
      for (std::size_t size_class = 0; size_class < class_count; ++size_class) {
        pool->move_oldest(size_class, pool->classes[size_class].magazines.size(), all);
        pool->classes[size_class].least_magazines = 0;
      }
    }
    return_to_slabs(all);
  }
}

/// @pre the pool's mutex is held
CellStore::Magazine CellStore::take_from_slab(Pool& pool, std::size_t size_class) {
  Pool::SizeClass& own = pool.classes[size_class];
  Slab& slab = own.first ? *own.first : make_slab(pool, size_class);
  if (slab.is_free()) --own.free_slabs;
  FreeBlock *const first = slab.free, *last = first;
  std::size_t count = 1;
  for (; count < magazine_size && last->next; ++count) last = last->next;
  slab.free = std::exchange(last->next, nullptr);
  slab.free_count -= count;
  if (!slab.free) own.unlink(slab);
  return {first, count};
}

CellStore::Slab& CellStore::make_slab(Pool& pool, std::size_t size_class) {
  void* const memory = std::aligned_alloc(slab_bytes, slab_bytes);
  if (!memory) throw std::bad_alloc();
  reserve(slab_bytes);
  auto* const slab = ::new (memory) Slab;
  slab->pool = &pool;
  slab->block_bytes = (size_class + 1) * granule;
  slab->block_count = slab->free_count = (slab_bytes - sizeof(Slab)) / slab->block_bytes;
  for (std::size_t i = slab->block_count; i-- > 0;) {
    slab->free = ::new (slab->block(i)) FreeBlock{0, slab->free};
    poison(slab->free + 1, slab->block_bytes - sizeof(FreeBlock));
  }
  slab->number = pool.slabs_made++;
  pool.slabs.emplace(slab->number, slab);
  pool.classes[size_class].link(*slab);
  ++pool.classes[size_class].free_slabs;
  return *slab;
}

/// Magazine by magazine, so that nobody waits long for the pool.
void CellStore::return_to_slabs(const Surplus& surplus) {
  for (auto [size_class, magazine] : surplus) {
    std::unique_lock lock(slab_of(magazine).pool->mutex);
    while (magazine) {
      FreeBlock* const block = std::exchange(magazine, magazine->next);
      Slab& slab = slab_of(block);
      if (lock.mutex() != &slab.pool->mutex) {
        lock.unlock();
        lock = std::unique_lock(slab.pool->mutex);
      }
      return_to_slab(slab, *block, size_class);
    }
  }
}

/// @pre the mutex of the slab's pool is held
void CellStore::return_to_slab(Slab& slab, FreeBlock& block, std::size_t size_class) {
  Pool::SizeClass& own = slab.pool->classes[size_class];
  if (!slab.free) own.link(slab);
  block.next = slab.free;
  slab.free = &block;
  ++slab.free_count;
  if (!slab.is_free()) return;
  if (own.free_slabs < kept_slabs) {
    ++own.free_slabs;
    return;
  }
  own.unlink(slab);
  slab.pool->slabs.erase(slab.number);
  unpoison(&slab, slab_bytes);
  std::free(&slab);
  unreserve(slab_bytes);
}

void CellStore::reserve(std::size_t size_bytes) {
  const std::size_t now = reserved_bytes_.fetch_add(size_bytes, std::memory_order_relaxed) + size_bytes;
  std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (peak < now && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  if (now > limit_bytes_) is_full_.store(true, std::memory_order_relaxed);
}

void CellStore::unreserve(std::size_t size_bytes) {
  reserved_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed);
  returned_bytes_.fetch_add(size_bytes, std::memory_order_relaxed);
}

CellCounters CellStore::counters() const {
  CellCounters counters{peak_bytes_.load(std::memory_order_relaxed), returned_bytes_.load(std::memory_order_relaxed),
                        0};
  for (const std::unique_ptr<Pool>& pool : pools_) {
    const std::lock_guard lock(pool->mutex);
    counters.refills += pool->refills;
  }
  return counters;
}

void* CellStore::allocate_large(std::size_t size_bytes) {
  void* memory = ::operator new(size_bytes, alignment);
  *static_cast<std::uintptr_t*>(memory) = 0;
  reserve(size_bytes);
  const std::lock_guard lock(large_mutex_);
  large_.insert(memory);
  return memory;
}

void CellStore::free_large(void* memory, std::size_t size_bytes) {
  {
    const std::lock_guard lock(large_mutex_);
    large_.erase(memory);
  }
  unreserve(size_bytes);
  is_full_.store(false, std::memory_order_relaxed);
  ::operator delete(memory, alignment);
}

void CellStore::for_each_live(const std::function<void(Cell&)>& visit) const {
  const auto look = [&visit](void* block) {
    if (is_live(block)) visit(*static_cast<Cell*>(block));
  };
  for (const std::unique_ptr<Pool>& pool : pools_) {
    const std::lock_guard lock(pool->mutex);
    for (const auto& [number, slab] : pool->slabs)
      for (std::size_t i = 0; i < slab->block_count; ++i) look(slab->block(i));
  }
  const std::lock_guard lock(large_mutex_);
  std::ranges::for_each(large_, look);
}

void CellStore::destroy_all() {
  for_each_live([](Cell& cell) { cell.~Cell(); });
  for (const std::unique_ptr<Pool>& pool : pools_) {
    for (const auto& [number, slab] : pool->slabs) {
      unpoison(slab, slab_bytes);
      std::free(slab);
    }
    pool->slabs.clear();
    pool->classes = {};
  }
  for (void* memory : large_) ::operator delete(memory, alignment);
  large_.clear();
}

void CellCache::refill(std::size_t index) {
  FreeList& list = lists_[index];
  const CellStore::Magazine magazine = store_.take_magazine(index, domain_);
  list.first = magazine.first;
  list.count = magazine.count;
}

void CellCache::drain(std::size_t index) {
  FreeList& list = lists_[index];
  CellStore::FreeBlock* magazine = list.first;
  CellStore::FreeBlock* last = magazine;
  for (std::size_t i = 1; i < CellStore::magazine_size; ++i) last = last->next;
  list.first = last->next;
  list.count -= CellStore::magazine_size;
  last->next = nullptr;
  store_.give_magazine(index, magazine);
}

}  // namespace raddle::vm
