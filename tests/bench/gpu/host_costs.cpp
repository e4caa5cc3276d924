#include "tests/bench/gpu/host_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "gpu/memory/arena.hpp"
#include "tests/bench/gpu/rows.hpp"

namespace raddle::gpu::bench {

void measure_arena(bool is_small) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 40;  // known by its address only
  constexpr unsigned largest_log2 = 20;
  const int pairs = is_small ? 1000 : 1'000'000;
  for (const std::size_t live : {10u, 1000u, 10'000u}) {
    std::mt19937_64 random(live);
    Arena arena;
    arena.add({std::uint64_t{1} << 45, chunk_bytes});
    std::vector<std::size_t> sizes(4096), places(4096);  // drawn before the time is taken
    for (std::size_t& size : sizes) size = 1 + random() % (std::size_t{1} << (random() % largest_log2));
    for (std::size_t& place : places) place = random() % live;
    std::vector<Arena::Block*> blocks;
    for (std::size_t i = 0; i < live; ++i) blocks.push_back(arena.take(sizes[i % sizes.size()]));
    double least_us = 1e9;
    for (int round = 0; round < 5; ++round) {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < pairs; ++i) {
        Arena::Block*& block = blocks[places[static_cast<std::size_t>(i) % places.size()]];
        arena.give_back(block);
        block = arena.take(sizes[static_cast<std::size_t>(i * 7) % sizes.size()]);
      }
      least_us = std::min(least_us, us_since(begin) / pairs);
    }
    print_row(fmt::format("arena_{}", live),
              fmt::format("our arena: a block of up to 512 KiB given back, another one taken, {} live", live), least_us,
              "us");
  }
}

}  // namespace raddle::gpu::bench
