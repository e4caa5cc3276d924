#pragma once
// Ranges `[low:high:step]`: inclusive, downwards if the step is negative. How many values they have, and as arrays.
#include <cstdint>
#include <expected>
#include <string>

#include "vm/value/array.hpp"

namespace raddle::vm {

/// What is wrong with the step of a range, or nullptr.
const char* step_fault(std::int64_t low, std::int64_t step);
const char* step_fault(double low, double step);

/// Number of k >= 0 with low + k*step <= high, or >= for a negative step; at most INT64_MAX - 1. @pre no step_fault()
std::int64_t range_count(std::int64_t low, std::int64_t high, std::int64_t step);
std::int64_t range_count(double low, double high, double step);

/// The k-th value. @pre k < range_count()
inline std::int64_t range_value(std::int64_t low, std::int64_t step, std::int64_t k) {
  // unsigned: k*step may leave the ints where the sum does not
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                   static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(step));
}
inline double range_value(double low, double step, std::int64_t k) {
  return k == 0 ? low : low + static_cast<double>(k) * step;  // the step may be Inf
}

/// The closed array of the values, keys 0.. @error step_fault(); there are more values than are kept in memory
template <typename T>
std::expected<Ref<Array>, std::string> make_range(T low, T high, T step);

extern template std::expected<Ref<Array>, std::string> make_range(std::int64_t, std::int64_t, std::int64_t);
extern template std::expected<Ref<Array>, std::string> make_range(double, double, double);

}  // namespace raddle::vm
