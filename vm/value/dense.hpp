#pragma once
// Dense arrays as values: structures of the array of the elements, in row-major order, and the extents. What makes them
// one is the name of their first field, which no script can write.
#include <cstdint>
#include <string>
#include <vector>

#include "vm/value/structure.hpp"

namespace raddle::vm {

inline constexpr const char* dense_elements_name = "[:]";

bool is_dense(const Structure& structure);
/// Those that are there. @pre is_dense(structure)
std::vector<std::int64_t> dense_extents(Structure& structure);

enum class DenseElements : std::uint8_t {
  all,
  shown,  ///< of more than 1,000 the first and the last three of each dimension
};
/// As a literal reads, a row in a line.
/// @pre is_dense(structure); its elements are complete
std::string dense_text(Structure& structure, DenseElements which);

}  // namespace raddle::vm
