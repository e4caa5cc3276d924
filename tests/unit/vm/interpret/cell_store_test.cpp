#include "vm/interpret/cell_store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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
  CellStore store(10 * CellStore::chunk_bytes);
  CellCache cache(store);
  std::vector<void*> blocks;
  while (!store.is_full()) blocks.push_back(cache.allocate(1024));
  CHECK(blocks.size() > 9 * CellStore::chunk_bytes / 1024);
  CHECK(blocks.size() < 12 * CellStore::chunk_bytes / 1024);
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

}  // namespace raddle::vm
