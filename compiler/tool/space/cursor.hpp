#pragma once
// The points of a space one after the other, as a sweep runs them: its shard, its order, those that a filter keeps.
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/space/permutation.hpp"
#include "compiler/tool/space/space.hpp"

namespace raddle::sweep {

/// Which of these points belong to the sweep. @error  what the filter failed with, at some point
using PointFilter = std::function<std::expected<std::vector<bool>, std::string>(const std::vector<Point>&)>;

struct CursorOptions {
  std::uint64_t shard = 1, shard_count = 1;                ///< every shard_count-th point, from the shard-th on
  std::optional<std::uint64_t> order_seed = std::nullopt;  ///< random order
  std::vector<std::uint64_t> numbers = {};                 ///< not empty: only these
  PointFilter filter = {};                                 ///< may be empty
};

class Cursor {
 public:
  Cursor(const Space& space, const CursorOptions& options);
  /// How many points there are before the filter.
  std::uint64_t size() const { return size_; }
  /// How many of them have been looked at.
  std::uint64_t position() const { return position_; }
  /// @return nothing at the end, or where the filter failed: see error()
  std::optional<Point> next();
  /// The same, as its number.
  std::optional<std::uint64_t> next_number();
  const Space& space() const { return space_; }
  const std::string& error() const { return error_; }

 private:
  std::uint64_t number_at(std::uint64_t position) const;
  void refill();

  const Space& space_;
  const CursorOptions& options_;
  std::uint64_t size_ = 0, position_ = 0;
  std::optional<Permutation> order_;
  std::deque<std::uint64_t> kept_;  // numbers, by the filter, not handed out yet
  std::size_t block_size_ = 16;
  std::string error_;
};

}  // namespace raddle::sweep
