// The gate where workers sleep: no wake-up is lost, and the end is found exactly when all sleep and nothing is held.
#include "vm/schedule/idle_gate.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace raddle::vm {
namespace {

// Without a wake-up that is due, the consumer would sleep for ever: the test would not end.
TEST_CASE("a token that is published before notify_one() is always consumed") {
  constexpr int tokens = 30000;
  for (const unsigned consumers : {1u, 3u}) {
    IdleGate gate(consumers);
    std::atomic<int> available{0};
    std::atomic<int> consumed{0};
    gate.hold();  // the producer
    std::vector<std::jthread> threads;
    for (unsigned c = 0; c < consumers; ++c) {
      threads.emplace_back([&, c] {
        const auto take = [&] {
          int count = available.load(std::memory_order_seq_cst);
          while (count > 0)
            if (available.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst)) return true;
          return false;
        };
        for (;;) {
          if (take()) {
            consumed.fetch_add(1);
            continue;
          }
          gate.announce();
          if (available.load(std::memory_order_seq_cst) > 0) {
            gate.cancel();
            continue;
          }
          if (!gate.sleep([&] { return available.load(std::memory_order_seq_cst) == 0; })) return;
        }
      });
    }
    for (int i = 0; i < tokens; ++i) {
      available.fetch_add(1, std::memory_order_seq_cst);
      gate.notify_one();
      // wait now and then until it is taken, so that the consumers fall asleep in between
      if (i % 8 == 0)
        while (consumed.load() <= i) std::this_thread::yield();
    }
    gate.release_hold([&] { return available.load(std::memory_order_seq_cst) == 0; });
    threads.clear();
    CHECK(consumed.load() == tokens);
  }
}

TEST_CASE("for each notify_one() one sleeper gets up") {
  constexpr unsigned sleepers = 8;
  constexpr int calls = 2000;
  IdleGate gate(sleepers + 1);  // one never sleeps: the gate does not end by itself
  std::atomic<int> got_up{0};
  std::vector<std::jthread> threads;
  for (unsigned s = 0; s < sleepers; ++s) {
    threads.emplace_back([&] {
      for (gate.announce(); gate.sleep([] { return true; }); gate.announce()) got_up.fetch_add(1);
    });
  }
  for (int i = 0; i < calls; ++i) {
    gate.notify_one();
    if (i % 8 == 0) std::this_thread::yield();  // so that they fall asleep in between
    CHECK(got_up.load() <= i + 1);
  }
  for (const int before = got_up.load(); got_up.load() == before;) gate.notify_one();  // somebody sleeps, and is found
  gate.end();
  threads.clear();
}

TEST_CASE("end() wakes every sleeper; after restart() they may sleep again") {
  constexpr unsigned sleepers = 4;
  IdleGate gate(sleepers + 1);  // one never sleeps: the gate does not end by itself
  for (int round = 0; round < 200; ++round) {
    gate.restart();
    std::atomic<unsigned> ended{0};
    std::vector<std::jthread> threads;
    for (unsigned s = 0; s < sleepers; ++s) {
      threads.emplace_back([&] {
        do {
          gate.announce();
        } while (gate.sleep([] { return true; }));
        ended.fetch_add(1);
      });
    }
    gate.notify_one();
    gate.end();
    threads.clear();
    CHECK(ended.load() == sleepers);
  }
}

}  // namespace
}  // namespace raddle::vm
