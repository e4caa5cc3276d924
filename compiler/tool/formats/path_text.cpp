#include "compiler/tool/formats/path_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "stdlib/native/utf8.hpp"

namespace raddle::sweep {
namespace {

constexpr std::string_view quote = "$'", byte_sign = "\\x";
constexpr std::size_t byte_digits = 2;

bool is_quoted(const std::string& text) { return text.starts_with(quote) && text.ends_with('\''); }

}  // namespace

std::string path_text(const std::string& path) {
  if (!is_quoted(path) && stdlib::native::utf8_repaired(path) == path) return path;
  std::string text(quote);
  for (const char sign : path) {
    const bool is_plain = sign >= ' ' && sign <= '~' && sign != '\'' && sign != '\\';
    text += is_plain ? std::string(1, sign) : fmt::format("{}{:02x}", byte_sign, static_cast<unsigned char>(sign));
  }
  return text + '\'';
}

std::string path_of_text(const std::string& text) {
  if (!is_quoted(text)) return text;
  std::string path;
  const std::size_t end = text.size() - 1;
  for (std::size_t at = quote.size(); at < end;) {
    unsigned byte = 0;
    const char* const digits = text.data() + at + byte_sign.size();
    if (text.compare(at, byte_sign.size(), byte_sign) == 0 &&
        std::from_chars(digits, std::min(digits + byte_digits, text.data() + end), byte, 16).ec == std::errc()) {
      path += static_cast<char>(byte);
      at += byte_sign.size() + byte_digits;
    } else {
      path += text[at++];
    }
  }
  return path;
}

}  // namespace raddle::sweep
