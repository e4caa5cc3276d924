#pragma once
// A file cut into what it is written of, comments included: for tools that work on the text, not on its meaning.
#include <cstdint>
#include <string_view>
#include <vector>

namespace raddle {

enum class LexemeKind : std::uint8_t {
  word,  ///< names and reserved words
  number,
  string,         ///< with its marks; may span lines
  sign,           ///< operators, brackets, punctuation
  line_comment,   ///< `//` to the end of the line, which is not part of it
  block_comment,  ///< may span lines
  hash_line,      ///< `#` to the end of the line: a comment or a directive, with the lines that a `\\` joins to it
  wrong,          ///< what is no token, or not surely: an open string, a stray character, a string around a directive
};

struct Lexeme {
  LexemeKind kind;
  std::uint32_t begin, end;  ///< bytes of the text
};

/// All lexemes of `text` in order; between them are blanks only. Nothing is preprocessed.
std::vector<Lexeme> lexemes_of(std::string_view text);

}  // namespace raddle
