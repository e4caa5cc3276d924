#include "tests/bench/gpu/host_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "gpu/memory/arena.hpp"
#include "gpu/superkernel/producer.hpp"
#include "tests/bench/gpu/rows.hpp"
#include "tests/bench/gpu/thread_queues.hpp"

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
              fmt::format("our memory of a card: a block given back and one taken, {} live", live), least_us, "us");
  }
}

void measure_queue_ends(bool is_small) {
  constexpr std::uint64_t tasks = std::uint64_t{1} << 13;
  ThreadQueues queues({.descriptors_log2 = 13, .shares_log2 = 0, .slots_log2 = 13});
  superkernel::Producer producer(queues.sizes(), queues.host());
  double submit_us = 1e9, take_us = 1e9;
  for (int round = 0; round < (is_small ? 3 : 200); ++round) {
    Clock::time_point begin = Clock::now();
    for (std::uint64_t i = 0; i < tasks; ++i)
      if (!producer.submit({.count = 1, .chunk = superkernel::lane_count})) give_up("a task is not taken");
    submit_us = std::min(submit_us, us_since(begin));
    queues.run_until_idle();
    begin = Clock::now();
    for (std::uint64_t i = 0; i < tasks; ++i)
      if (!producer.take()) give_up("a task was not completed");
    take_us = std::min(take_us, us_since(begin));
  }
  print_row("submit", "a task put into the queues", submit_us / tasks * 1e3, "ns");
  print_row("take", "a completion taken", take_us / tasks * 1e3, "ns");
}

}  // namespace raddle::gpu::bench
