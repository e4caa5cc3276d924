#pragma once
// What a script is written of, one by one, and what the formatter has to know of each. Private to compiler/format.
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/format/format.hpp"
#include "compiler/parse/lexemes.hpp"

namespace raddle::format {

using Index = std::uint32_t;  ///< of a piece
inline constexpr Index no_piece = ~0u;

/// Why a line may be broken before a piece.
enum class Place : std::uint8_t {
  none,
  after_annotation,
  after_arrow,      ///< `=>`
  before_arrow,     ///< kept where the author broke the line, never made
  after_semicolon,  ///< in the head of a `for`
  after_comma,
  between_words,  ///< of a command line
  after_operator,
  before_operator,  ///< kept, never made
  after_assign,
  after_bracket,
  before_closing,  ///< kept if the line is broken behind the opening bracket, too
  between_parts,   ///< of a definition; kept, never made
};

struct Piece {
  LexemeKind kind;
  std::string_view text;
  std::uint32_t begin = 0;    ///< byte of the script
  std::uint32_t column = 0;   ///< characters before it on its line, as the author wrote it
  std::uint8_t newlines = 0;  ///< before it: 0, 1, or 2 if there is a blank line
  bool blank_before = false;  ///< blanks or newlines
  std::string_view lead;      ///< of the first piece of a line: the blanks before it
  Index partner = no_piece;   ///< of a bracket
  // set by mark_spacing
  bool spaced = true;  ///< a blank goes before it, on the same line
  Place place = Place::none;
  std::uint8_t precedence = 0;  ///< of the operator at an operator's place: loose ones break first
  std::uint16_t depth = 0;      ///< brackets around it within its statement

  bool is(std::string_view sign) const { return text == sign; }
  bool is_comment() const {
    return kind == LexemeKind::line_comment || kind == LexemeKind::block_comment || kind == LexemeKind::hash_line;
  }
  /// The rest of the line belongs to it.
  bool ends_line() const { return kind == LexemeKind::line_comment || kind == LexemeKind::hash_line; }
  bool opens() const { return kind == LexemeKind::sign && (is("(") || is("[") || is("{")); }
  bool closes() const { return kind == LexemeKind::sign && (is(")") || is("]") || is("}")); }
};
using Pieces = std::vector<Piece>;

/// Cuts the text into pieces and pairs the brackets. @return a fault if they do not pair
std::expected<Pieces, Fault> pieces_of(std::string_view text);

/// The text as it is written again: comments and hash lines of a file with CR LF lose the CR.
std::string text_to_write(const Piece& piece);

/// Columns that a text without newline takes.
std::size_t width_of(std::string_view text);

}  // namespace raddle::format
