#pragma once
// Dense arrays as values: structures of the array of the elements, in row-major order, and the extents. What makes them
// one is the name of their first field, which no script can write.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "vm/value/structure.hpp"

namespace raddle::vm {

inline constexpr const char* dense_elements_name = "[:]";

bool is_dense(const Structure& structure);
/// Those that are there. @pre is_dense(structure)
std::vector<std::int64_t> dense_extents(Structure& structure);

struct DenseLayout {
  std::int64_t most;        ///< of more elements the first and the last three of each dimension are shown
  std::size_t columns = 0;  ///< longer rows are wrapped; 0: none
};
inline constexpr DenseLayout whole_dense_layout = {std::numeric_limits<std::int64_t>::max()};
inline constexpr DenseLayout traced_dense_layout = {1000};
/// As a literal reads, a row in a line.
/// @pre is_dense(structure); its elements are complete
std::string dense_text(Structure& structure, DenseLayout layout);

}  // namespace raddle::vm
