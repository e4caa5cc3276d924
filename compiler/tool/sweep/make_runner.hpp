#pragma once
// What runs the points of a sweep.
#include <cstdint>
#include <expected>
#include <memory>

#include "compiler/tool/sweep/runner.hpp"
#include "compiler/tool/sweep/sweep_plan.hpp"

namespace raddle::tool {

/// @param plan       lives longer
/// @param points     how many there are: so many runs at once, and no more than jobs, share the machine
/// @param timeout_s  of a point; 0: none
/// @return           or an exit code, all said: too few open files are allowed for so many at once
/// @throws           std::system_error where no thread or file can be had
std::expected<std::unique_ptr<sweep::PointRunner>, int> make_runner(const SweepPlan& plan, std::uint64_t points,
                                                                    double timeout_s);

}  // namespace raddle::tool
