#pragma once
// Words of the IR's text, for read_text.
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source_buffer.hpp"

namespace raddle::ir {

struct Token {
  enum class Kind : std::uint8_t {
    word,         ///< `add`, `int`, `inf`
    variable,     ///< %x.1, text without the %
    function,     ///< @f, text without the @
    number,       ///< 3, -1.5, 1e+20
    string,       ///< text with escapes resolved
    position,     ///< !0:3-7
    punctuation,  ///< text is one character, or `->`
    end,
  };
  Kind kind = Kind::end;
  std::string text;
  Span span;          ///< position
  unsigned line = 0;  ///< 1-based
};

/// @return the tokens, the last of kind end; or what is wrong
std::expected<std::vector<Token>, std::string> text_tokens(std::string_view text);

}  // namespace raddle::ir
