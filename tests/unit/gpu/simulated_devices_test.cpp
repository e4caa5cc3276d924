#include <doctest/doctest.h>

#include <deque>

#include "gpu/simulated/simulated_devices.hpp"
#include "tests/unit/gpu/device_tests.hpp"

namespace raddle::gpu {
namespace {

Elements squares(std::size_t count) {
  return elements_of(count, [](std::size_t i) { return static_cast<std::int64_t>(i * i); });
}

}  // namespace

TEST_CASE("warps of a simulated device compute each point once, however many there are") {
  SimulatedDevices devices(3, {});
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  for (const std::int64_t count : {1, 31, 32, 33, 95, 96, 97, 1000}) {
    CAPTURE(count);
    BatchOfTests batch(5, 2, count, -1, squares(7));
    const vm::DeviceOutcome outcome = batch.submit(devices, kernel).get();
    CHECK_FALSE(outcome.is_lost);
    CHECK(outcome.made == count);
    CHECK(batch.is_right(count));
  }
}

TEST_CASE("a simulated device tells the least point that does not end well") {
  SimulatedDevices devices(4, {});
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  for (const std::int64_t bad : {0, 1, 31, 32, 500, 999}) {
    CAPTURE(bad);
    BatchOfTests batch(0, 1, 1000, bad, squares(3));
    CHECK(batch.submit(devices, kernel).get().made == bad);
    CHECK(batch.is_right(bad));
  }
}

TEST_CASE("many batches are under way at once") {
  SimulatedDevices devices(4, {});
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  std::deque<BatchOfTests> batches;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  for (int i = 0; i < 200; ++i)
    outcomes.push_back(batches.emplace_back(i, 1, 1 + i * 3, -1, squares(5)).submit(devices, kernel));
  for (int i = 0; i < 200; ++i) {
    CHECK(outcomes[static_cast<std::size_t>(i)].get().made == 1 + i * 3);
    CHECK(batches[static_cast<std::size_t>(i)].is_right(1 + i * 3));
  }
}

TEST_CASE("a batch that nobody wants any more comes back without results") {
  SimulatedDevices devices(2, {});
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  BatchOfTests batch(0, 1, 1000, -1, squares(3));
  batch.run.stack_limit = reinterpret_cast<const void*>(~std::uintptr_t{0});
  CHECK(batch.submit(devices, kernel).get().made == 0);
}

TEST_CASE("a simulated device with little memory computes halves, and tells what it has no room for") {
  SimulatedDevices devices(3, {}, 1 << 16);
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  const Elements small = squares(1000), huge = squares(10'000);
  BatchOfTests large(0, 1, 50'000, -1, small), impossible(0, 1, 10, -1, huge), fails(0, 1, 50'000, 31'000, small);
  const vm::DeviceOutcome outcome = large.submit(devices, kernel).get();
  CHECK(outcome.made == 50'000);
  CHECK_FALSE(outcome.has_no_room);
  CHECK(outcome.traffic.evictions > 0);
  CHECK(large.is_right(50'000));
  CHECK(devices.problem().empty());
  CHECK(fails.submit(devices, kernel).get().made == 31'000);
  CHECK(fails.is_right(31'000));
  const vm::DeviceOutcome none = impossible.submit(devices, kernel).get();
  CHECK(none.made == 0);
  CHECK(none.has_no_room);
  CHECK_FALSE(none.is_lost);
  CHECK_FALSE(devices.problem().empty());
}

TEST_CASE("cards that a model stands for compute the same, and each has a time of its own") {
  SimulatedDevices devices(2, {}, SimulatedDevices::usual_memory, {*card_model("h200"), 3});
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  CHECK(kernel->lanes == 270'336);
  std::deque<BatchOfTests> batches;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  for (int i = 0; i < 60; ++i)
    outcomes.push_back(
        batches.emplace_back(i, 1, 1 + i * 3, i % 10 == 9 ? 2 * i : -1, squares(5)).submit(devices, kernel));
  std::vector<std::int64_t> launches(3);
  for (int i = 0; i < 60; ++i) {
    const vm::DeviceOutcome outcome = outcomes[static_cast<std::size_t>(i)].get();
    CHECK(outcome.made == (i % 10 == 9 ? i : 1 + i * 3));
    CHECK(batches[static_cast<std::size_t>(i)].is_right(outcome.made));
    CHECK(outcome.spent_ns >= card_model("h200")->launch_ns);
    CHECK(outcome.start_ns > 0);
    ++launches.at(outcome.device);
  }
  REQUIRE(devices.facts().size() == 3);
  CHECK(devices.facts()[2].name == "H200 (model)");
  const auto predicted = devices.prediction();
  REQUIRE(predicted.has_value());
  REQUIRE(predicted->devices.size() == 3);
  for (std::size_t card = 0; card < 3; ++card) {
    CHECK(launches[card] > 0);
    CHECK(predicted->devices[card].launches == launches[card]);
    CHECK(predicted->devices[card].copies_up_ns > 0);
    CHECK(predicted->run_ns > predicted->devices[card].computing_ns);
  }
  CHECK_FALSE(SimulatedDevices(2, {}).prediction().has_value());
}

}  // namespace raddle::gpu
