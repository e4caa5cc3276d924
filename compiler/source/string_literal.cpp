#include "compiler/source/string_literal.hpp"

#include <fmt/format.h>

namespace raddle {

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (c == '\xC2' && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F: control characters, too
      literal += fmt::format("\\x{:02x}", next);
      ++at;
      continue;
    }
    switch (c) {
      case '"': literal += "\\\""; break;
      case '\\': literal += "\\\\"; break;
      case '\n': literal += "\\n"; break;
      case '\r': literal += "\\r"; break;
      case '\t': literal += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
          literal += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
          literal += c;
    }
  }
  return literal + '"';
}

}  // namespace raddle
