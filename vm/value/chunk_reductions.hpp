#pragma once
// Of arrays that are only reduced: what stands for their elements.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "vm/value/element_table.hpp"
#include "vm/value/reduction.hpp"

namespace raddle::vm {

/// What whole chunks of one array come to.
struct ChunkReductions {
  std::size_t count = 0;  ///< of elements
  ReductionTree<std::int64_t> ints;
  ReductionTree<double> floats;

  /// Of the keys `first` to first + 255. @pre ints or floats
  void add(std::int64_t first, const NumberChunk& numbers, bool has_deviation);
  void add(const ChunkReductions& others);
  template <typename T>
  const ReductionTree<T>& tree() const {
    if constexpr (std::is_same_v<T, double>)
      return floats;
    else
      return ints;
  }
};

}  // namespace raddle::vm
