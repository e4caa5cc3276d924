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
    CellStore store;
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

TEST_CASE("memory freed on one worker is used again on another") {
  CellStore store;
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
