#pragma once
// The header of NumPy's .npy files.
// Source: "NEP 1, a simple file format for NumPy arrays", versions 1.0 to 3.0.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::stdlib::native {

struct NpyHeader {
  char kind = 'f';       ///< f float, i int, u unsigned int, b boolean
  std::size_t size = 8;  ///< bytes of an element
  bool is_column_major = false;
  std::vector<std::int64_t> extents;
  std::size_t data_begin = 0;  ///< where the elements begin
  /// `float64[3, 4]`
  std::string text() const;
};

/// Checks that all elements are there. @param bytes  of the whole file
/// @error  what is wrong with it
std::expected<NpyHeader, std::string> read_npy_header(std::string_view bytes);
/// @param kind  as in NpyHeader; little-endian
std::string npy_header(char kind, std::size_t size, std::span<const std::int64_t> extents);

}  // namespace raddle::stdlib::native
