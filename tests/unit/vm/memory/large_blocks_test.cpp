#include "vm/memory/large_blocks.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace raddle::vm {

TEST_CASE("a block that was given back is the next one of its size") {
  LargeBlocks::trim();
  const std::size_t bytes = (std::size_t{4} << 20) + 100;
  const LargeBlocks::Counters before = LargeBlocks::counters();
  void* const first = LargeBlocks::take(bytes);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % (2 << 20) == 0);
  std::memset(first, 1, bytes);
  LargeBlocks::give_back(first, bytes);
  void* const second = LargeBlocks::take(bytes);
  CHECK(second == first);
  CHECK(LargeBlocks::counters().made == before.made + 1);
  CHECK(LargeBlocks::counters().reused == before.reused + 1);
  LargeBlocks::give_back(second, bytes);
}

TEST_CASE("blocks that are in use are counted, and beside them there is less room") {
  const std::size_t before = LargeBlocks::used_bytes(), bytes = std::size_t{4} << 20;
  void* const block = LargeBlocks::take(bytes);
  CHECK(LargeBlocks::used_bytes() == before + bytes);
  LargeBlocks::give_back(block, bytes);
  CHECK(LargeBlocks::used_bytes() == before);
}

TEST_CASE("blocks of several sizes are kept beside each other, each for sizes about as large") {
  LargeBlocks::trim();
  const std::size_t bytes = 9 * LargeBlocks::least_bytes;
  LargeBlocks::give_back(LargeBlocks::take(bytes), bytes);
  LargeBlocks::give_back(LargeBlocks::take(3 * bytes), 3 * bytes);
  const LargeBlocks::Counters before = LargeBlocks::counters();
  LargeBlocks::give_back(LargeBlocks::take(bytes - 10'000), bytes - 10'000);
  LargeBlocks::give_back(LargeBlocks::take(3 * bytes), 3 * bytes);
  CHECK(LargeBlocks::counters().made == before.made);
  CHECK(LargeBlocks::counters().reused == before.reused + 2);
}

TEST_CASE("a block that nobody has wanted for long goes back") {
  LargeBlocks::trim();
  const std::size_t bytes = LargeBlocks::least_bytes;
  LargeBlocks::give_back(LargeBlocks::take(3 * bytes), 3 * bytes);
  for (std::uint64_t taken = 0; taken <= LargeBlocks::kept_takes; ++taken)
    LargeBlocks::give_back(LargeBlocks::take(bytes), bytes);
  const LargeBlocks::Counters before = LargeBlocks::counters();
  LargeBlocks::give_back(LargeBlocks::take(3 * bytes), 3 * bytes);
  CHECK(LargeBlocks::counters().made == before.made + 1);
}

TEST_CASE("blocks of many threads do not overlap") {
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 8; ++mark) {
    threads.emplace_back([mark] {
      const std::size_t bytes = (LargeBlocks::least_bytes << mark % 2) * (1 + mark % 4);
      for (int round = 0; round < 50; ++round) {
        auto* const block = static_cast<unsigned char*>(LargeBlocks::take(bytes));
        block[0] = block[bytes / 2] = block[bytes - 1] = mark;
        std::this_thread::yield();
        CHECK((block[0] == mark && block[bytes / 2] == mark && block[bytes - 1] == mark));
        LargeBlocks::give_back(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  LargeBlocks::trim();
}

TEST_CASE("more than there can be is an error") {
  CHECK_THROWS_AS(LargeBlocks::take(~std::size_t{0} / 4), std::bad_alloc);
}

}  // namespace raddle::vm
