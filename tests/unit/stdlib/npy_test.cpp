#include "stdlib/numbers/npy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/numbers/npy_numbers.hpp"

namespace raddle::stdlib::native {
namespace {

std::string file_with(const std::string& dictionary, std::size_t data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\x00', static_cast<char>(dictionary.size()), '\x00'};
  if (version > 1) bytes.append(2, '\x00');
  return bytes + dictionary + std::string(data, 'x');
}

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  std::expected<std::size_t, std::string> read(std::span<std::byte> bytes) override {
    const std::size_t count = std::min(bytes.size(), rest_.size());
    std::memcpy(bytes.data(), rest_.data(), count);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

std::expected<NpyHeader, std::string> header_of(const std::string& bytes) {
  TextSource source(bytes);
  return read_npy_header(source);
}

std::string error_of(const std::string& bytes) {
  TextSource source(bytes);
  const auto header = read_npy_header(source);
  if (!header) return header.error();
  const auto numbers = read_npy_numbers<double>(source, *header);
  return numbers ? "" : numbers.error();
}

}  // namespace

TEST_CASE("npy: a header that was written is read") {
  for (const std::vector<std::int64_t>& extents : std::vector<std::vector<std::int64_t>>{{3}, {2, 5}, {0, 4}, {}}) {
    std::size_t count = 8;
    for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
    const std::string bytes = npy_header('f', 8, extents) + std::string(count, '\x00');
    const auto header = header_of(bytes);
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
  REQUIRE(header_of(old).has_value());
  CHECK(header_of(old)->text() == "int32[3, 2]");
  CHECK(header_of(old)->is_column_major);
  CHECK(header_of(file_with("{'shape': (2,), 'fortran_order': False, 'descr': '|b1'}", 2, 3)).has_value());
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
  CHECK(error_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)) ==
        "is no NumPy file: its header can not be read");
  for (std::size_t size = 0; size < 80; ++size)
    static_cast<void>(
        error_of(file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 24).substr(0, size)));
}

TEST_CASE("npy: columns come to where they belong in rows") {
  const std::string bytes = file_with("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3), }", 0) +
                            std::string("\x00\x00\x0a\x00\x01\x00\x0b\x00\x02\x00\x0c\x00", 12);  // 0 10, 1 11, 2 12
  TextSource source(bytes);
  const auto header = read_npy_header(source);
  REQUIRE(header.has_value());
  CHECK_FALSE(holds_exactly<bool>(*header));
  CHECK_FALSE(holds_exactly<double>(*header));
  REQUIRE(holds_exactly<std::int64_t>(*header));
  const auto numbers = read_npy_numbers<std::int64_t>(source, *header);
  REQUIRE(numbers.has_value());
  const auto* const found = static_cast<const std::int64_t*>((*numbers)->data());
  CHECK(std::vector<std::int64_t>(found, found + 6) == std::vector<std::int64_t>{0, 1, 2, 10, 11, 12});
}

}  // namespace raddle::stdlib::native
