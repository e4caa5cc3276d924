#include "stdlib/native/utf8.hpp"

namespace raddle::stdlib::native {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t announced_width(char byte) {
  const auto lead = static_cast<unsigned char>(byte);
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf8 ? 4 : 1;
}

}  // namespace

std::size_t utf8_width(std::string_view text, std::size_t offset) {
  const std::size_t announced = announced_width(text[offset]);
  for (std::size_t i = 1; i < announced; ++i) {
    if (offset + i >= text.size() || !continues(text[offset + i])) return 1;
  }
  return announced;
}

std::size_t utf8_length(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t offset = 0; offset < text.size(); offset += utf8_width(text, offset)) ++length;
  return length;
}

std::size_t utf8_offset(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; index > 0 && offset < text.size(); --index) offset += utf8_width(text, offset);
  return offset;
}

std::uint32_t utf8_code_point(std::string_view text, std::size_t offset) {
  const std::size_t width = utf8_width(text, offset);
  const auto lead = static_cast<unsigned char>(text[offset]);
  if (width == 1) return lead;
  std::uint32_t code_point = lead & (0xffu >> (width + 1));
  for (std::size_t i = 1; i < width; ++i) {
    code_point = code_point << 6 | (static_cast<unsigned char>(text[offset + i]) & 0x3fu);
  }
  return code_point;
}

void utf8_append(std::string& text, std::uint32_t code_point) {
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000)) code_point = 0xfffd;
  const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  const auto tail = [&](int shift) { byte(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    byte(0xe0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    byte(0xf0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string utf8_repaired(std::string_view text) {
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // by width: what is less has a shorter form
  constexpr std::uint32_t none = 0xfffd;
  std::string repaired;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t width = utf8_width(text, offset);
    const std::uint32_t code_point = utf8_code_point(text, offset);
    const bool is_stray = width == 1 && code_point >= 0x80;
    utf8_append(repaired, is_stray || code_point < least[width] ? none : code_point);
    offset += width;
  }
  return repaired;
}

}  // namespace raddle::stdlib::native
