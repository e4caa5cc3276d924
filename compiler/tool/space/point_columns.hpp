#pragma once
// Keys and values of many points at once, without texts: for points that take some nanoseconds each.
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/tool/space/known_values.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "compiler/tool/space/space.hpp"

namespace raddle::sweep {

/// Immutable: any thread.
class PointColumns {
 public:
  /// Reads and hashes each value that is known.
  PointColumns(const Space& space, const PointKeys& keys, const KnownValues& values);
  /// PointKey::low of each.
  std::vector<std::uint64_t> keys(std::span<const std::uint64_t> numbers) const;
  /// @pre the values of the parameter can be read as numbers; those of ints() are digits
  std::vector<double> floats(std::size_t parameter, std::span<const std::uint64_t> numbers) const;
  std::vector<std::int64_t> ints(std::size_t parameter, std::span<const std::uint64_t> numbers) const;
  /// Point::seed of each.
  std::vector<std::int64_t> seeds(std::span<const std::uint64_t> numbers) const;

 private:
  struct Known {
    std::vector<std::uint64_t> hashes;  // low halves, by index of the value; empty: too many
    std::vector<double> floats;
    std::vector<std::int64_t> ints;
  };
  template <typename Number, typename Read>
  std::vector<Number> column(std::size_t parameter, std::span<const std::uint64_t> numbers,
                             const std::vector<Number> Known::*known, const Read& read) const;

  const Space& space_;
  const PointKeys& keys_;
  std::vector<Known> known_;  // by parameter
};

}  // namespace raddle::sweep
