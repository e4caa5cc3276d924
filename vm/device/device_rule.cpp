#include "vm/device/device_rule.hpp"

#include <algorithm>
#include <cmath>

namespace raddle::vm {

namespace {

constexpr std::int64_t worth = 20;    ///< times what a batch costs beside its points
constexpr double worth_start = 2;     ///< times what it takes to get code: first guesses of a point's time are high
constexpr double piece_ns = 5e6;      ///< that a piece takes on a device
constexpr double pieces_at_once = 2;  ///< a device has so many, which take the longer

}  // namespace

std::int64_t wave_ns_of(std::int64_t spent_ns, std::int64_t count, std::int64_t lanes) {
  if (count <= lanes) return spent_ns;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(spent_ns) *
                                                             static_cast<double>(lanes) / static_cast<double>(count)));
}

std::int64_t expected_ns_of(const LaunchOutlook& launch) {
  const double wave = launch.wave_ns != 0 ? static_cast<double>(launch.wave_ns) : lane_slowness * launch.worker_ns;
  const std::int64_t waves = (launch.points + launch.lanes - 1) / launch.lanes;
  return static_cast<std::int64_t>(std::ceil(wave * static_cast<double>(waves)));
}

bool is_worth_code(const DeviceCosts& costs, const LaunchOutlook& launch) {
  const double spent = static_cast<double>(launch.points) * launch.worker_ns;
  return launch.worker_ns != 0 && spent / launch.workers >= worth_start * static_cast<double>(costs.start_ns);
}

std::int64_t points_for_devices(const DeviceCosts& costs, const LaunchOutlook& launch) {
  if (launch.worker_ns == 0) return 0;
  const bool is_known = launch.wave_ns != 0;
  const auto lanes = static_cast<double>(launch.lanes), points = static_cast<double>(launch.points);
  const double worker = launch.worker_ns;
  const double wave = is_known ? static_cast<double>(launch.wave_ns) : lane_slowness * worker;
  if (wave > lanes * worker) return 0;
  const double least = std::ceil(static_cast<double>(worth * costs.batch_ns) / worker);
  const double wanted = std::max({lanes, least, is_known ? piece_ns / wave * lanes : 0.0});
  // both sides end together: the device with this piece and one before it, the workers with the rest
  const double rate_of_workers = launch.workers / worker, rate_of_device = lanes / (pieces_at_once * wave);
  double share = points * rate_of_device / (rate_of_device + rate_of_workers);
  if (share < lanes) share = std::min(lanes, points - pieces_at_once * wave * rate_of_workers);
  const double given = std::floor(std::min(wanted, share));
  return given < least ? 0 : static_cast<std::int64_t>(given);
}

}  // namespace raddle::vm
