#include "stdlib/numbers/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace raddle::stdlib::native {
namespace {

using Fault = std::unexpected<std::string>;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64, most_dimensions = 32;
constexpr std::size_t longest_header = 1 << 20;  ///< bytes; some 100 are usual

std::string type_text(char kind, std::size_t size) {
  if (kind == 'b') return "bool";
  return fmt::format("{}{}", kind == 'f' ? "float" : kind == 'i' ? "int" : "uint", size * 8);
}

/// The dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}
  static Fault fault() { return Fault("is no NumPy file: its header can not be read"); }

  std::expected<NpyHeader, std::string> read() {
    if (!accept("{")) return fault();
    while (!accept("}")) {
      const std::optional<std::string_view> key = quoted();
      if (!key || !accept(":")) return fault();
      if (*key == "descr") {
        if (auto read = element_type(); !read) return Fault(std::move(read.error()));
      } else if (*key == "fortran_order") {
        header_.is_column_major = accept("True");
        if (!header_.is_column_major && !accept("False")) return fault();
      } else if (*key != "shape" || !shape()) {
        return fault();
      }
      accept(",");
    }
    if (!has_type_ || !has_shape_) return fault();
    return std::move(header_);
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool accept(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::expected<void, std::string> element_type() {
    const std::optional<std::string_view> text = quoted();
    if (!text) return Fault("holds records, not numbers");
    const char order = text->empty() ? ' ' : text->front();
    header_.kind = text->size() > 1 ? (*text)[1] : ' ';
    std::size_t size = 0;
    const auto [end, error] =
        std::from_chars(text->data() + std::min<std::size_t>(2, text->size()), text->data() + text->size(), size);
    const bool is_known =
        error == std::errc() && end == text->data() + text->size() &&
        ((header_.kind == 'f' && (size == 4 || size == 8)) ||
         ((header_.kind == 'i' || header_.kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8)) ||
         (header_.kind == 'b' && size == 1));
    if (!is_known) return Fault(fmt::format("holds elements of the type `{}`, which is not read", *text));
    if (order == '>' && size > 1) return Fault("is big-endian: only little-endian files are read");
    header_.size = size;
    has_type_ = true;
    return {};
  }
  bool shape() {
    if (!accept("(")) return false;
    while (!accept(")")) {
      skip_blanks();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0 || header_.extents.size() == most_dimensions) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header_.extents.push_back(extent);
      accept(",");
    }
    return has_shape_ = true;
  }

  std::string_view rest_;
  NpyHeader header_;
  bool has_type_ = false, has_shape_ = false;
};

}  // namespace

std::string NpyHeader::text() const { return fmt::format("{}[{}]", type_text(kind, size), fmt::join(extents, ", ")); }

std::string NpyHeader::cut_short_text(std::size_t found) const {
  return fmt::format("is cut short: {} needs {} bytes, found {}", text(), count * size, found);
}

std::expected<NpyHeader, std::string> read_npy_header(ByteSource& source) {
  const auto take = [&source](std::size_t count) -> std::expected<std::string, std::string> {
    std::string bytes(count, '\0');
    const auto read = source.read(std::as_writable_bytes(std::span(bytes)));
    if (!read) return Fault(read.error());
    bytes.resize(*read);
    return bytes;
  };
  const auto begin = take(10);
  if (!begin) return Fault(begin.error());
  if (!begin->starts_with(magic) || begin->size() < 10) return Fault("is no NumPy file");
  const auto byte = [](const std::string& bytes, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
  };
  const std::size_t version = byte(*begin, 6);
  if (version < 1 || version > 3)
    return Fault(fmt::format("is a NumPy file of version {}, which is not read", version));
  std::size_t size = byte(*begin, 8) | byte(*begin, 9) << 8;
  std::size_t before = begin->size();
  if (version > 1) {
    const auto more = take(2);
    if (!more) return Fault(more.error());
    if (more->size() < 2) return Fault("is cut short");
    size |= byte(*more, 0) << 16 | byte(*more, 1) << 24;
    before += more->size();
  }
  if (size > longest_header) return HeaderReader::fault();
  const auto text = take(size);
  if (!text) return Fault(text.error());
  if (text->size() < size) return Fault("is cut short");
  auto header = HeaderReader(*text).read();
  if (!header) return header;
  header->data_begin = before + size;
  std::size_t bytes = header->size;
  header->count = 1;
  for (const std::int64_t extent : header->extents) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) return Fault("is cut short");
    header->count *= static_cast<std::size_t>(extent);
  }
  return header;
}

std::string npy_header(char kind, std::size_t size, std::span<const std::int64_t> extents) {
  std::string text =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}", size == 1 ? '|' : '<', kind, size,
                  fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
  const std::size_t before = magic.size() + 4;
  text.append((alignment - (before + text.size() + 1) % alignment) % alignment, ' ') += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace raddle::stdlib::native
