#pragma once
// Why points of a recorded run were run, or where their results come from.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/runs/value_difference.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

struct PointReason {
  std::uint64_t number = 0;        ///< of the point, or of the task
  std::uint64_t point = 0;         ///< not 0: of a sweep, and the task is of this point
  std::string parameters = "{}";   ///< JSON object
  std::string_view state = "run";  ///< `from the record`, `waits`, `not run`
  std::string because = {};
  std::string earlier_run = {};  ///< "": none
  std::uint64_t earlier_number = 0, earlier_point = 0;
  std::vector<ValueDifference> differences = {};  ///< to the earlier point or task
};

/// @param numbers  of points of the run
/// @return         for each number its reason; nothing if the sweep has no such point
std::vector<std::optional<PointReason>> reasons_of(vm::RunRecord& record, const vm::RunRow& run,
                                                   std::span<const std::uint64_t> numbers);

}  // namespace raddle::tool
