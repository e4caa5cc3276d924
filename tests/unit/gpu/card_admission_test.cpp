// Who gets memory of a card by what, and from where comes what he reads.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/memory/card_memory.hpp"
#include "gpu/simulated/host_copies.hpp"
#include "tests/unit/gpu/card_of_tests.hpp"

namespace raddle::gpu {
namespace {

/// By a clock of its own.
class TimedCopies final : public StrictCopies {
 public:
  static constexpr std::int64_t copy_ns = 100;
  using StrictCopies::StrictCopies;
  int wait() override {
    done_ns_ = from_ns_ + copy_ns;
    return StrictCopies::wait();
  }
  void begin_after(std::int64_t ns) override { from_ns_ = ns; }
  std::int64_t done_ns() const override { return done_ns_; }

 private:
  std::int64_t from_ns_ = 0, done_ns_ = 0;
};

/// Which other cards may be read by.
class CopiesOfTwo final : public StrictCopies {
 public:
  CopiesOfTwo(StrictCard& card, StrictCard& other) : StrictCopies(card), card_(card), other_(other) {}
  int copy_between(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::int64_t ready_ns) override {
    std::vector<std::byte> there(bytes);
    other_.read(there.data(), from, bytes);
    card_.write(to, there.data(), bytes);
    ready_at.push_back(ready_ns);
    return 0;
  }
  std::vector<std::int64_t> ready_at;

 private:
  StrictCard &card_, &other_;
};

}  // namespace

TEST_CASE("somebody else may choose what is evicted, and a copy in its place begins when that was used last") {
  StrictCard card(1 << 20);
  CardMemory memory(3 << 10, 3 << 10);
  const Numbers numbers[] = {buffer_of(128), buffer_of(128), buffer_of(128), buffer_of(128)};
  TimedCopies engine(card);
  for (int i = 0; i < 3; ++i) {
    auto hold = memory.admit(std::vector{all_of(*numbers[i])}, {}, engine);
    REQUIRE(hold);
    memory.release(std::move(*hold), {}, 1000 * i);
  }
  std::vector<BufferPart> asked;
  memory.choose_victims_by([&](std::span<const BufferPart> copies, vm::LoadKind load) {
    CHECK(load == vm::LoadKind::demand);
    asked.assign(copies.begin(), copies.end());
    return std::size_t{1};
  });
  auto hold = memory.admit(std::vector{all_of(*numbers[3])}, {}, engine);
  REQUIRE(hold);
  CHECK(hold->ready_ns == 1000 + TimedCopies::copy_ns);
  memory.release(std::move(*hold), {});
  hold = memory.admit(std::vector{all_of(*numbers[3])}, {}, engine);  // it is there, but not before
  REQUIRE(hold);
  CHECK(hold->ready_ns == 1000 + TimedCopies::copy_ns);
  memory.release(std::move(*hold), {});
  REQUIRE(asked.size() == 3);
  CHECK(asked[1] == BufferPart{numbers[1]->number(), 0, 1024});
  CHECK(memory.has({numbers[0]->number(), 8, 1024}));
  CHECK_FALSE(memory.has({numbers[1]->number(), 8, 16}));
  give_back(memory, card);
}

TEST_CASE("what is loaded ahead is there for who reads it, and takes only room that is free or may go for it") {
  StrictCard card(1 << 20);
  CardMemory memory(3 << 10, 3 << 10);
  const Numbers numbers[] = {buffer_of(128), buffer_of(128), buffer_of(128), buffer_of(128)};
  StrictCopies engine(card);
  const auto load = [&](int i) { return memory.load_ahead(std::vector{all_of(*numbers[i])}, engine); };
  auto held = memory.admit(std::vector{all_of(*numbers[0])}, {}, engine);
  REQUIRE(held);
  CHECK(load(0)->bytes_up == 0);
  CHECK(load(1)->bytes_up == 1024);
  CHECK(load(1)->bytes_up == 0);
  CHECK(load(2)->bytes_ahead == 1024);
  bool may_go = false;
  memory.choose_victims_by([&](std::span<const BufferPart>, vm::LoadKind kind) {
    CHECK(kind == vm::LoadKind::prefetch);
    return may_go ? std::optional<std::size_t>(0) : std::nullopt;
  });
  CHECK(load(3).error() == CardMemory::no_room);
  CHECK(read_once(memory, card, {all_of(*numbers[1])}).bytes_kept == 1024);
  may_go = true;
  CHECK(load(3)->evictions == 1);
  CHECK_FALSE(memory.has({numbers[2]->number(), 0, 1}));
  auto others = memory.admit(std::vector{all_of(*numbers[1]), all_of(*numbers[3])}, {}, engine);
  REQUIRE(others);
  CHECK(others->traffic.bytes_up == 0);
  CHECK(load(2).error() == CardMemory::no_room);  // all is held, and it does not wait
  memory.release(std::move(*held), {});
  memory.release(std::move(*others), {});
  give_back(memory, card);
}

TEST_CASE("traffic is told by array") {
  const vm::Place one{.file = 1, .begin = 2, .end = 3}, two{.file = 1, .begin = 9, .end = 12};
  StrictCard card(1 << 20);
  CardMemory memory(2 << 10, 2 << 10);
  StrictCopies engine(card);
  const Numbers first = buffer_of(128), second = buffer_of(128), result = buffer_of(64);
  const auto of = [](Operand operand, const vm::Place& array) { return operand.array = array, operand; };
  vm::DeviceTraffic all;
  const auto read = [&](const Operand& operand) {
    auto hold = memory.admit(std::vector{operand}, std::vector{of(all_of(*result), two)}, engine);
    REQUIRE(hold);
    card.write(hold->results[0], result->data(), 512);
    all += hold->traffic;
    memory.release(std::move(*hold), std::vector<std::size_t>{512});
  };
  read(of(all_of(*first), one));
  read(of(all_of(*second), two));  // the first one, or the result, goes
  read(of(all_of(*first), one));
  const std::vector<vm::ArrayTraffic>& arrays = all.arrays.all();
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].array == one);
  CHECK(arrays[0].loads == 2);
  CHECK(arrays[0].bytes_loaded == 2048);
  CHECK(arrays[1].loads == 1);
  CHECK(arrays[0].evictions + arrays[1].evictions == all.evictions);
  CHECK(arrays[0].evictions == 1);
  note_results(std::vector{of(all_of(*result), two)}, std::vector<std::size_t>{512}, all);
  CHECK(all.bytes_down == 512);
  CHECK(arrays[1].write_backs == 1);
  CHECK(arrays[1].bytes_written == 512);
  give_back(memory, card);
}

TEST_CASE("what another card has comes from there, and stays there meanwhile") {
  StrictCard card(1 << 20), other_card(1 << 20);
  CardMemory memory(2 << 10, 2 << 10), other(2 << 10, 2 << 10);
  memory.take_from({&other});
  other.take_from({&memory});
  const Numbers numbers = buffer_of(256), result = buffer_of(64);
  CopiesOfTwo engine(card, other_card);
  StrictCopies other_engine(other_card);
  auto held = other.admit(std::vector{part_of(*numbers, 0, 128)}, std::vector{all_of(*result)}, other_engine);
  REQUIRE(held);
  other_card.write(held->results[0], result->data(), 512);
  other.release(std::move(*held), std::vector<std::size_t>{512}, 70);
  const std::vector<Operand> reads = {part_of(*numbers, 64, 128), all_of(*result)};  // it has half of the first
  const MissingBytes missing = memory.missing_bytes(reads);
  CHECK(missing.of_cards == 512);
  CHECK(missing.of_host == 1024);
  auto hold = memory.admit(reads, {}, engine);
  REQUIRE(hold);
  for (std::size_t i = 0; i < reads.size(); ++i) CHECK(is_there(card, reads[i], hold->reads[i]));
  CHECK(hold->traffic.bytes_between == 512);
  CHECK(hold->traffic.most_held == 1536);
  CHECK(hold->traffic.bytes_up == 1024);
  CHECK(engine.ready_at == std::vector<std::int64_t>{70});
  memory.release(std::move(*hold), {});
  const auto ahead = memory.load_ahead(std::vector{part_of(*numbers, 0, 64)}, engine);
  REQUIRE(ahead);
  CHECK(ahead->bytes_between == 512);
  CHECK(ahead->bytes_ahead == 512);
  give_back(memory, card);  // nothing is held any more
  give_back(other, other_card);
}

/// Each card has room for half of what is read, and may be asked for a copy that it is about to evict.
TEST_CASE("cards that take from each other: many batches at once read what the host has") {
  for (const unsigned threads : {2u, 8u}) {
    std::array<CardMemory, 2> memories{CardMemory(4 << 10, 2 << 10), CardMemory(4 << 10, 2 << 10)};
    memories[0].take_from({&memories[1]});
    memories[1].take_from({&memories[0]});
    std::vector<Numbers> numbers;
    for (int i = 0; i < 8; ++i) numbers.push_back(buffer_of(128, 1000 * i));
    std::atomic<std::uint64_t> between = 0, wrong = 0;
    const auto work = [&](unsigned seed) {
      std::minstd_rand random(seed + 1);
      HostCopies engine;
      for (int round = 0; round < 300; ++round) {
        CardMemory& memory = memories[random() % 2];
        const std::vector<Operand> reads = {all_of(*numbers[random() % 8]), all_of(*numbers[random() % 8])};
        if (random() % 4 == 0) {
          if (const auto ahead = memory.load_ahead(reads, engine)) between += ahead->bytes_between;
          continue;
        }
        auto hold = memory.admit(reads, {}, engine);
        if (!hold) {
          ++wrong;
          continue;
        }
        between += hold->traffic.bytes_between;
        for (std::size_t i = 0; i < reads.size(); ++i)
          if (std::memcmp(reinterpret_cast<const void*>(hold->reads[i]), reads[i].host, reads[i].bytes) != 0) ++wrong;
        memory.release(std::move(*hold), {});
      }
    };
    std::vector<std::jthread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
    all.clear();
    CHECK(wrong == 0);
    CHECK(between > 0);
    HostCopies engine;
    for (CardMemory& memory : memories) memory.give_back_chunks(engine);
  }
}

}  // namespace raddle::gpu
