#pragma once
// What rows of points write into arrays.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/value/array.hpp"
#include "vm/value/open_numbers.hpp"

namespace raddle::vm {

/// By sink: the array, and which of its open numbers. All have as many rows.
struct SinkRows {
  static constexpr std::size_t most = 32;
  std::span<Array* const> arrays;  ///< at most so many
  std::array<NumberRows, most> rows = {};

  /// @return of how many rows, from the first one on, all could be claimed
  std::int64_t claim() {
    std::int64_t count = arrays.empty() ? 0 : rows[0].rows;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::int64_t claimed = arrays[i]->numbers()->claim_rows(rows[i].up_to(count));
      for (std::size_t before = 0; before < i && claimed < count; ++before)
        arrays[before]->numbers()->give_back_rows(rows[before].up_to(count).from(claimed));
      count = claimed;
    }
    return count;
  }
  /// Of `claimed` rows only `made` have been written.
  void tell(std::int64_t made, std::int64_t claimed, WakeList& wakes) const {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (made > 0) arrays[i]->tell_written(rows[i].up_to(made), wakes);
      arrays[i]->numbers()->give_back_rows(rows[i].up_to(claimed).from(made));
    }
  }
};

}  // namespace raddle::vm
