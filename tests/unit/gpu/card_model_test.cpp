#include "gpu/simulated/card_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace raddle::gpu {
namespace {

/// Of round figures.
constexpr CardModel slow_card = {.name = "slow",
                                 .title = "slow card (model)",
                                 .memory_bytes = 1 << 20,
                                 .lanes = 1000,
                                 .full_slowness = 100,
                                 .lone_slowness = 10,
                                 .bytes_of_memory_per_ns = 8,
                                 .bytes_up_per_ns = 2,
                                 .bytes_down_per_ns = 1,
                                 .copy_ns = 5,
                                 .launch_ns = 7,
                                 .open_ns = 1'000'000'000,
                                 .load_ns = 3};

/// A launch of so many points, each of which takes a processor so long.
ModelledWork points(std::int64_t count, std::int64_t each_ns) {
  return {.launches = 1, .host_ns = count * each_ns, .longest_ns = each_ns, .traffic = {}};
}

}  // namespace

TEST_CASE("models of cards are found by their names") {
  for (const CardModel& model : card_models()) {
    CHECK(card_model(model.name) == &model);
    CHECK(model.title.ends_with("(model)"));
  }
  CHECK(card_model("h200") != nullptr);
  CHECK(card_model("h2000") == nullptr);
  CHECK(card_model("") == nullptr);
}

TEST_CASE("a batch takes copies, a launch, and waves of points") {
  ModelClock clock(slow_card, 1);
  clock.open();
  const std::int64_t ready = clock.load_kernel(), given = clock.give();
  CHECK(ready >= slow_card.open_ns + slow_card.load_ns);
  CHECK(given < ready);
  CHECK(clock.take().card == 0);
  ModelledWork work = points(5000, 20);
  work.traffic = {.bytes_up = 200, .bytes_down = 300, .bytes_kept = 100};
  const ModelClock::Passed passed = clock.end(0, ready, work);
  CHECK(passed.begin_ns == ready);
  CHECK(passed.end_ns - passed.begin_ns == (5 + 100) + (7 + 5 * 100 * 20) + (5 + 300));
  const vm::RunPrediction predicted = clock.prediction();
  REQUIRE(predicted.devices.size() == 1);
  CHECK(predicted.devices[0].copies_up_ns == 105);
  CHECK(predicted.devices[0].computing_ns == 10'007);
  CHECK(predicted.devices[0].copies_down_ns == 305);
  CHECK(predicted.devices[0].launches == 1);
  CHECK(predicted.run_ns >= passed.end_ns);
}

TEST_CASE("few points take as long as one does, many bytes as long as memory does") {
  ModelClock clock(slow_card, 1);
  clock.give();
  clock.take();
  CHECK(clock.end(0, 1000, points(3, 20)).end_ns == 1000 + 7 + 10 * 20);
  clock.give();
  clock.take();
  ModelledWork reads = points(3, 20);
  reads.traffic.bytes_kept = 80'000;
  CHECK(clock.end(0, 5000, reads).end_ns == 5000 + 7 + 10'000);
}

TEST_CASE("launches of few points run beside each other, those of many one after the other") {
  ModelClock clock(slow_card, 1);
  for (int i = 0; i < 4; ++i) clock.give(), clock.take();
  CHECK(clock.end(0, 1000, points(10, 20)).end_ns == 1000 + 7 + 200);
  CHECK(clock.end(0, 1000, points(10, 20)).end_ns == 1020 + 7 + 200);
  CHECK(clock.end(0, 1000, points(5000, 20)).end_ns == 1040 + 7 + 10'000);
  CHECK(clock.end(0, 1000, points(5000, 20)).end_ns == 11'040 + 7 + 10'000);
}

TEST_CASE("what a card lacks counts as much as what it has to do") {
  ModelClock clock(slow_card, 2);
  const std::size_t lacks_some[] = {1000, 0}, lacks_much[] = {100'000, 0};
  for (int i = 0; i < 4; ++i) clock.give();
  CHECK(clock.take(lacks_some).card == 1);
  clock.end(1, 0, points(5000, 20));        // 10,007 ns
  CHECK(clock.take(lacks_some).card == 1);  // the clock stands where this card has ended
  CHECK(clock.take(lacks_some).card == 0);  // 505 ns of a copy in place of what it has to do
  CHECK(clock.take(lacks_much).card == 1);
}

TEST_CASE("cards compute side by side, and while they do the host's time does not count") {
  ModelClock clock(slow_card, 3);
  for (unsigned card = 0; card < 3; ++card) {
    clock.give();
    CHECK(clock.take().card == card);
  }
  const std::int64_t before = clock.take().now_ns;
  for (unsigned card = 0; card < 3; ++card) {
    const auto passed = clock.end(card, 1'000'000'000, points(5000, 20));
    CHECK(passed.end_ns == 1'000'010'007);
    CHECK(clock.give() == std::max(before, passed.end_ns));
    clock.drop();
    if (card == 0) clock.give();  // so that something is under way to the end
  }
  CHECK(clock.give() == 1'000'010'007);
}

}  // namespace raddle::gpu
