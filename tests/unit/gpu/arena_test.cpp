#include "gpu/memory/arena.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace raddle::gpu {

TEST_CASE("a chunk is taken as a whole, and comes back as a whole") {
  Arena arena;
  CHECK(arena.take(1) == nullptr);
  arena.add({256, 100 * Arena::granule});
  Arena::Block* const all = arena.take(100 * Arena::granule);
  REQUIRE(all != nullptr);
  CHECK(all->address == 256);
  CHECK(arena.take(1) == nullptr);
  CHECK_FALSE(arena.take_empty_chunk());
  arena.give_back(all);
  CHECK(arena.take(101 * Arena::granule) == nullptr);
  const auto chunk = arena.take_empty_chunk();
  REQUIRE(chunk);
  CHECK(chunk->address == 256);
  CHECK(chunk->bytes == 100 * Arena::granule);
  CHECK(arena.take(1) == nullptr);
}

TEST_CASE("neighbours that come back in any order are one block again") {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 50; ++turn) {
    Arena arena;
    arena.add({1 << 20, 64 * Arena::granule});
    std::vector<Arena::Block*> blocks;
    for (int i = 0; i < 64; ++i) blocks.push_back(arena.take(200));
    CHECK(arena.take(1) == nullptr);
    std::ranges::shuffle(blocks, random);
    for (Arena::Block* const block : blocks) arena.give_back(block);
    CHECK(arena.take_empty_chunk());
  }
}

TEST_CASE("blocks that are taken never overlap, are aligned, and lie in a chunk") {
  std::mt19937_64 random(11);
  Arena arena;
  constexpr std::size_t chunk = 4'096 * Arena::granule;
  for (std::uint64_t i = 1; i <= 3; ++i) arena.add({i << 32, chunk});
  std::map<std::uint64_t, Arena::Block*> taken;
  std::size_t bytes = 0, refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    if (random() % 100 < 62) {
      const std::size_t size = 1 + random() % (std::size_t{1} << (random() % 18));
      Arena::Block* const block = arena.take(size);
      if (block == nullptr) {
        ++refused;
        continue;
      }
      REQUIRE(block->bytes >= size);
      REQUIRE(block->address % Arena::granule == 0);
      REQUIRE(block->address % (std::uint64_t{1} << 32) + block->bytes <= chunk);
      const auto [place, is_new] = taken.emplace(block->address, block);
      REQUIRE(is_new);
      if (place != taken.begin()) {
        const Arena::Block& below = *std::prev(place)->second;
        REQUIRE(below.address + below.bytes <= block->address);
      }
      if (std::next(place) != taken.end()) REQUIRE(block->address + block->bytes <= std::next(place)->first);
      bytes += block->bytes;
    } else if (!taken.empty()) {
      auto any = taken.lower_bound(((1 + random() % 3) << 32) + random() % chunk);
      if (any == taken.end()) any = taken.begin();
      bytes -= any->second->bytes;
      arena.give_back(any->second);
      taken.erase(any);
    }
  }
  CHECK(refused > 0);
  CHECK(bytes > chunk);
  for (const auto& [address, block] : taken) arena.give_back(block);
  for (int i = 0; i < 3; ++i) CHECK(arena.take_empty_chunk());
  CHECK_FALSE(arena.take_empty_chunk());
}

}  // namespace raddle::gpu
