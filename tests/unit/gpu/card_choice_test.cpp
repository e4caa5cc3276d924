// Which card gets a batch: gpu/cuda/cuda_state.hpp, Note [data choose the card].
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "gpu/cuda/cuda_devices.hpp"
#include "tests/unit/gpu/device_tests.hpp"
#include "tests/unit/gpu/fake_driver.hpp"

namespace raddle::gpu {
namespace {

Elements shared_threes(std::size_t count) {
  return elements_of(count, [](std::size_t) { return std::int64_t{3}; });
}

}  // namespace

TEST_CASE("batches go to the card that has what they read") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  {
    CudaDevices devices(2, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    const Elements elements[] = {shared_threes(1 << 16), shared_threes(1 << 16)};
    std::vector<unsigned> cards(2);
    for (std::size_t round = 0; round < 20; ++round) {
      driver.is_held = round == 0;  // the first two go to cards that have nothing, side by side
      std::deque<BatchOfTests> batches;
      std::vector<std::future<vm::DeviceOutcome>> outcomes;
      for (const std::size_t i : {round % 2, 1 - round % 2})
        outcomes.push_back(batches.emplace_back(0, 1, 1000, -1, elements[i]).submit(devices, kernel));
      driver.is_held = false;
      for (const std::size_t place : {0u, 1u}) {
        const std::size_t i = place == 0 ? round % 2 : 1 - round % 2;
        const vm::DeviceOutcome outcome = outcomes[place].get();
        CHECK(outcome.made == 1000);
        if (round == 0) cards[i] = outcome.device;
        CHECK(outcome.device == cards[i]);
        CHECK(outcome.traffic.bytes_up == (round == 0 ? 8 * elements[i]->count() : 0));
      }
    }
    CHECK(cards[0] != cards[1]);
    driver.is_held = true;  // one of them has all of it, but the other one is free sooner
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 10; ++i)
      outcomes.push_back(batches.emplace_back(0, 1, 1000, -1, elements[0]).submit(devices, kernel));
    driver.is_held = false;
    std::vector<int> counts(2);
    for (auto& outcome : outcomes) ++counts[outcome.get().device];
    CHECK(counts[0] == 5);
  }
  CHECK(driver.allocations == 0);
}

TEST_CASE("cards for which there are few threads share the work, and those without threads get none") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  for (const unsigned threads : {1u, 2u, 3u, 5u}) {
    CudaDevices devices(2, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY,
                        {.threads = threads});
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    REQUIRE(kernel);
    CHECK(devices.facts().size() == std::min(threads, 2u));
    CHECK_FALSE(devices.problem().empty());
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 40; ++i)
      outcomes.push_back(batches.emplace_back(i, 1, 1000, -1, shared_threes(1 << 10)).submit(devices, kernel));
    for (auto& outcome : outcomes) {
      REQUIRE(outcome.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
      CHECK(outcome.get().made == 1000);
    }
  }
}

}  // namespace raddle::gpu
