#pragma once
// Points of a launch that devices compute.
#include <cstdint>
#include <vector>

#include "vm/device/devices.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::vm {

/// The next iterations of its range. Belongs to the devices until they have filled in
/// `outcome`, then to the queue. Owns a reference to the frame around the loop, and stands for one writer of each array
/// that the loop writes.
class DevicePiece final : public Cell {
 public:
  DevicePiece(const RangeTask& range, std::int64_t count) : range(range), count(count) {}
  void run(Worker& worker) override;

  RangeTask range;
  const std::int64_t count;
  DeviceOutcome outcome;
  std::vector<Buffer::Owner> results;  ///< by sink. Null: they go straight into the array, where they were claimed
};

}  // namespace raddle::vm
