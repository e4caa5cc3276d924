#include <doctest/doctest.h>

#include <deque>

#include "gpu/simulated/simulated_devices.hpp"
#include "tests/unit/gpu/device_tests.hpp"

namespace raddle::gpu {
namespace {

auto squares(std::size_t count) {
  auto elements = std::make_shared<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < count; ++i) elements->push_back(static_cast<std::int64_t>(i * i));
  return elements;
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

}  // namespace raddle::gpu
