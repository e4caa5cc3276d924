#pragma once
// The points of a recorded run, one by one, however they were done.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// Points that were done together have their parameters made anew from the command line; their keys tell where these
/// are not what they were.
struct UnknownParameters {
  std::uint64_t points = 0;  ///< that were visited without parameters
  std::string table;         ///< of --from: it may have changed. "": none
};

/// Every attempt of `run` itself, not what it has taken from earlier runs: first those at points by themselves, in the
/// order of their ends, then points that were done together, each with its share of the time, and only the lower half
/// of its key.
/// @param point  only this one   @param visit  returns false to end it
UnknownParameters for_each_recorded_point(vm::RunRecord& record, const vm::RunRow& run,
                                          std::optional<std::uint64_t> point,
                                          const std::function<bool(const vm::PointRow&)>& visit);

}  // namespace raddle::tool
