#include "gpu/memory/card_memory.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/gpu/card_of_tests.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::gpu {

TEST_CASE("a buffer is copied once, and parts of it that are there are not copied again") {
  StrictCard card(1 << 20);
  CardMemory memory(1 << 20, 1 << 16);
  const Numbers numbers = buffer_of(1000);
  CHECK(read_once(memory, card, {part_of(*numbers, 100, 200)}).bytes_up == 1600);
  CHECK(read_once(memory, card, {part_of(*numbers, 100, 200)}).bytes_up == 0);
  CHECK(read_once(memory, card, {part_of(*numbers, 150, 20), part_of(*numbers, 151, 20)}).bytes_kept == 8 * 21);
  const vm::DeviceTraffic whole = read_once(memory, card, {all_of(*numbers)});
  CHECK(whole.bytes_up == 6400);
  CHECK(whole.bytes_kept == 1600);
  CHECK(read_once(memory, card, {part_of(*numbers, 0, 1), part_of(*numbers, 999, 1)}).bytes_up == 0);
  CHECK(read_once(memory, card, {{numbers->at_index(0), 80}}).bytes_up == 80);  // nobody knows of which buffer
  give_back(memory, card);
}

TEST_CASE("what a card lacks is known before it is copied there") {
  StrictCard card(1 << 20);
  CardMemory memory(1 << 20, 1 << 16);
  const Numbers numbers = buffer_of(1000), others = buffer_of(10);
  const auto missing = [&](const std::vector<Operand>& reads) { return memory.missing_bytes(reads).of_host; };
  CHECK(missing({all_of(*numbers)}) == 8000);
  CHECK(missing({part_of(*numbers, 0, 10), part_of(*numbers, 5, 10), all_of(*others)}) == 120 + 80);
  read_once(memory, card, {part_of(*numbers, 100, 200)});
  read_once(memory, card, {part_of(*numbers, 250, 100)});  // copies that overlap
  CHECK(missing({all_of(*numbers)}) == 8000 - 250 * 8);
  CHECK(missing({part_of(*numbers, 120, 200)}) == 0);
  CHECK(missing({part_of(*numbers, 90, 20), part_of(*numbers, 340, 20)}) == 80 + 80);
  CHECK(missing({part_of(*numbers, 350, 100), all_of(*others)}) == 800 + 80);
  CHECK(missing({{numbers->at_index(100), 80}, {}}) == 80);  // nobody knows of which buffer
  give_back(memory, card);
}

TEST_CASE("parts of one buffer that overlap are copied as one") {
  StrictCard card(1 << 20);
  CardMemory memory(1 << 20, 1 << 16);
  const Numbers numbers = buffer_of(1000);
  CHECK(read_once(memory, card, {part_of(*numbers, 2, 500), part_of(*numbers, 0, 500), part_of(*numbers, 1, 500)})
            .bytes_up == 8 * 502);
  give_back(memory, card);
}

TEST_CASE("what was computed there is found there: as much of it as was made") {
  StrictCard card(1 << 20);
  CardMemory memory(1 << 20, 1 << 16);
  const Numbers numbers = buffer_of(1000);
  StrictCopies engine(card);
  auto hold = memory.admit({}, std::vector<Operand>{part_of(*numbers, 0, 600), part_of(*numbers, 600, 400)}, engine);
  REQUIRE(hold);
  card.write(hold->results[0], numbers->at_index(0), 4800);
  card.write(hold->results[1], numbers->at_index(600), 80);
  memory.release(std::move(*hold), std::vector<std::size_t>{4800, 80});
  CHECK(read_once(memory, card, {part_of(*numbers, 10, 600)}).bytes_up == 0);
  CHECK(read_once(memory, card, {part_of(*numbers, 600, 20)}).bytes_up == 80);
  give_back(memory, card);
}

TEST_CASE("of a buffer that is gone the card keeps nothing, and one that lies in its place is another one") {
  StrictCard card(1 << 16);
  CardMemory memory(1 << 16, 1 << 16);
  for (int i = 0; i < 100; ++i) {
    const Numbers numbers = buffer_of(4000, i);
    const vm::DeviceTraffic traffic = read_once(memory, card, {all_of(*numbers)});
    CHECK(traffic.bytes_up == 32'000);
    CHECK(traffic.evictions == 0);
  }
  give_back(memory, card);
}

TEST_CASE("other cards hear of it, too") {
  StrictCard card(1 << 16);
  CardMemory memory(1 << 16, 1 << 16), other(1 << 16, 1 << 16);
  for (int i = 0; i < 10; ++i) {
    const Numbers numbers = buffer_of(7000, i);
    CHECK(read_once(memory, card, {all_of(*numbers)}).evictions == 0);
    StrictCard own(1 << 16);
    CHECK(read_once(other, own, {all_of(*numbers)}).evictions == 0);
    give_back(other, own);
  }
  give_back(memory, card);
}

TEST_CASE("what was used least recently is evicted first") {
  StrictCard card(1 << 16);
  CardMemory memory(1 << 16, 1 << 14);
  std::vector<Numbers> numbers;
  for (int i = 0; i < 4; ++i) numbers.push_back(buffer_of(2000, i));  // four fit
  for (const Numbers& each : numbers) CHECK(read_once(memory, card, {all_of(*each)}).bytes_up == 16'000);
  CHECK(read_once(memory, card, {all_of(*numbers[0])}).bytes_up == 0);
  const Numbers fifth = buffer_of(2000, 5);
  CHECK(read_once(memory, card, {all_of(*fifth)}).evictions == 1);
  CHECK(read_once(memory, card, {all_of(*numbers[0])}).bytes_up == 0);
  CHECK(read_once(memory, card, {all_of(*numbers[2])}).bytes_up == 0);
  CHECK(read_once(memory, card, {all_of(*numbers[1])}).bytes_up == 16'000);
  give_back(memory, card);
}

TEST_CASE("a batch gets all or nothing, and what it has no room for beside others waits for them") {
  StrictCard card(1 << 16);
  CardMemory memory(1 << 16, 1 << 14);
  const Numbers first = buffer_of(5000), second = buffer_of(5000);
  StrictCopies engine(card);
  auto hold = memory.admit(std::vector{all_of(*first)}, {}, engine);
  REQUIRE(hold);
  std::atomic<bool> is_admitted = false, is_released = false;
  std::jthread other([&] {
    CHECK(read_once(memory, card, {all_of(*second)}).evictions == 1);
    CHECK(is_released);
    is_admitted = true;
  });
  is_released = true;
  memory.release(std::move(*hold), {});
  other.join();
  CHECK(is_admitted);
  const Numbers huge = buffer_of(9000);
  CHECK(memory.admit(std::vector{all_of(*huge)}, {}, engine).error() == CardMemory::no_room);
  CHECK(memory.admit({}, std::vector<Operand>{{nullptr, 1 << 17}}, engine).error() == CardMemory::no_room);
  CHECK(read_once(memory, card, {all_of(*second)}).bytes_up == 0);
  give_back(memory, card);
}

TEST_CASE("a card that gives less than the limit is asked for less, and chunks that are too small go back") {
  StrictCard card(100'000);
  CardMemory memory(1 << 20, 1 << 14);
  std::vector<Numbers> small;
  for (int i = 0; i < 6; ++i) read_once(memory, card, {all_of(*small.emplace_back(buffer_of(2000, i)))});
  CHECK(card.chunks() > 4);
  const Numbers large = buffer_of(12'000), too_large = buffer_of(13'000);
  CHECK(read_once(memory, card, {all_of(*large)}).evictions == 6);
  StrictCopies engine(card);
  CHECK(memory.admit(std::vector{all_of(*too_large)}, {}, engine).error() == CardMemory::no_room);
  CHECK(read_once(memory, card, {all_of(*small[0])}).bytes_up == 16'000);
  give_back(memory, card);
}

TEST_CASE("a copy that fails is an error for its batch, and is made again for the next one") {
  StrictCard card(1 << 20);
  CardMemory memory(1 << 20, 1 << 16);
  const Numbers numbers = buffer_of(1000);
  StrictCopies engine(card);
  engine.error_of_copies = 700;
  CHECK(memory.admit(std::vector{all_of(*numbers)}, {}, engine).error() == 700);
  CHECK(read_once(memory, card, {all_of(*numbers)}).bytes_up == 8000);
  give_back(memory, card);
}

TEST_CASE("only a card that is out of memory has no room: other errors are the batch's, and nothing is evicted") {
  StrictCard card(20'000);
  CardMemory memory(1 << 20, 1 << 13);
  const Numbers first = buffer_of(1000), second = buffer_of(2000);
  read_once(memory, card, {all_of(*first)});
  StrictCopies engine(card);
  engine.error_of_allocations = 700;
  CHECK(memory.admit(std::vector{all_of(*second)}, std::vector{Operand{.bytes = 8}}, engine).error() == 700);
  CHECK(read_once(memory, card, {all_of(*first)}).bytes_up == 0);
  engine.error_of_allocations = CopyEngine::out_of_memory, engine.error_of_frees = 700;
  CHECK(memory.admit(std::vector{all_of(*second)}, {}, engine).error() == 700);
  engine.error_of_allocations = 0, engine.error_of_frees = 0;
  CHECK(read_once(memory, card, {all_of(*second)}).bytes_up == 16'000);
  give_back(memory, card);
}

TEST_CASE("nobody waits for memory that a card is asked for, but who needs it") {
  /// Memory is given, or not, and taken back, when the test says so.
  struct SlowCopies final : StrictCopies {
    using StrictCopies::StrictCopies;
    int allocate(std::uint64_t& address, std::size_t bytes) override {
      pause();
      return StrictCopies::allocate(address, bytes);
    }
    int free(std::uint64_t address) override {
      pause();
      return StrictCopies::free(address);
    }
    void pause() {
      ++pauses;
      while (!goes_on) std::this_thread::yield();
    }
    std::atomic<int> pauses{0};
    std::atomic<bool> goes_on{false};
  };
  StrictCard card(1 << 14);
  CardMemory memory(1 << 14, 1 << 12);
  const Numbers there = buffer_of(256), large = buffer_of(1500);
  StrictCopies usual(card);
  auto hold = memory.admit(std::vector{all_of(*there)}, {}, usual);
  REQUIRE(hold);
  SlowCopies slow(card);
  int error = 0;
  std::jthread other([&] {
    auto later = memory.admit(std::vector{all_of(*large)}, {}, slow);
    if (later)
      memory.release(std::move(*later), {});
    else
      error = later.error();
  });
  while (slow.pauses == 0) std::this_thread::yield();
  CHECK(memory.missing_bytes(std::vector{all_of(*there)}).of_host == 0);
  memory.release(std::move(*hold), {});
  CHECK(memory.missing_bytes(std::vector{all_of(*there)}).of_host == 0);
  slow.goes_on = true;
  other.join();
  CHECK(error == 0);
  CHECK(read_once(memory, card, {all_of(*large)}).bytes_up == 0);
  give_back(memory, card);
}

/// Each batch reads parts of some buffers, which must be there, and makes a new one of parts. Buffers go at any time.
TEST_CASE("many batches at once read what the host has, whatever is evicted and freed") {
  for (const unsigned thread_count : {1U, 2U, 8U}) {
    CAPTURE(thread_count);
    StrictCard card(1 << 18);
    CardMemory memory(200'000, 30'000);
    std::mutex mutex;
    std::vector<Numbers> all;  // guarded by it
    for (int i = 0; i < 12; ++i) all.push_back(buffer_of(500 + 300 * static_cast<std::size_t>(i), i));
    std::atomic<std::uint64_t> kept = 0, evictions = 0, refused = 0;
    std::atomic<bool> is_right = true;
    const auto work = [&](unsigned seed) {
      std::mt19937_64 random(seed);
      StrictCopies engine(card);
      for (int turn = 0; turn < 400; ++turn) {
        std::vector<Numbers> used;
        std::vector<Operand> reads, results;
        {
          const std::lock_guard lock(mutex);
          for (std::size_t i = 0; i < 1 + random() % 4; ++i) used.push_back(all[random() % all.size()]);
        }
        for (const Numbers& numbers : used) {
          const std::size_t first = random() % numbers->count();
          reads.push_back(part_of(*numbers, first, random() % (numbers->count() - first + 1)));
          if (random() % 8 == 0) reads.back().buffer = 0;
        }
        const std::size_t count = 1 + random() % 3000, cut = random() % count;
        const Numbers made = buffer_of(count, static_cast<std::int64_t>(random() % 1000));
        results = {part_of(*made, 0, cut), part_of(*made, cut, count - cut), {nullptr, 8}};
        if (random() % 50 == 0) results.push_back({nullptr, random() % 400'000});
        auto hold = memory.admit(reads, results, engine);
        if (!hold) {
          ++refused;
          continue;
        }
        kept += hold->traffic.bytes_kept;
        evictions += hold->traffic.evictions;
        engine.wait();
        for (std::size_t i = 0; i < reads.size(); ++i)
          if (reads[i].bytes != 0 && !is_there(card, reads[i], hold->reads[i])) is_right = false;
        const std::size_t good = random() % 3 == 0 ? cut / 2 : cut;
        for (std::size_t i = 0; i < results.size(); ++i) {
          if (results[i].bytes == 0) continue;
          card.forget(hold->results[i], results[i].bytes);  // as what was there before
          if (results[i].host != nullptr)
            card.write(hold->results[i], results[i].host, i == 0 ? 8 * good : results[i].bytes);
        }
        memory.release(std::move(*hold), std::vector<std::size_t>{8 * good, 8 * (count - cut), 0});
        const std::lock_guard lock(mutex);
        all[random() % all.size()] = made;
      }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < thread_count; ++i) threads.emplace_back(work, 31 * thread_count + i);
    threads.clear();
    CHECK(is_right);
    CHECK(kept > 0);
    CHECK(evictions > 0);
    CHECK(refused > 0);
    give_back(memory, card);
  }
}

}  // namespace raddle::gpu
