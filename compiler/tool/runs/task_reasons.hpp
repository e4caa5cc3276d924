#pragma once
// Why tasks of a recorded run were run: programs, and calls of `@memo` functions, of a script or of a sweep's point.
#include "compiler/tool/runs/point_reasons.hpp"

namespace raddle::tool {

/// As reasons_of() of points. @param point  of a sweep; 0: the run is a script's   @param numbers  of tasks
std::vector<std::optional<PointReason>> task_reasons_of(vm::RunRecord& record, const vm::RunRow& run,
                                                        std::uint64_t point, std::span<const std::uint64_t> numbers);

}  // namespace raddle::tool
