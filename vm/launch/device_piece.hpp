#pragma once
// Points of a launch that devices compute.
#include <cstdint>
#include <vector>

#include "vm/device/devices.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::vm {

/// The next iterations of its range. Belongs to the devices until they have filled in `outcome`, then to the queue.
/// Owns a reference to the frame around the loop, and stands for one writer of each array that the loop writes.
class DevicePiece final : public Cell {
 public:
  explicit DevicePiece(const RangeTask& range) : range(range) {}
  void run(Worker& worker) override;

  RangeTask range;
  std::int64_t count = 0;  ///< of iterations
  SinkArrays arrays;       ///< they live as long as the frame
  SinkKeys keys;           ///< of the first iteration
  /// By sink. Null: they go straight into the array, where they were claimed
  std::vector<Buffer::Owner> results;
  DeviceOutcome outcome;
};

}  // namespace raddle::vm
