// Calls that read large arrays: which goes where, and what is evicted for it.
#include "gpu/call_placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu/call_operands.hpp"
#include "gpu/call_queue.hpp"
#include "gpu/simulated/host_copies.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::gpu {
namespace {

constexpr std::size_t tile_bytes = CallQueue::large_bytes;
constexpr vm::Links links = {.to_device = 10'000'000'000, .to_host = 10'000'000'000};

using Tile = std::shared_ptr<vm::Buffer>;

std::vector<Tile> tiles(std::size_t count) {
  std::vector<Tile> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(vm::Buffer::make(vm::ValueKind::int_, tile_bytes / sizeof(std::int64_t)));
  return made;
}

/// Calls with their memory. What a call is known by is its first word.
class CallsOfTests {
 public:
  vm::DeviceCall reading(const std::vector<Tile>& read, std::uint64_t kernel = 0) {
    Memory& memory = memories_.emplace_back();
    memory.words.push_back(memories_.size() - 1);
    for (const Tile& tile : read) {
      memory.read.push_back({memory.words.size(), tile_bytes, tile.get()});
      memory.words.push_back(reinterpret_cast<std::uint64_t>(tile->data()));
    }
    vm::DeviceCall call;
    call.kernel = kernels_[kernel];
    call.words = memory.words;
    call.read = memory.read;
    return call;
  }

 private:
  struct Memory {
    std::vector<std::uint64_t> words;
    std::vector<vm::AddressedMemory> read;
  };
  std::deque<Memory> memories_;
  const std::vector<std::shared_ptr<const vm::DeviceKernel>> kernels_ = {std::make_shared<vm::DeviceKernel>(32),
                                                                         std::make_shared<vm::DeviceKernel>(32)};
};

/// Cards, and the queue that they ask.
class QueueOfTests {
 public:
  QueueOfTests(std::string policy, unsigned cards, std::size_t tiles_of_card, std::size_t calls_ahead = 0) {
    for (unsigned card = 0; card < cards; ++card)
      memories_.push_back(std::make_shared<CardMemory>(tiles_of_card * tile_bytes, tile_bytes));
    queue.place_by({.policy = std::move(policy), .links = links, .calls_ahead = calls_ahead}, memories_);
  }
  ~QueueOfTests() {
    for (const auto& memory : memories_) memory->give_back_chunks(engine_);
  }
  CallBundle take(unsigned card, std::size_t most = CallQueue::most_calls) { return take(std::vector{card}, most); }
  CallBundle take(const std::vector<unsigned>& askers, std::size_t most = CallQueue::most_calls) {
    return queue.take(
        stop.get_token(), [&askers] { return askers; }, most);
  }
  /// Loads what it reads. @return bytes
  std::size_t run(const CallBundle& bundle) {
    HostCopies engine;
    CardMemory& memory = *memories_[*bundle.card];
    auto hold = memory.admit(large_operands(bundle.calls, &vm::DeviceCall::read), {}, engine);
    REQUIRE(hold);
    const auto ahead = queue.load_ahead(*bundle.card, memory, engine);
    REQUIRE(ahead);
    const std::size_t bytes = hold->traffic.bytes_up + ahead->bytes_up;
    memory.release(std::move(*hold), {});
    queue.end(bundle, true);
    return bytes;
  }

  CallQueue queue;
  std::stop_source stop;

 private:
  std::vector<std::shared_ptr<CardMemory>> memories_;
  HostCopies engine_;
};

std::vector<std::uint64_t> names_of(const std::vector<vm::DeviceCall>& calls) {
  std::vector<std::uint64_t> names;
  for (const vm::DeviceCall& call : calls) names.push_back(call.words.front());
  return names;
}

/// All pairs of so many tiles, by cards that take turns. @return loads
std::size_t loads_of_pairs(const std::string& policy, std::size_t count, unsigned cards, std::size_t tiles_of_card,
                           std::size_t calls_ahead = 0) {
  QueueOfTests here(policy, cards, tiles_of_card, calls_ahead);
  CallsOfTests calls;
  const std::vector<Tile> all = tiles(count);
  for (const Tile& one : all)
    for (const Tile& other : all) here.queue.push(calls.reading({one, other}), 0);
  std::size_t bytes = 0;
  std::vector<bool> is_made(count * count);
  for (unsigned made = 0; made < count * count; ++made) {
    const CallBundle bundle = here.take({made % cards, (made + 1) % cards}, 1);
    REQUIRE(bundle.calls.size() == 1);
    const std::uint64_t name = bundle.calls.front().words.front();
    CHECK_FALSE(is_made[name]);
    is_made[name] = true;
    bytes += here.run(bundle);
  }
  CHECK(here.queue.take_all().empty());
  return bytes / tile_bytes;
}

}  // namespace

TEST_CASE("placed calls: each goes once, by every policy; data first loads least") {
  for (const unsigned cards : {1u, 2u}) {
    CAPTURE(cards);
    const std::size_t eager = loads_of_pairs("eager", 12, cards, 6);
    for (const vm::PolicyName& policy : vm::policy_names()) {
      CAPTURE(policy.name);
      const std::size_t loads = loads_of_pairs(std::string(policy.name), 12, cards, 6);
      CHECK(loads >= 12);
      CHECK(loads <= eager);
    }
    CHECK(loads_of_pairs("darts-order", 12, cards, 6) <= eager / 2);
  }
  CHECK(loads_of_pairs("darts-order", 12, 1, 12) == 12);
}

TEST_CASE("placed calls: what is loaded ahead is what the next calls of the card read") {
  for (const vm::PolicyName& policy : vm::policy_names()) {
    CAPTURE(policy.name);
    for (const std::size_t ahead : {1, 4, 64}) {
      CHECK(loads_of_pairs(std::string(policy.name), 12, 2, 8, ahead) >= 12);
      CHECK(loads_of_pairs(std::string(policy.name), 12, 1, 12, ahead) == 12);
    }
  }
  CHECK(loads_of_pairs("darts-order", 12, 1, 6, 4) <= loads_of_pairs("eager", 12, 1, 6, 4) / 2);
}

TEST_CASE("placed calls: a card loads an eighth of its memory ahead, and none while others have little to do") {
  CallPlacement placement({.policy = "eager", .links = links, .calls_ahead = 4}, 1, 16 * tile_bytes);
  CallsOfTests calls;
  const std::vector<Tile> all = tiles(20);
  const auto release = [&](std::size_t tile) {
    const Operand operand =
        operand_of(reinterpret_cast<std::uint64_t>(all[tile]->data()), {0, tile_bytes, all[tile].get()});
    placement.release(calls.reading({all[tile]}), std::vector<PlacedRead>{{{operand.buffer, 0, tile_bytes}}}, 0);
  };
  release(0);
  CHECK(placement.begin_loads_ahead(0).tasks.empty());
  for (std::size_t tile = 1; tile < 20; ++tile) release(tile);
  const LoadsAhead first = placement.begin_loads_ahead(0);
  REQUIRE(first.reads.size() == 2);
  CHECK(first.reads[1].front().host == all[1]->data());
  CHECK(placement.is_loading(first.tasks));
  std::optional<CallBundle> bundle = placement.take(0, 1);
  REQUIRE(bundle);
  CHECK(bundle->tasks.front() == first.tasks.front());
  placement.end_loads_ahead(first, {true, false});
  CHECK_FALSE(placement.is_loading());
  placement.end(*bundle, true);
  const LoadsAhead second = placement.begin_loads_ahead(0);
  REQUIRE(second.tasks.size() == 2);
  CHECK(second.tasks.front() == first.tasks.back());  // nobody had room for it
  placement.end_loads_ahead(second, {true, true});
  const LoadsAhead third = placement.begin_loads_ahead(0);
  CHECK(third.tasks.size() == 2);
  placement.end_loads_ahead(third, {true, true});
  CHECK(placement.begin_loads_ahead(0).tasks.empty());  // four calls are ahead
}

TEST_CASE("placed calls: policies hear of priorities") {
  QueueOfTests here("dmdas-paper", 1, 64);
  CallsOfTests calls;
  const std::vector<Tile> all = tiles(4);
  for (std::int32_t i = 0; i < 4; ++i) {
    vm::DeviceCall call = calls.reading({all[static_cast<std::size_t>(i)]});
    call.priority = i % 2 * 5;
    here.queue.push(std::move(call), 0);
  }
  std::vector<std::uint64_t> order;
  for (int i = 0; i < 4; ++i) {
    const CallBundle bundle = here.take(0, 1);
    order.push_back(names_of(bundle.calls).front());
    here.run(bundle);
  }
  CHECK(order == std::vector<std::uint64_t>{1, 3, 0, 2});
}

TEST_CASE("placed calls: a bundle has calls of one kernel, and leaves others some") {
  QueueOfTests here("eager", 1, 64);
  CallsOfTests calls;
  const std::vector<Tile> all = tiles(3);
  for (const std::uint64_t kernel : {0, 0, 1, 0, 0, 0, 0, 0})
    here.queue.push(calls.reading({all[0], all[1]}, kernel), 0);
  const CallBundle first = here.take(0), second = here.take(0), third = here.take(0);
  CHECK(names_of(first.calls) == std::vector<std::uint64_t>{0, 1});
  CHECK(names_of(second.calls) == std::vector<std::uint64_t>{2});
  CHECK(names_of(third.calls) == std::vector<std::uint64_t>{3, 4});
  here.queue.push(calls.reading({}), 0);  // of those that read nothing large all that wait
  here.queue.push(calls.reading({}), 0);
  const CallBundle others = here.take(0);
  CHECK(names_of(others.calls) == std::vector<std::uint64_t>{8, 9});
  CHECK_FALSE(others.card);
  for (const CallBundle& bundle : {first, second, third, others}) here.queue.end(bundle, true);
  CHECK(names_of(here.queue.take_all()) == std::vector<std::uint64_t>{5, 6, 7});
}

TEST_CASE("placed calls: copies that nobody waits for go first, then what the policy names") {
  CallPlacement placement({.policy = "darts-order", .links = links}, 1, 4 * tile_bytes);
  CallsOfTests calls;
  const auto part = [](std::uint64_t buffer) { return BufferPart{buffer, 0, tile_bytes}; };
  const auto release = [&](std::uint64_t one, std::uint64_t other) {
    placement.release(calls.reading({}), std::vector<PlacedRead>{{part(one), 1}, {part(other), 1}}, 0);
  };
  for (int i = 0; i < 2; ++i) release(1, 2);
  release(1, 3);
  const std::vector<BufferPart> copies = {part(1), part(2), part(4), part(3)};
  CHECK(placement.victim(0, copies, vm::LoadKind::demand) == 2);  // no call reads it
  std::optional<CallBundle> both = placement.take(0, 1);
  REQUIRE(both);
  placement.end(*both, true);
  const std::vector<BufferPart> left = {part(1), part(2), part(3)};
  CHECK(placement.victim(0, left, vm::LoadKind::demand) != 0);  // two calls read that
  CHECK(placement.knows(part(1)));
  while (const std::optional<CallBundle> bundle = placement.take(0, 1)) placement.end(*bundle, true);
  CHECK_FALSE(placement.knows(part(1)));
  CHECK(placement.waiting() == 0);
}

TEST_CASE("placed calls: what a card was meant to get others get when it is given up") {
  for (const vm::PolicyName& policy : vm::policy_names()) {
    CAPTURE(policy.name);
    QueueOfTests here(std::string(policy.name), 3, 8);
    CallsOfTests calls;
    const std::vector<Tile> all = tiles(6);
    here.queue.give_up(2);
    for (const Tile& one : all)
      for (const Tile& other : all) here.queue.push(calls.reading({one, other}), 0);
    here.run(here.take(0));
    const CallBundle lost = here.take(1, 1);
    here.queue.end(lost, false);
    here.queue.give_up(1);
    here.queue.push(lost.calls.front(), 0);
    std::vector<std::uint64_t> names;
    for (std::size_t made = 35; made != 0;) {
      const CallBundle bundle = here.take(0);
      REQUIRE(bundle.calls.size() <= made);
      made -= bundle.calls.size();
      here.run(bundle);
    }
    CHECK(here.queue.take_all().empty());
  }
}

TEST_CASE("placed calls: all that wait come out at once, and others may come later") {
  for (const vm::PolicyName& policy : vm::policy_names()) {
    CAPTURE(policy.name);
    QueueOfTests here(std::string(policy.name), 2, 8);
    CallsOfTests calls;
    const std::vector<Tile> all = tiles(4);
    for (int round = 0; round < 2; ++round) {
      for (const Tile& one : all)
        for (const Tile& other : all) here.queue.push(calls.reading({one, other}), 0);
      const CallBundle taken = here.take(1, 1);
      CHECK(here.queue.take_all().size() == 15);
      here.run(taken);
    }
    here.stop.request_stop();
    CHECK(here.take(0).calls.empty());
  }
}

/// Some bundles do not run the first time, some cards are opened anew: each call ends once.
TEST_CASE("placed calls: many threads") {
  for (const unsigned threads_of_card : {1u, 2u, 8u}) {
    for (const char* const policy : {"eager", "lws", "dmdar", "darts-order"}) {
      CAPTURE(policy);
      CAPTURE(threads_of_card);
      constexpr unsigned cards = 2, pushers = 3, rounds = 60;
      QueueOfTests here(policy, cards, 20, 4);
      CallsOfTests calls;
      const std::vector<Tile> all = tiles(30);
      std::vector<std::vector<vm::DeviceCall>> given(pushers);
      for (unsigned i = 0; i < pushers * rounds; ++i)
        given[i % pushers].push_back(i % 5 == 0 ? calls.reading({}) : calls.reading({all[i % 30], all[i * 7 % 30]}));
      std::vector<std::atomic<int>> ends(pushers * rounds);
      std::atomic<unsigned> left = pushers * rounds;
      std::atomic<unsigned> bundles = 0;
      const auto work = [&](unsigned card) {
        while (true) {
          const CallBundle bundle = here.take(card);
          if (bundle.calls.empty()) return;
          if (bundle.card && bundles++ % 4 == 0) {
            here.queue.end(bundle, false);
            for (const vm::DeviceCall& call : bundle.calls) here.queue.push(call, 0);
            continue;
          }
          if (bundle.card) here.run(bundle);
          for (const vm::DeviceCall& call : bundle.calls) ++ends[call.words.front()];
          if ((left -= static_cast<unsigned>(bundle.calls.size())) == 0) here.stop.request_stop();
        }
      };
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < cards * threads_of_card; ++i) threads.emplace_back(work, i % cards);
      for (unsigned i = 0; i < pushers; ++i)
        threads.emplace_back([&, i] {
          for (const vm::DeviceCall& call : given[i]) here.queue.push(call, 0);
        });
      threads.clear();
      CHECK(std::ranges::all_of(ends, [](const std::atomic<int>& count) { return count == 1; }));
    }
  }
}

}  // namespace raddle::gpu
