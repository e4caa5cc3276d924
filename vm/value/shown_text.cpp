#include "vm/value/shown_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// Bytes of the character that begins at `at`, by the Unicode standard's table 3-7; 0: none does.
std::size_t character_size(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at), second = byte_at(text, at + 1);
  const auto is_within = [](unsigned byte, unsigned least, unsigned most) { return byte >= least && byte <= most; };
  const auto continues = [&](std::size_t index) { return is_within(byte_at(text, at + index), 0x80, 0xBF); };
  if (first < 0x80) return 1;
  if (is_within(first, 0xC2, 0xDF)) return continues(1) ? 2 : 0;
  if (is_within(first, 0xE0, 0xEF)) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80, most = first == 0xED ? 0x9F : 0xBF;  // no surrogates
    return is_within(second, least, most) && continues(2) ? 3 : 0;
  }
  if (!is_within(first, 0xF0, 0xF4)) return 0;
  const unsigned least = first == 0xF0 ? 0x90 : 0x80, most = first == 0xF4 ? 0x8F : 0xBF;
  return is_within(second, least, most) && continues(2) && continues(3) ? 4 : 0;
}

/// Of a sequence that only sets colours and weights, `ESC [ 1;31 m`; 0: none begins there.
std::size_t colour_size(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;:", at + 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 - at : 0;
}

bool is_control(unsigned byte) { return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F; }

std::string cleaned(std::string_view text, bool is_for_terminal) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    const unsigned first = byte_at(text, at);
    const bool is_late_control = size == 2 && first == 0xC2 && byte_at(text, at + 1) < 0xA0;  // U+0080 to U+009F
    if (size == 0) {
      clean += replacement;
    } else if (is_for_terminal && colour_size(text, at) != 0) {
      at += colour_size(text, at);
      continue;
    } else if (is_for_terminal && (is_control(first) || is_late_control)) {
      const bool ends_line = first == '\r' && byte_at(text, at + 1) == '\n';
      if (!ends_line) clean += fmt::format("\\x{:02x}", is_late_control ? byte_at(text, at + 1) : first);
    } else {
      clean += text.substr(at, size);
    }
    at += std::max<std::size_t>(size, 1);
  }
  return clean;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char sign) { return (sign >= ' ' && sign <= '~') || sign == '\n' || sign == '\t'; });
}

}  // namespace

std::string valid_text(std::string_view text) { return is_plain(text) ? std::string(text) : cleaned(text, false); }

std::string shown_text(std::string_view text) { return is_plain(text) ? std::string(text) : cleaned(text, true); }

int write_text(int fd, std::string_view text) {
  if (is_plain(text)) return write_all(fd, text);  // mostly
  return write_all(fd, cleaned(text, isatty(fd) != 0));
}

}  // namespace raddle::vm
