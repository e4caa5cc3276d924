#include "vm/memory/cell_store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace raddle::vm {

namespace {

class CountedCell final : public Cell {
 public:
  explicit CountedCell(int& living) : living_(living) { ++living_; }
  ~CountedCell() override { --living_; }
  void run(Worker&) override {}

 private:
  int& living_;
};

}  // namespace

TEST_CASE("live cells can be enumerated and are destroyed with the store") {
  int living = 0;
  {
    CellStore store(std::size_t{1} << 30);
    CellCache cache(store);
    std::vector<CountedCell*> cells;
    for (int i = 0; i < 1000; ++i) cells.push_back(::new (cache.allocate(sizeof(CountedCell))) CountedCell(living));
    for (int i = 0; i < 600; ++i) {
      cells[static_cast<std::size_t>(i)]->~CountedCell();
      cache.deallocate(cells[static_cast<std::size_t>(i)], sizeof(CountedCell));
    }
    ::new (cache.allocate(100'000)) CountedCell(living);
    int found = 0;
    store.for_each_live([&found](Cell&) { ++found; });
    CHECK(found == 401);
    CHECK(living == 401);
  }
  CHECK(living == 0);
}

TEST_CASE("an abandoned cell is not destroyed, and not live any more") {
  int living = 0;
  {
    CellStore store(std::size_t{1} << 30);
    CellCache cache(store);
    CellStore::abandon(::new (cache.allocate(sizeof(CountedCell))) CountedCell(living));
    ::new (cache.allocate(sizeof(CountedCell))) CountedCell(living);
    int found = 0;
    store.for_each_live([&found](Cell&) { ++found; });
    CHECK(found == 1);
  }
  CHECK(living == 1);
}

TEST_CASE("a store beyond its limit is full until something is given back, and serves all the same") {
  CellStore store(10 * CellStore::slab_bytes);
  CellCache cache(store);
  std::vector<void*> blocks;
  while (!store.is_full()) blocks.push_back(cache.allocate(1024));
  CHECK(blocks.size() > 9 * CellStore::slab_bytes / 1024);
  CHECK(blocks.size() < 12 * CellStore::slab_bytes / 1024);
  int living = 0;
  CHECK(cache.allocate(1024) != nullptr);
  for (void* block : blocks) {
    (::new (block) CountedCell(living))->~CountedCell();
    cache.deallocate(block, 1024);
  }
  CHECK_FALSE(store.is_full());
  CellStore small(1000);
  CellCache large(small);
  void* block = large.allocate(100'000);
  CHECK(small.is_full());
  (::new (block) CountedCell(living))->~CountedCell();
  large.deallocate(block, 100'000);
  CHECK_FALSE(small.is_full());
}

TEST_CASE("memory freed on one worker is used again on another") {
  CellStore store(std::size_t{1} << 30);
  CellCache taker(store), giver(store);
  int living = 0;
  std::vector<void*> first;
  for (int i = 0; i < 512; ++i) first.push_back(taker.allocate(sizeof(CountedCell)));
  for (void* memory : first) {
    (::new (memory) CountedCell(living))->~CountedCell();
    giver.deallocate(memory, sizeof(CountedCell));
  }
  std::size_t known = 0;
  for (int i = 0; i < 256; ++i) {
    void* memory = taker.allocate(sizeof(CountedCell));
    known += std::find(first.begin(), first.end(), memory) != first.end();
  }
  CHECK(known > 0);
}

namespace {

/// As a cell that has been destroyed.
void give_back(CellCache& cache, void* memory, std::size_t size_bytes) {
  int living = 0;
  (::new (memory) CountedCell(living))->~CountedCell();
  cache.deallocate(memory, size_bytes);
}

}  // namespace

TEST_CASE("blocks are whole cache lines that nothing else lies in") {
  CellStore store(std::size_t{1} << 30);
  CellCache cache(store);
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t size = sizeof(CountedCell) + i * 37 % 3000;  // some beyond the largest class
    auto* memory = static_cast<unsigned char*>(cache.allocate(size));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    std::memset(memory, static_cast<int>(i & 0xff), size);
    blocks.emplace_back(memory, size);
  }
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t k = 0; k < blocks[i].second; ++k) damaged += blocks[i].first[k] != (i & 0xff);
  CHECK(damaged == 0);
  for (const auto& [memory, size] : blocks) give_back(cache, memory, size);
}

TEST_CASE("when a phase is over its memory returns to the system, while cells of others live on") {
  CellStore store(std::size_t{1} << 30);
  CellCache cache(store);
  int living = 0;
  auto* const survivor = ::new (cache.allocate(sizeof(CountedCell))) CountedCell(living);
  const std::size_t before = store.reserved_bytes();
  for (int phase = 0; phase < 3; ++phase) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100'000; ++i) blocks.push_back(cache.allocate(64));
    CHECK(store.reserved_bytes() >= 100'000 * 64);
    for (void* block : blocks) give_back(cache, block, 64);
    if (phase == 0) store.trim();
    for (int i = 0; i < 20'000 && phase != 0; ++i) {  // what goes on is of another size
      std::vector<void*> others;
      for (std::size_t k = 0; k < 3 * CellStore::magazine_size; ++k) others.push_back(cache.allocate(128));
      for (void* block : others) give_back(cache, block, 128);
    }
    CHECK(store.reserved_bytes() <= before + 3 * CellStore::kept_slabs * CellStore::slab_bytes);
  }
  const CellCounters counters = store.counters();
  CHECK(counters.peak_bytes >= 100'000 * 64);
  CHECK(counters.peak_bytes < 2 * 100'000 * 64);
  CHECK(counters.returned_bytes > 2 * 100'000 * 64);
  CHECK(counters.refills >= 3 * 100'000 / CellStore::magazine_size - 10);
  int found = 0;
  store.for_each_live([&](Cell& cell) { found += &cell == survivor ? 1 : 100; });
  CHECK(found == 1);
}

TEST_CASE("a block goes back to the pool of its domain, whoever gives it back") {
  CellStore store(std::size_t{1} << 30, 2);
  CellCache near(store, 0), far(store, 1);
  std::set<void*> first;
  for (int i = 0; i < 1000; ++i) first.insert(near.allocate(64));
  for (void* block : first) give_back(far, block, 64);
  std::size_t known_far = 0, known_near = 0;
  std::vector<void*> taken;
  for (int i = 0; i < 2000; ++i) taken.push_back(far.allocate(64));
  for (void* block : taken) known_far += first.contains(block);
  for (int i = 0; i < 1000; ++i) known_near += first.contains(near.allocate(64));
  CHECK(known_far <= 2 * CellStore::magazine_size);  // those that have stayed in its own list
  CHECK(known_near >= 1000 - 4 * CellStore::magazine_size);
}

TEST_CASE("memory does not grow when one worker allocates and another one frees at the same time") {
  CellStore store(std::size_t{1} << 30, 2);
  CellCache producer(store, 0), consumer(store, 1);
  constexpr std::size_t magazine = 1000, size = 100;
  std::vector<void*> blocks;
  for (int round = 0; round < 200; ++round) {
    std::vector<void*> next;
    std::thread make([&] {
      for (std::size_t i = 0; i < magazine; ++i) next.push_back(producer.allocate(size));
    });
    for (void* block : blocks) give_back(consumer, block, size);
    make.join();
    CHECK(std::set<void*>(next.begin(), next.end()).size() == magazine);
    blocks = std::move(next);
  }
  CHECK(store.reserved_bytes() <= 4 * magazine * 128 + 4 * CellStore::slab_bytes);
}

}  // namespace raddle::vm
