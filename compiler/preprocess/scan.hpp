#pragma once
// The preprocessor's view of a text: coarser than the lexer's tokens. Private to compiler/preprocess.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/source/source_buffer.hpp"

namespace raddle::preprocessor {

enum class TokenKind : std::uint8_t {
  name,
  number,
  string,  ///< with its marks
  blank,   ///< blanks and comments, on one line or several
  newline,
  hash,   ///< a `#` that begins a line: perhaps a directive
  other,  ///< one character
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool final = false;  ///< a name that is not to be replaced any more
  bool made = false;   ///< it comes from the text of a macro; `from` is where that is used
  std::string_view text;
  Span from;
};

/// A sign, or one that stands for several.
inline bool is_other(const Token& token, std::string_view text) {
  return token.kind == TokenKind::other && token.text == text;
}

bool is_name_start(char c);
bool is_name_character(char c);
bool is_blank(char c);

/// True for the words that make a line beginning with `#` a directive.
bool is_directive(std::string_view word);

/// @return the directive that `word`, which is none, may be misspelt for; "" if it looks like none
std::string misspelt_directive(std::string_view word);

/// Cuts a text into tokens. Nothing is wrong here: what is, the lexer will say.
class Scanner {
 public:
  /// @param begin, end  the part to be read
  Scanner(std::uint32_t file, std::string_view text, std::uint32_t begin, std::uint32_t end);
  Scanner(std::uint32_t file, std::string_view text)
      : Scanner(file, text, 0, static_cast<std::uint32_t>(text.size())) {}

  Token next();
  /// As next() behind the `#` of a directive: newlines behind a backslash are blanks, `#` is a character.
  Token next_in_directive();
  std::uint32_t offset() const { return at_; }
  std::uint32_t file() const { return file_; }
  /// Goes to the end of the line, or of its last continuation.
  void skip_directive();
  /// The beginning of a comment that was not closed on its line, in what next_in_directive() has read; told once.
  std::optional<Span> take_open_comment() { return std::exchange(open_comment_, std::nullopt); }

 private:
  Token token(TokenKind kind, std::uint32_t begin);
  Token word_or_other(std::uint32_t begin);
  bool at_text(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  /// At a backslash that ends a line: the length of both, else 0.
  std::uint32_t splice_length() const;
  void skip_blanks();
  void skip_blanks_and_splices();
  bool skip_comment();
  bool skip_comment_of_line();  ///< in directives and lines of `#` comments: no comment goes on in the next line
  bool skip_string();
  bool skip_long_string(std::string_view mark);
  std::uint32_t end_of_line(std::uint32_t from) const;
  /// A line within [begin, end) that begins with a directive: the quote in front of it has no partner.
  bool holds_directive(std::uint32_t begin, std::uint32_t end) const;

  std::uint32_t file_;
  std::string_view text_;
  std::uint32_t at_;
  bool line_start_ = true;  ///< nothing but blanks since the newline
  std::optional<Span> open_comment_;
};

}  // namespace raddle::preprocessor
