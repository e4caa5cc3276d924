#include "vm/device/device_rule.hpp"

#include <doctest/doctest.h>

namespace raddle::vm {
namespace {

constexpr DeviceCosts costs{.batch_ns = 100'000, .start_ns = 400'000'000};

}  // namespace

TEST_CASE("code for devices is worth while for launches that take all workers twice as long as to get it") {
  CHECK_FALSE(is_worth_code(costs, {.points = 1 << 20, .worker_ns = 0, .workers = 1}));
  CHECK_FALSE(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 799, .workers = 1}));
  CHECK(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 800, .workers = 1}));
  CHECK_FALSE(is_worth_code(costs, {.points = 1'000'000, .worker_ns = 800, .workers = 2}));
}

TEST_CASE("a wave is what all lanes compute, and what few of them take") {
  CHECK(wave_ns_of(5'000, 1, 1000) == 5'000);
  CHECK(wave_ns_of(5'000, 1000, 1000) == 5'000);
  CHECK(wave_ns_of(5'000, 10'000, 1000) == 500);
  CHECK(wave_ns_of(1, 10'000, 1000) == 1);
}

TEST_CASE("an unknown device gets one wave, or what is worth twenty times the handing over") {
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 100, .lanes = 1'000, .workers = 16}) == 20'000);
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 100, .lanes = 30'000, .workers = 16}) == 30'000);
  CHECK(points_for_devices(costs, {.points = 1 << 30, .worker_ns = 0, .lanes = 1'000, .workers = 16}) == 0);
  CHECK(points_for_devices(costs, {.points = 20'000, .worker_ns = 100, .lanes = 1'000'000, .workers = 1}) == 0);
  CHECK(points_for_devices(costs, {.points = 20'128, .worker_ns = 100, .lanes = 1'000'000, .workers = 1}) == 20'000);
}

TEST_CASE("heavy points go as many as there are lanes, if the workers have enough to do meanwhile") {
  // 1 ms on a worker, a wave takes 40 ms: two of them as long as 80 points on one of two workers
  const LaunchOutlook heavy{
      .points = 1'000'000, .worker_ns = 1'000'000, .wave_ns = 40'000'000, .lanes = 10'000, .workers = 2};
  CHECK(points_for_devices(costs, heavy) == 10'000);
  LaunchOutlook fewer = heavy;
  fewer.points = 1'000;
  CHECK(points_for_devices(costs, fewer) == 1'000 - 160);
  fewer.points = 161;
  CHECK(points_for_devices(costs, fewer) == 0);  // less than it costs
  fewer.points = 100;
  CHECK(points_for_devices(costs, fewer) == 0);
}

TEST_CASE("light points go by pieces that take a device 5 ms, and no more than its share of what is left") {
  // 0.1 ns a point: 50 million of them
  const LaunchOutlook light{
      .points = std::int64_t{1} << 40, .worker_ns = 100, .wave_ns = 1'000, .lanes = 10'000, .workers = 4};
  CHECK(points_for_devices(costs, light) == 50'000'000);
  // as fast as two workers, and one piece is before it; beside three: a quarter
  CHECK(points_for_devices(
            costs, {.points = 160'000, .worker_ns = 100, .wave_ns = 500'000, .lanes = 10'000, .workers = 3}) == 40'000);
  CHECK(points_for_devices(
            costs, {.points = 60'000, .worker_ns = 100, .wave_ns = 500'000, .lanes = 10'000, .workers = 3}) == 0);
}

TEST_CASE("a device that is slower than a worker gets nothing more") {
  CHECK(points_for_devices(
            costs, {.points = 1 << 30, .worker_ns = 100, .wave_ns = 1'000'001, .lanes = 10'000, .workers = 4}) == 0);
  CHECK(points_for_devices(
            costs, {.points = 1 << 30, .worker_ns = 100, .wave_ns = 1'000'000, .lanes = 10'000, .workers = 4}) > 0);
}

}  // namespace raddle::vm
