#pragma once
// Tasks, data and devices as policies see them: numbers, and nothing of what they stand for.
#include <cstdint>
#include <span>
#include <vector>

namespace raddle::vm {

using TaskId = std::uint32_t;    ///< index of PlacedTasks
using DataId = std::uint32_t;    ///< dense, from 0: a buffer, or a tile of an array
using DeviceId = std::uint32_t;  ///< dense, from 0
inline constexpr DataId no_datum = ~DataId{0};

struct PlacedTask {
  std::vector<DataId> operands = {};  ///< distinct: what is read, as declared, then what is only written
  std::uint32_t read_count = 0;       ///< so many of the operands are read
  std::vector<DataId> writes = {};    ///< operands that are written; those that are read, too, are in both
  std::int64_t duration_ns = 0;
  std::int32_t priority = 0;  ///< higher is more urgent
  std::uint64_t order = 0;    ///< when it comes in the program, as far as is known; no two have the same
  std::uint32_t arrival = 0;  ///< the how many-th to be released; set before a policy hears of it

  std::span<const DataId> reads() const { return std::span(operands).first(read_count); }
};
using PlacedTasks = std::vector<PlacedTask>;

}  // namespace raddle::vm
