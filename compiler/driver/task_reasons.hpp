#pragma once
// Why tasks of a recorded run of a script were run: programs, and calls of `@memo` functions.
#include "compiler/driver/point_reasons.hpp"

namespace raddle::driver {

/// As reasons_of() of points. @param numbers  of tasks of the run
std::vector<std::optional<PointReason>> task_reasons_of(vm::RunRecord& record, const vm::RunRow& run,
                                                        std::span<const std::uint64_t> numbers);

}  // namespace raddle::driver
