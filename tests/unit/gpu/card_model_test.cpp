#include "gpu/simulated/card_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gpu/simulated/modelled_copies.hpp"

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
                                 .bytes_between_per_ns = 20,
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
  const ModelClock::Passed copied = clock.copy_up(0, ready, 200);
  CHECK(copied.begin_ns == ready);
  CHECK(copied.end_ns == ready + 5 + 100);
  const ModelClock::Passed passed = clock.end(0, copied.end_ns, work);
  CHECK(passed.begin_ns == copied.end_ns);
  CHECK(passed.end_ns - passed.begin_ns == (7 + 5 * 100 * 20) + (5 + 300));
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

TEST_CASE("what goes to a card until it is waited for is one copy, which begins when its memory is free") {
  ModelClock clock(slow_card, 1);
  std::vector<std::byte> from(200'000), to(200'000);
  const auto address = reinterpret_cast<std::uint64_t>(to.data());
  ModelledCopies copies(&clock, 0, 1000);
  copies.add(40);
  copies.wait();
  CHECK(copies.done_ns() == 1000 + 5 + 20);
  copies.begin_after(5000);
  copies.begin_after(3000);
  copies.copy_in(address, from.data(), 100'000);
  copies.copy_in(address, from.data(), 80'000);
  copies.copy_within(address + 100'000, address, 100'000);  // crosses no link
  copies.wait();
  CHECK(copies.begun_ns() == 1000);
  CHECK(copies.done_ns() == 5000 + 5 + 90'000);
  CHECK(clock.prediction().devices[0].copies_up_ns == 25 + 90'005);
  ModelledCopies of_no_model(nullptr, 0, 1000);
  of_no_model.copy_in(address, from.data(), 100);
  of_no_model.wait();
  CHECK(of_no_model.done_ns() == 0);
}

TEST_CASE("what comes from other cards crosses a link of its own, when it is there") {
  ModelClock clock(slow_card, 2, {.are_one_bus = true, .have_peers = true});
  CHECK(clock.has_peers());
  CHECK(clock.links().between_devices == 20'000'000'000);
  CHECK(ModelClock(slow_card, 2).links().between_devices == 0);
  clock.copy_up(0, 0, 1'000'000);
  std::vector<std::byte> from(100'000), to(100'000);
  ModelledCopies copies(&clock, 1, 1000);
  copies.copy_between(reinterpret_cast<std::uint64_t>(to.data()), reinterpret_cast<std::uint64_t>(from.data()), 100'000,
                      3000);
  copies.wait();
  CHECK(copies.begun_ns() == 3000);
  CHECK(copies.done_ns() == 3000 + 5 + 5000);
  CHECK(clock.copy_between(1, 1000, 100'000).begin_ns == 8005);
  CHECK(clock.copy_between(0, 1000, 100'000).begin_ns == 1000);
  CHECK(clock.prediction().devices[1].copies_between_ns == 2 * 5005);
}

TEST_CASE("launches of few points run beside each other, those of many one after the other") {
  ModelClock clock(slow_card, 1);
  for (int i = 0; i < 4; ++i) clock.give(), clock.take();
  CHECK(clock.end(0, 1000, points(10, 20)).end_ns == 1000 + 7 + 200);
  CHECK(clock.end(0, 1000, points(10, 20)).end_ns == 1020 + 7 + 200);
  CHECK(clock.end(0, 1000, points(5000, 20)).end_ns == 1040 + 7 + 10'000);
  CHECK(clock.end(0, 1000, points(5000, 20)).end_ns == 11'040 + 7 + 10'000);
  for (int i = 0; i < 2; ++i) clock.give(), clock.take();
  CHECK(clock.end(0, 40'000, points(10, 20)).begin_ns == 40'000);
  CHECK(clock.end(0, 30'000, points(10, 20)).begin_ns == 30'000);  // told later, but it could begin before
}

TEST_CASE("what a card lacks counts as much as what it has to do") {
  ModelClock clock(slow_card, 2);
  const MissingBytes lacks_some[] = {{.of_host = 1000}, {}}, lacks_much[] = {{.of_host = 100'000}, {}};
  for (int i = 0; i < 4; ++i) clock.give();
  CHECK(clock.take(lacks_some).card == 1);
  clock.end(1, 0, points(5000, 20));        // 10,007 ns
  CHECK(clock.take(lacks_some).card == 1);  // the clock stands where this card has ended
  CHECK(clock.take(lacks_some).card == 0);  // 505 ns of a copy in place of what it has to do
  CHECK(clock.take(lacks_much).card == 1);
}

TEST_CASE("what another card has counts by the link between them") {
  ModelClock clock(slow_card, 2, {.have_peers = true});
  const MissingBytes of_host[] = {{.of_host = 100'000}, {}}, of_card[] = {{.of_cards = 100'000}, {}};
  for (int i = 0; i < 4; ++i) clock.give();
  CHECK(clock.take(of_host).card == 1);
  clock.end(1, 0, points(5000, 20));  // 10,007 ns
  CHECK(clock.take(of_card).card == 1);
  CHECK(clock.take(of_host).card == 1);
  CHECK(clock.take(of_card).card == 0);  // 5,005 ns in place of twice 10,007
}

TEST_CASE("what crosses a link takes the first gap that is long enough") {
  ModelLink link;
  CHECK(link.take(100, 50) == 100);
  CHECK(link.take(100, 20) == 150);
  CHECK(link.take(0, 60) == 0);
  CHECK(link.take(50, 41) == 170);
  CHECK(link.take(50, 40) == 60);
  CHECK(link.take(10, 1) == 211);
  CHECK(link.take(70, 0) == 70);
  CHECK(link.free_ns() == 212);
}

TEST_CASE("copies of several cards take turns on one bus, else they cross at once") {
  for (const bool has_one_bus : {false, true}) {
    ModelClock clock(slow_card, 2, {.are_one_bus = has_one_bus});
    ModelledWork work = points(10, 20);
    work.traffic = {.bytes_up = 200'000, .bytes_down = 300'000};
    for (unsigned card = 0; card < 2; ++card) clock.give(), clock.take_on(card);
    const std::int64_t up = 5 + 100'000, down = 5 + 300'000;
    const auto first_up = clock.copy_up(0, 1000, 200'000), second_up = clock.copy_up(1, 1000, 200'000);
    CHECK(first_up.end_ns == 1000 + up);
    CHECK(second_up.begin_ns == (has_one_bus ? 1000 + up : 1000));
    const auto first = clock.end(0, first_up.end_ns, work), second = clock.end(1, second_up.end_ns, work);
    CHECK(first.end_ns == 1000 + up + (7 + 500'000 / 8) + down);  // its memory takes longest
    CHECK(second.end_ns == first.end_ns + (has_one_bus ? down : 0));
    CHECK(clock.copy_up(1, 1000, 64).begin_ns == 1000);  // a few bytes pass them
  }
}

TEST_CASE("a card takes four bundles of calls at once, and asks for the next when one ends") {
  ModelClock clock(slow_card, 2);
  ModelledWork bundle = points(1, 1000);
  bundle.is_bundle = true;
  for (int i = 0; i < 4; ++i) {
    clock.give();
    CHECK(clock.take_on(0).bundle_ns == 0);
    CHECK(clock.end(0, 1000, bundle).end_ns == 1100 + 7 + 10'000 - 100 + (i * 100));
  }
  CHECK(clock.askers() == std::vector<unsigned>{1, 0});
  clock.give();
  CHECK(clock.take_on(0).bundle_ns == 11'007);
  CHECK(clock.end(0, 11'007, bundle).begin_ns == 11'007);
  for (int i = 0; i < 5; ++i) clock.give(), clock.take_on(1);
  CHECK(clock.askers() == std::vector<unsigned>{1, 0});  // none has ended there: it could as well be free
  for (int i = 0; i < 5; ++i) clock.end(1, 50'000, bundle);
  CHECK(clock.askers() == std::vector<unsigned>{0, 1});
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
