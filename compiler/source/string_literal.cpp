#include "compiler/source/string_literal.hpp"

#include <fmt/format.h>

namespace raddle {

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
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
