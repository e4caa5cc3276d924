// Numbers that several threads write straight into one buffer.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "vm/value/array.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("expected numbers: of two that claim the same ones, one writes each") {
  constexpr std::int64_t size = 10'000;
  for (int round = 0; round < 20; ++round) {
    auto array = make_ref<Array>(3);
    array->expect_numbers(ValueKind::int_, size);
    std::atomic<std::int64_t> written{0};
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        WakeList nobody;
        OpenNumbers& open = *array->numbers();
        auto* const numbers = static_cast<std::int64_t*>(open.numbers().at_index(0));
        for (std::int64_t first = 0; first < size; first += 70 + 13 * t) {
          const auto claimed = static_cast<std::int64_t>(open.claim(first, 90));
          const std::int64_t made = claimed - (first % 3 == 0 ? claimed / 2 : 0);  // the others did not end well
          for (std::int64_t i = 0; i < made; ++i) numbers[first + i] = 3 * (first + i);
          open.give_back(static_cast<std::size_t>(first + made), static_cast<std::size_t>(claimed - made));
          if (made != 0) array->tell_written({first, made}, nobody);
          written += made;
        }
      });
    }
    threads.emplace_back([&] {
      WakeList nobody;
      for (std::int64_t key = size - 1; key >= 0; key -= 7)
        if (array->insert(Value::of(key), Value::of(3 * key), nobody)) ++written;
    });
    threads.clear();
    CHECK(written == static_cast<std::int64_t>(array->size()));
    WakeList nobody;
    for (std::int64_t key = 0; key < size; ++key)
      if (array->insert(Value::of(key), Value::of(3 * key), nobody)) ++written;
    CHECK(written == size);
    array->release_writers(3, nobody);
    std::size_t count = 0;
    const auto* const all = static_cast<const std::int64_t*>(array->packed(count));
    REQUIRE(count == static_cast<std::size_t>(size));
    for (std::int64_t key = 0; key < size; ++key) REQUIRE(all[key] == 3 * key);
  }
}

TEST_CASE("promised numbers are written by several while others read: who waits is told, who comes later finds them") {
  constexpr std::int64_t size = 20'000, part = 100;
  for (int round = 0; round < 20; ++round) {
    auto array = make_ref<Array>(1);
    REQUIRE(array->promise_numbers(ValueKind::int_, size));
    std::atomic<std::int64_t> next{0}, wrong{0};
    // of few keys of a chunk, and of so many that the chunk gets elements of its own
    const std::int64_t step = round % 2 == 0 ? 61 : 7;
    std::vector<Future*> waits[2];
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        WakeList nobody;
        for (std::int64_t first = next.fetch_add(part); first < size; first = next.fetch_add(part)) {
          auto* const numbers =
              static_cast<std::int64_t*>(array->numbers()->numbers().at_index(static_cast<std::size_t>(first)));
          for (std::int64_t i = 0; i < part; ++i) numbers[i] = 3 * (first + i);
          array->tell_written({first, part}, nobody);
        }
      });
      threads.emplace_back([&, t] {
        for (std::int64_t key = t * (step / 2); key < size; key += step) {
          const Value at = Value::of(key);
          Value value = array->get(at);
          Future* const element = value ? nullptr : array->element(at);
          if (element)
            waits[t].push_back(element);
          else if (!value)
            value = array->get(at);
          if (!element && (!value || value.as_int() != 3 * key)) wrong.fetch_add(1);
        }
      });
    }
    threads.clear();
    for (const std::vector<Future*>& each : waits) {
      for (Future* const element : each) wrong += element->is_resolved() && element->get().as_int() % 3 == 0 ? 0 : 1;
    }
    WakeList nobody;
    array->release_writers(1, nobody);
    CHECK(wrong.load() == 0);
    std::size_t count = 0;
    CHECK(array->packed(count) == array->numbers()->numbers().data());
    CHECK(count == size);
    CHECK(array->reduce<std::int64_t>().sum.total() == 3.0 * (size - 1) * size / 2);
  }
}

}  // namespace
}  // namespace raddle::vm
