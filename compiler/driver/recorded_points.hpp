#pragma once
// The points of a recorded run, one by one, however they were done.
#include <cstdint>
#include <functional>
#include <optional>

#include "vm/record/run_record.hpp"

namespace raddle::driver {

/// Every attempt of `run` itself, not what it has taken from earlier runs: first those at points by themselves, in the
/// order of their ends, then points that were done together, each with its share of the time.
/// @param point  only this one   @param visit  returns false to end it
void for_each_recorded_point(vm::RunRecord& record, const vm::RunRow& run, std::optional<std::uint64_t> point,
                             const std::function<bool(const vm::PointRow&)>& visit);

}  // namespace raddle::driver
