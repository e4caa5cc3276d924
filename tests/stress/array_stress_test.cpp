// Arrays under racing writers and readers: one winner for each key wherever it is stored, no reader forgotten when the
// array closes.
#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "vm/schedule/worker_pool.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("racing inserts of the same keys, dense and sparse: one winner each, none lost") {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < 3000; ++i) keys.push_back(i);
  for (std::int64_t i = 0; i < 1000; ++i) keys.push_back(1'000'000 + i * 7);  // chunks are made under way
  for (std::int64_t i = 0; i < 300; ++i) keys.push_back(-i - 1);
  for (int round = 0; round < 10; ++round) {
    auto array = make_ref<Array>(1);
    std::atomic<std::size_t> wins{0};
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::vector<std::int64_t> mine = keys;
        // two of them upwards, side by side; the others in any order
        if (t >= 2) std::ranges::shuffle(mine, std::mt19937_64(static_cast<unsigned>(round) * 4 + t));
        for (const std::int64_t key : mine) {
          WakeList nobody;
          if (t % 2 == 1) {  // at once
            if (array->insert(Value::of(key), Value::of(key), nobody)) wins.fetch_add(1);
          } else if (Future* element = array->insert(Value::of(key))) {
            wins.fetch_add(1);
            if (!element->set(Value::of(key), nobody)) wins.fetch_sub(1);
          }
        }
      });
    }
    threads.clear();
    CHECK(wins.load() == keys.size());
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(array->size() == keys.size());
    std::int64_t last = -1000;
    std::size_t wrong = 0;
    array->for_each([&](const Value& key, const Value& value) {
      if (!value || value.as_int() != key.as_int() || key.as_int() <= last) ++wrong;
      last = key.as_int();
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("strings and sparse ints that race while there come to be more than one map has: each is there once") {
  std::vector<Value> keys;
  for (std::int64_t i = 0; i < 350; ++i) {
    keys.push_back(Value::of(std::to_string(i)));
    keys.push_back(Value::of(1'000'000 + i * 300));  // mostly a chunk for each
  }
  for (unsigned round = 0; round < 40; ++round) {
    auto array = make_ref<Array>(1);
    std::atomic<std::size_t> wins{0}, wrong{0};
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::vector<Value> mine = keys;
        std::ranges::shuffle(mine, std::mt19937_64(round * 4 + t));
        for (std::size_t i = 0; i < mine.size(); ++i) {
          const Value &key = mine[i], &read = mine[mine.size() - 1 - i];
          WakeList nobody;
          if (array->insert(key, Value(key), nobody)) wins.fetch_add(1);
          if (!array->contains(key)) wrong.fetch_add(1);
          const Value value = array->get(read);
          if (value && key_text(value) != key_text(read)) wrong.fetch_add(1);
        }
      });
    }
    threads.clear();
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(wins.load() == keys.size());
    CHECK(wrong.load() == 0);
    CHECK(array->size() == keys.size());
    std::size_t count = 0;
    array->for_each([&](const Value& key, const Value& value) {
      if (key_text(value) == key_text(key)) ++count;
    });
    CHECK(count == keys.size());
  }
}

TEST_CASE(
    "a chunk of numbers, single inserts and reads race: each element comes from one writer, and its readers see it") {
  constexpr std::int64_t chunks = 200, size = NumberChunk::size;
  for (int round = 0; round < 10; ++round) {
    auto array = make_ref<Array>(1);
    std::atomic<std::int64_t> inserted{0}, wrong{0};
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      for (std::int64_t chunk = 1; chunk <= chunks; ++chunk) {
        NumberChunk::Owner numbers = NumberChunk::make(ValueKind::int_);
        for (std::int64_t i = 0; i < size; ++i) static_cast<std::int64_t*>(numbers->words())[i] = chunk * size + i;
        if (array->insert_numbers(chunk * size, numbers)) inserted.fetch_add(size);
      }
    });
    for (std::int64_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        for (std::int64_t chunk = chunks; chunk >= 1; --chunk) {
          const Value key = Value::of(chunk * size + (chunk % 3 == 0 ? t : 7));
          WakeList nobody;
          Future* element = array->insert(key);
          if (!element) continue;
          inserted.fetch_add(1);
          element->set(Value::of(key.as_int()), nobody);
        }
      });
    }
    threads.emplace_back([&] {
      for (std::int64_t key = size; key < (chunks + 1) * size; key += 97) {
        Value value = array->get(Value::of(key));
        if (!value) {
          if (Future* element = array->element(Value::of(key)))
            value = element->get();
          else
            value = array->get(Value::of(key));  // a number came in between
        }
        if (value && value.as_int() != key) wrong.fetch_add(1);
      }
    });
    threads.clear();
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(wrong.load() == 0);
    CHECK(array->size() == static_cast<std::size_t>(inserted.load()));
    array->for_each([&](const Value& key, const Value& value) {
      if (value && value.as_int() != key.as_int()) wrong.fetch_add(1);
    });
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE("runs of numbers, single inserts and reads race: one writer has each key, and who waits for one is told") {
  constexpr std::int64_t size = 4096, step = 100;
  for (int round = 0; round < 50; ++round) {
    auto array = make_ref<Array>(1);
    std::atomic<std::int64_t> inserted{0}, wrong{0};
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 2; ++t) {  // each every other run
      threads.emplace_back([&, t] {
        WakeList nobody;
        std::vector<std::int64_t> numbers, rest;
        for (std::int64_t first = t * step; first < size; first += 2 * step) {
          numbers.clear();
          rest.clear();
          for (std::int64_t key = first; key < std::min(first + step, size); ++key) numbers.push_back(key);
          const auto count = static_cast<std::int64_t>(numbers.size());
          array->insert_run(first, {ValueKind::int_, numbers.data(), count}, rest, nobody);
          inserted.fetch_add(count - static_cast<std::int64_t>(rest.size()));
          for (const std::int64_t key : rest)
            if (array->insert(Value::of(key), Value::of(key), nobody)) inserted.fetch_add(1);
        }
      });
    }
    threads.emplace_back([&] {
      WakeList nobody;
      for (std::int64_t key = size - 1; key >= 0; key -= 37)
        if (array->insert(Value::of(key), Value::of(key), nobody)) inserted.fetch_add(1);
    });
    std::vector<Future*> awaited;
    threads.emplace_back([&] {
      for (std::int64_t key = 0; key < size; key += 13) {
        if (Future* const element = array->element(Value::of(key)))
          awaited.push_back(element);
        else if (array->get(Value::of(key)).as_int() != key)
          wrong.fetch_add(1);
      }
    });
    threads.clear();
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(inserted.load() == size);
    CHECK(wrong.load() == 0);
    CHECK(std::ranges::all_of(awaited, [](const Future* element) { return element->is_resolved(); }));
    std::size_t count = 0;
    const auto* const all = static_cast<const std::int64_t*>(array->packed(count));
    REQUIRE(all != nullptr);
    REQUIRE(count == static_cast<std::size_t>(size));
    for (std::int64_t key = 0; key < size; ++key)
      if (all[key] != key) wrong.fetch_add(1);
    CHECK(wrong.load() == 0);
  }
}

struct FlagWaiter final : Waiter {
  std::atomic<int> told{0};
  void resolved(Worker&) override { told.fetch_add(1); }
};

TEST_CASE("readers that come while the array closes are told, each once") {
  constexpr unsigned readers = 3;
  constexpr int rounds = 3000;
  std::vector<Ref<Array>> arrays;
  for (int r = 0; r < rounds; ++r) arrays.push_back(make_ref<Array>(1, "A"));
  std::vector<FlagWaiter> waiters(rounds * readers);
  std::barrier<> start(readers + 1);
  // the waiters' resolved() needs a worker, though it does not look at it
  struct Close final : Task {
    std::vector<Ref<Array>>* arrays = nullptr;
    std::barrier<>* start = nullptr;
    void run(Worker& worker) override {
      for (const Ref<Array>& array : *arrays) {
        start->arrive_and_wait();
        WakeList wake;
        array->release_writers(1, wake);
        wake.wake_all(worker);
      }
    }
  } close;
  close.arrays = &arrays;
  close.start = &start;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < readers; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t r = 0; r < rounds; ++r) {
        start.arrive_and_wait();
        const std::size_t delay = (r * 7 + t * 3) % 50;  // meet the closer at different steps
        for (std::size_t spin = 0; spin < delay; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
        FlagWaiter& waiter = waiters[r * readers + t];
        Future* element = arrays[r]->element(Value::of(std::int64_t{5}));
        if (!element || !element->enlist(waiter)) waiter.told.fetch_add(1);
      }
    });
  }
  WorkerPool pool(1);
  pool.inject(close);
  pool.run();
  threads.clear();
  int forgotten = 0, twice = 0;
  for (const FlagWaiter& waiter : waiters) {
    forgotten += waiter.told.load() == 0;
    twice += waiter.told.load() > 1;
  }
  CHECK(forgotten == 0);
  CHECK(twice == 0);
}

TEST_CASE("threads that ask for the same row get one row, which closes with its parent") {
  for (int round = 0; round < 200; ++round) {
    auto array = make_ref<Array>(1);
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::int64_t i = 0; i < 20; ++i) {
          WakeList nobody;
          Array* const row = array->row(Value::of(i), nobody);
          Array* const inner = row->row(Value::of(i), nobody);
          inner->insert(Value::of(t))->set(Value::of(t), nobody);
        }
      });
    }
    threads.clear();
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(array->size() == 20);
    array->for_each([](const Value& key, const Value& row) {
      const Value inner = row.as_array().get(key);
      CHECK(row.as_array().is_closed());
      CHECK(inner.as_array().is_closed());
      CHECK(inner.as_array().size() == 4);
    });
  }
}

TEST_CASE("threads that ask for the same bag get one bag") {
  for (int round = 0; round < 200; ++round) {
    auto array = make_ref<Array>(1);
    std::barrier start(4);
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        start.arrive_and_wait();
        WakeList nobody;
        for (std::int64_t i = 0; i < 20; ++i) array->bag_row(Value::of(i), nobody)->append().set(Value::of(t), nobody);
      });
    }
    threads.clear();
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(array->size() == 20);
    array->for_each([](const Value&, const Value& bag) {
      CHECK(bag.as_bag().is_closed());
      CHECK(bag.as_bag().size() == 4);
    });
  }
}

TEST_CASE("a key that is asked for as a row and assigned as a whole is one of both, for all threads") {
  for (int round = 0; round < 200; ++round) {
    constexpr std::int64_t count = 50;
    auto array = make_ref<Array>(1);
    std::vector<std::vector<Array*>> rows(3);
    std::vector<bool> assigned(count);
    std::barrier start(4);
    std::vector<std::jthread> threads;
    for (std::vector<Array*>& own : rows) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        WakeList nobody;
        for (std::int64_t i = 0; i < count; ++i) own.push_back(array->row(Value::of(i), nobody));
      });
    }
    threads.emplace_back([&] {
      start.arrive_and_wait();
      WakeList nobody;
      for (std::int64_t i = count - 1; i >= 0; --i)  // they meet
        assigned[static_cast<std::size_t>(i)] =
            array->insert(Value::of(i), Value::of_object(ValueKind::array, make_ref<Array>(0)), nobody);
    });
    threads.clear();
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(rows[0][i] == rows[1][i]);
      CHECK(rows[0][i] == rows[2][i]);
      CHECK((rows[0][i] == nullptr) == assigned[i]);
    }
    WakeList nobody;
    array->release_writers(1, nobody);
  }
}

}  // namespace
}  // namespace raddle::vm
