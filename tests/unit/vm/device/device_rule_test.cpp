#include "vm/device/device_rule.hpp"

#include <doctest/doctest.h>

namespace raddle::vm {
namespace {

constexpr DeviceCosts costs{.batch_ns = 100'000, .start_ns = 400'000'000};

}  // namespace

TEST_CASE("code for devices is worth while for launches that take all workers longer than to get it") {
  CHECK_FALSE(is_worth_code(costs, {.points = 1 << 20, .worker_ns = 0, .workers = 1}));
  CHECK_FALSE(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 399, .workers = 1}));
  CHECK(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 400, .workers = 1}));
  CHECK_FALSE(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 400, .workers = 2}));
}

TEST_CASE("a piece is worth twenty times what handing it over costs") {
  // 2 ms of a worker: 20,000 points of 100 ns
  CHECK(points_for_devices(costs, {.points = 39'999, .worker_ns = 100, .workers = 1}) == 0);
  CHECK(points_for_devices(costs, {.points = 40'000, .worker_ns = 100, .workers = 1}) == 20'000);
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 100, .workers = 16}) == 20'000);
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 0, .workers = 16}) == 0);
}

TEST_CASE("once it is known how fast a device is, pieces take it 5 ms, and no more than its share of what is left") {
  // 0.1 ns a point: 50 million of them
  CHECK(points_for_devices(
            costs, {.points = std::int64_t{1} << 40, .worker_ns = 100, .device_ps = 100, .workers = 4}) == 50'000'000);
  // as fast as a worker, beside three: a quarter
  CHECK(points_for_devices(costs, {.points = 160'000, .worker_ns = 100, .device_ps = 100'000, .workers = 3}) == 40'000);
  CHECK(points_for_devices(costs, {.points = 60'000, .worker_ns = 100, .device_ps = 100'000, .workers = 3}) == 0);
}

TEST_CASE("a device that is slower than a worker gets nothing more") {
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 100, .device_ps = 101'000, .workers = 4}) == 0);
}

}  // namespace raddle::vm
