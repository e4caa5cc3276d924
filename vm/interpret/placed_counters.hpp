#pragma once
// What was done with placed calls: Note [placed calls].
#include <cstdint>

namespace raddle::vm {

struct PlacedCounters {
  std::uint64_t calls = 0;      ///< that read something
  std::uint64_t loads = 0;      ///< of arrays, that were planned
  std::uint64_t evictions = 0;  ///< likewise
  std::uint64_t lost = 0;       ///< arrays that left memory though the policy had not said so
};

}  // namespace raddle::vm
