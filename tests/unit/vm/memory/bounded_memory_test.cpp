#include "vm/memory/bounded_memory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "vm/value/temporaries.hpp"

using raddle::vm::BoundedMemory;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::unique_ptr<BoundedMemory> memory_of(std::size_t limit_bytes) {
  auto made = BoundedMemory::make({.limit_bytes = limit_bytes,
                                   .spill_folder = raddle::vm::temporary_folder(),
                                   .end = [](const std::string&) { std::abort(); }});
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::span<std::uint64_t> words(BoundedMemory::Block& block, std::size_t bytes) {
  return {reinterpret_cast<std::uint64_t*>(BoundedMemory::address_of(block)), bytes / sizeof(std::uint64_t)};
}

/// Written as launches do: part by part, each announced. @param number  of the block: what the words begin with
BoundedMemory::Block& written(BoundedMemory& memory, std::size_t bytes, std::uint64_t number, std::size_t part_bytes) {
  BoundedMemory::Block& block = memory.take(bytes);
  const std::span<std::uint64_t> all = words(block, bytes);
  for (std::size_t first = 0; first < bytes; first += part_bytes) {
    const std::size_t part = std::min(part_bytes, bytes - first);
    memory.begin_write(block, first, part);
    for (std::size_t i = first / 8; i < (first + part) / 8; ++i) all[i] = number << 32 | i;
    memory.wrote(block, first, part);
  }
  return block;
}

bool holds(BoundedMemory::Block& block, std::size_t bytes, std::uint64_t number) {
  const std::span<std::uint64_t> all = words(block, bytes);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != (number << 32 | i)) return false;
  return true;
}

}  // namespace

TEST_CASE("what does not fit goes to the file and comes back") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t bytes = 3 * mebibyte + 4096;
  std::vector<BoundedMemory::Block*> blocks;
  for (std::uint64_t i = 0; i < 10; ++i) blocks.push_back(&written(*memory, bytes, i, 1000 * 8));
  CHECK(memory->counters().bytes_out >= 10 * bytes - 8 * mebibyte);
  for (std::uint64_t i = 0; i < 10; ++i) {
    memory->use(*blocks[i]);
    CHECK(holds(*blocks[i], bytes, i));
  }
  CHECK(memory->counters().bytes_in >= 2 * bytes);
  CHECK(memory->counters().dropped_bytes > 0);  // the file had them
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
  for (BoundedMemory::Block* const block : blocks) memory->give_back(*block);
}

TEST_CASE("what is read without a word is there, too") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t bytes = 2 * mebibyte;
  std::vector<BoundedMemory::Block*> blocks;
  for (std::uint64_t i = 0; i < 12; ++i) blocks.push_back(&written(*memory, bytes, i, bytes));
  for (std::uint64_t i = 0; i < 12; ++i) CHECK(holds(*blocks[i], bytes, i));
  CHECK(memory->counters().bytes_in > 0);  // the neighbours of what somebody has looked at
  CHECK(memory->counters().window_bytes > 0);
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
  for (BoundedMemory::Block* const block : blocks) memory->give_back(*block);
}

TEST_CASE("one block may be larger than the limit") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t bytes = 20 * mebibyte + 4096;
  BoundedMemory::Block& block = written(*memory, bytes, 7, mebibyte / 2);
  memory->use(block);
  CHECK(holds(block, bytes, 7));
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
  memory->give_back(block);
}

TEST_CASE("memory that was given back is there for others, slots of the file as well") {
  const auto memory = memory_of(8 * mebibyte);
  for (std::uint64_t i = 0; i < 50; ++i) {
    BoundedMemory::Block& one = written(*memory, 5 * mebibyte, i, mebibyte);
    BoundedMemory::Block& other = written(*memory, 5 * mebibyte, i + 1000, mebibyte);
    CHECK(holds(one, 5 * mebibyte, i));
    CHECK(holds(other, 5 * mebibyte, i + 1000));
    memory->give_back(one);
    memory->give_back(other);
  }
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
}

TEST_CASE("a block that is closed as a whole may go") {
  const auto memory = memory_of(8 * mebibyte);
  std::vector<BoundedMemory::Block*> blocks;
  for (int i = 0; i < 6; ++i) {
    BoundedMemory::Block& block = memory->take(3 * mebibyte);
    memory->begin_write(block);
    words(block, 3 * mebibyte)[5] = 42;
    memory->close(block);
    blocks.push_back(&block);
  }
  for (BoundedMemory::Block* const block : blocks) {
    CHECK(words(*block, 3 * mebibyte)[5] == 42);
    CHECK(words(*block, 3 * mebibyte)[6] == 0);
    memory->give_back(*block);
  }
}

TEST_CASE("what is open does not go: more is written into the file") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t bytes = 3 * mebibyte;
  std::vector<BoundedMemory::Block*> blocks;
  for (int i = 0; i < 6; ++i) {
    BoundedMemory::Block& block = memory->take(bytes);
    memory->begin_write(block);
    blocks.push_back(&block);
  }
  CHECK(memory->counters().bytes_out == 10 * mebibyte);
  for (std::uint64_t half = 0; half < 2; ++half)
    for (std::uint64_t number = 0; number < 6; ++number) {
      const std::span<std::uint64_t> all = words(*blocks[number], bytes);
      for (std::size_t i = half * all.size() / 2; i < (half + 1) * all.size() / 2; ++i) all[i] = number << 32 | i;
      memory->wrote(*blocks[number], half * bytes / 2, bytes / 2);
    }
  for (std::uint64_t number = 0; number < 6; ++number) {
    CHECK(holds(*blocks[number], bytes, number));
    memory->use(*blocks[number]);
    CHECK(holds(*blocks[number], bytes, number));
  }
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
  for (BoundedMemory::Block* const block : blocks) memory->give_back(*block);
}

TEST_CASE("threads that write, read and give back") {
  constexpr unsigned threads = 8;
  const auto memory = memory_of(24 * mebibyte);
  constexpr std::size_t bytes = mebibyte + mebibyte / 2;
  // read by all while others make it go
  BoundedMemory::Block& shared = written(*memory, 4 * mebibyte, 99, mebibyte);
  const auto work = [&](unsigned thread) {
    std::mt19937 random(thread);
    std::vector<std::pair<BoundedMemory::Block*, std::uint64_t>> own;
    bool is_right = true;
    for (std::uint64_t i = 0; i < 60; ++i) {
      const std::uint64_t number = thread * 1000 + i;
      own.emplace_back(&written(*memory, bytes, number, 100'000 * 8), number);
      if (random() % 2 == 0) memory->use(shared);
      is_right = is_right && words(shared, 4 * mebibyte)[random() % 1000] >> 32 == 99;
      const auto [block, found] = own[random() % own.size()];
      if (random() % 2 == 0) memory->use(*block);
      is_right = is_right && holds(*block, bytes, found);
      if (own.size() > 5) {
        memory->give_back(*own.front().first);
        own.erase(own.begin());
      }
    }
    for (const auto& [block, number] : own) memory->give_back(*block);
    return is_right;
  };
  std::vector<char> right(threads);
  {
    std::vector<std::jthread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back([&, i] { right[i] = work(i) ? 1 : 0; });
  }
  CHECK(std::ranges::count(right, 1) == threads);
  CHECK(holds(shared, 4 * mebibyte, 99));
  CHECK(memory->counters().peak_bytes <= 24 * mebibyte);
  memory->give_back(shared);
}

TEST_CASE("single numbers here and there are read in the file") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t pieces = 64, bytes = pieces * mebibyte;
  BoundedMemory::Block& block = written(*memory, bytes, 5, mebibyte);
  const std::span<std::uint64_t> all = words(block, bytes);
  for (std::size_t i = 0; i < 3 * pieces; ++i) {
    const std::size_t place = (i * 29 % pieces) * (mebibyte / 8) + i;
    CHECK(all[place] == (std::uint64_t{5} << 32 | place));
  }
  CHECK(memory->counters().window_bytes > 0);
  CHECK(memory->counters().bytes_in == 0);
  CHECK(memory->counters().peak_bytes <= 8 * mebibyte);
  memory->give_back(block);
}

TEST_CASE("what is lent can be read and written by the system") {
  const auto memory = memory_of(8 * mebibyte);
  constexpr std::size_t bytes = 12 * mebibyte;
  BoundedMemory::Block& from = written(*memory, bytes, 3, mebibyte);
  BoundedMemory::Block& to = memory->take(bytes);
  memory->begin_write(to);
  memory->lend(from);
  memory->lend(to);
  BoundedMemory::Block& other = written(*memory, bytes, 4, mebibyte);  // makes what is in memory go
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  constexpr std::size_t part = 32768;
  for (std::size_t offset = 0; offset < bytes; offset += part) {
    REQUIRE(write(ends[1], BoundedMemory::address_of(from) + offset, part) == part);
    REQUIRE(read(ends[0], BoundedMemory::address_of(to) + offset, part) == part);
  }
  close(ends[0]);
  close(ends[1]);
  memory->end_lending(from);
  memory->end_lending(to);
  memory->close(to);
  CHECK(holds(from, bytes, 3));
  CHECK(holds(to, bytes, 3));
  CHECK(holds(other, bytes, 4));
  for (BoundedMemory::Block* const block : {&from, &to, &other}) memory->give_back(*block);
}

TEST_CASE("what is spare goes first, and who watches is told of what went") {
  const auto memory = memory_of(16 * mebibyte);
  std::vector<BoundedMemory::Block*> blocks;
  for (std::uint64_t i = 0; i < 3; ++i) blocks.push_back(&written(*memory, 4 * mebibyte, i, mebibyte));
  BoundedMemory::Watch watch;
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(memory->begin_watch(watch, *blocks[i], i));
    memory->keep(*blocks[i]);
  }
  CHECK(memory->went(watch).empty());
  memory->spare(*blocks[1]);
  BoundedMemory::Block& last = written(*memory, 7 * mebibyte, 9, mebibyte);  // 3 MiB too many
  const std::vector<std::uint32_t> gone = memory->went(watch);
  CHECK(gone.front() == 1);
  CHECK(std::ranges::find(gone, 2u) == gone.end());  // that was kept last
  memory->keep(*blocks[1]);
  memory->fetch(*blocks[1]);
  memory->use(*blocks[1]);
  CHECK(holds(*blocks[1], 4 * mebibyte, 1));
  memory->end_watch(*blocks[0]);
  memory->give_back(*blocks[2]);
  CHECK(memory->given_back(watch) == std::vector<std::uint32_t>{2});
  for (BoundedMemory::Block* const block : {blocks[0], blocks[1], &last}) memory->give_back(*block);
}

TEST_CASE("what goes and comes counts for the names of blocks, and moves are kept") {
  const auto memory = memory_of(16 * mebibyte);
  memory->keep_moves(8);
  BoundedMemory::Block& named = written(*memory, 12 * mebibyte, 1, mebibyte);
  memory->set_name(named, 2);
  BoundedMemory::Block& other = written(*memory, 12 * mebibyte, 2, mebibyte);
  CHECK(holds(named, 12 * mebibyte, 1));
  const std::vector<BoundedMemory::Traffic> traffic = memory->traffic_by_name();
  REQUIRE(traffic.size() == 3);
  CHECK(traffic[1].evictions == 0);
  CHECK(traffic[2].write_backs >= 8);  // 24 MiB are written, 16 are in memory
  CHECK(traffic[2].loads >= 8);
  CHECK(traffic[2].bytes_in == traffic[2].loads * mebibyte);
  CHECK(traffic[2].bytes_out == traffic[2].write_backs * mebibyte);
  CHECK(traffic[2].evictions >= traffic[2].write_backs);
  const BoundedMemory::Counters counters = memory->counters();
  CHECK(counters.bytes_in == traffic[0].bytes_in + traffic[2].bytes_in);
  CHECK(counters.bytes_out == traffic[0].bytes_out + traffic[2].bytes_out);
  const std::vector<BoundedMemory::Move> moves = memory->moves();  // neighbours are joined
  CHECK(moves.size() <= 8);
  std::uint64_t bytes_in = 0, bytes_out = 0;
  for (const BoundedMemory::Move& move : moves) {
    CHECK(move.start_ns <= move.end_ns);
    CHECK(move.used_bytes <= 16 * mebibyte);
    (move.is_out ? bytes_out : bytes_in) += move.bytes;
  }
  CHECK(bytes_in == counters.bytes_in);
  CHECK(bytes_out == counters.bytes_out);
  for (BoundedMemory::Block* const block : {&named, &other}) memory->give_back(*block);
}

TEST_CASE("a folder that is not there") {
  const auto made = BoundedMemory::make(
      {.limit_bytes = 8 * mebibyte, .spill_folder = "no/such/folder", .end = [](const std::string&) { std::abort(); }});
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == "no file can be made in `no/such/folder`: No such file or directory");
}
