#include "stdlib/numbers/npy.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace raddle::stdlib::native {
namespace {

std::string file_with(const std::string& dictionary, std::size_t data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\x00', static_cast<char>(dictionary.size()), '\x00'};
  if (version > 1) bytes.append(2, '\x00');
  return bytes + dictionary + std::string(data, 'x');
}

std::string error_of(const std::string& bytes) {
  const auto header = read_npy_header(bytes);
  return header ? "" : header.error();
}

}  // namespace

TEST_CASE("npy: a header that was written is read") {
  for (const std::vector<std::int64_t>& extents : std::vector<std::vector<std::int64_t>>{{3}, {2, 5}, {0, 4}, {}}) {
    std::size_t count = 8;
    for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
    const std::string bytes = npy_header('f', 8, extents) + std::string(count, '\x00');
    const auto header = read_npy_header(bytes);
    REQUIRE(header.has_value());
    CHECK(header->kind == 'f');
    CHECK(header->size == 8);
    CHECK_FALSE(header->is_column_major);
    CHECK(header->extents == extents);
    CHECK(header->data_begin % 64 == 0);
  }
}

TEST_CASE("npy: headers of others") {
  const std::string old = file_with("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }\n", 24);
  REQUIRE(read_npy_header(old).has_value());
  CHECK(read_npy_header(old)->text() == "int32[3, 2]");
  CHECK(read_npy_header(old)->is_column_major);
  CHECK(read_npy_header(file_with("{'shape': (2,), 'fortran_order': False, 'descr': '|b1'}", 2, 3)).has_value());
}

TEST_CASE("npy: what can not be read says why") {
  CHECK(error_of("a,b") == "is no NumPy file");
  CHECK(error_of(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 23)) ==
        "is cut short: float64[3] needs 24 bytes, found 23");
  CHECK(error_of(file_with("{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", 8)) ==
        "is big-endian: only little-endian files are read");
  CHECK(error_of(file_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8)) ==
        "holds elements of the type `|O`, which is not read");
  CHECK(error_of(file_with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", 8)) ==
        "holds records, not numbers");
  CHECK(error_of(file_with("{'descr': '<f8', 'shape': (-1,), }", 8)) == "is no NumPy file: its header can not be read");
  CHECK(error_of(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", 8)) ==
        "is cut short");
  CHECK(error_of(file_with("{'descr'", 0)) == "is no NumPy file: its header can not be read");
  CHECK(error_of(std::string("\x93NUMPY\x01\x00\xff\xff", 10)) == "is cut short");
  for (std::size_t size = 0; size < 80; ++size)
    static_cast<void>(
        error_of(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 24).substr(0, size)));
}

}  // namespace raddle::stdlib::native
