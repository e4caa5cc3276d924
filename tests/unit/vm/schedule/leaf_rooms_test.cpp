#include "vm/schedule/leaf_rooms.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

using namespace raddle::vm;

TEST_CASE("memory for a leaf's own arrays is aligned, and there until who has taken it leaves") {
  raddle_leaf_worker worker{};
  worker.room_limit = 1000;
  CHECK(worker.rooms == nullptr);
  void* const outer = take_leaf_room(&worker, 1000);
  REQUIRE(outer != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(outer) % 64 == 0);
  std::memset(outer, 1, 1000);
  raddle_leaf_room* const of_outer = worker.rooms;
  void* const inner = take_leaf_room(&worker, 8);
  void* const last = take_leaf_room(&worker, 0);
  REQUIRE(inner != nullptr);
  REQUIRE(last != nullptr);
  CHECK(worker.rooms != of_outer);
  leave_leaf_rooms(&worker, of_outer);
  CHECK(worker.rooms == of_outer);
  leave_leaf_rooms(&worker, of_outer);  // nothing newer is there
  CHECK(static_cast<char*>(outer)[999] == 1);
  leave_leaf_rooms(&worker, nullptr);
  CHECK(worker.rooms == nullptr);
}

TEST_CASE("more memory than the limit is not given") {
  raddle_leaf_worker worker{};
  worker.room_limit = 1000;
  CHECK(take_leaf_room(&worker, 1001) == nullptr);
  CHECK(take_leaf_room(&worker, ~std::uint64_t{0}) == nullptr);
  CHECK(worker.rooms == nullptr);
}
