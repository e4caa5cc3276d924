#pragma once
// The header of NumPy's .npy files.
// Source: "NEP 1, a simple file format for NumPy arrays", versions 1.0 to 3.0.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "stdlib/numbers/byte_source.hpp"

namespace raddle::stdlib::native {

struct NpyHeader {
  char kind = 'f';       ///< f float, i int, u unsigned int, b boolean
  std::size_t size = 8;  ///< bytes of an element
  bool is_column_major = false;
  std::vector<std::int64_t> extents;
  std::size_t data_begin = 0;  ///< where the elements begin, in bytes
  std::size_t count = 0;       ///< of elements
  /// `float64[3, 4]`
  std::string text() const;
  /// What is to be told where there are not so many bytes of elements. @param found  how many there are
  std::string cut_short_text(std::size_t found) const;
};

/// @param source  at its beginning; behind it, the elements follow
/// @error  what is wrong with it: "is no NumPy file"
std::expected<NpyHeader, std::string> read_npy_header(ByteSource& source);
/// @param kind  as in NpyHeader; little-endian
std::string npy_header(char kind, std::size_t size, std::span<const std::int64_t> extents);

}  // namespace raddle::stdlib::native
