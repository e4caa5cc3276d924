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

  std::int64_t count() const { return iterations * points_each; }
  /// Results are written row by row, those of an iteration. All are one row if those of an iteration follow those of
  /// the one before.
  std::int64_t row_length() const { return is_one_row ? count() : points_each; }
  /// Of the first element of a row.
  std::int64_t key(std::size_t sink, std::int64_t row) const {
    std::int64_t key = keys[sink], rest = levels.empty() ? 0 : range.next_iteration + row;
    for (const Level& level : levels) {
      key += rest / level.each * level.strides[sink];
      rest %= level.each;
    }
    return key;
  }

  RangeTask range;
  std::int64_t iterations = 0;
  std::int64_t points_each = 1;  ///< of an iteration: of a nest those of the inner loop
  bool is_one_row = true;
  SinkArrays arrays;  ///< they live as long as the frame
  SinkKeys keys;      ///< of the first point; of a nest: where the loop's first iteration writes
  /// Of a nest: how far the rows lie apart of two iterations of one of its outer loops.
  struct Level {
    std::int64_t each = 1;  ///< CollapsedLoop::each
    SinkKeys strides{};
  };
  std::vector<Level> levels;  ///< the outermost loop first
  /// By sink. Null: they go straight into the array, where they were claimed
  std::vector<Buffer::Owner> results;
  DeviceOutcome outcome;
};

}  // namespace raddle::vm
