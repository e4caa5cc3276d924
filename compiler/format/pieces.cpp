#include "compiler/format/pieces.hpp"

#include <algorithm>

namespace raddle::format {

namespace {

constexpr std::size_t max_nesting = 1000;  ///< the parser's limit, too

/// Goes through the text once, and says where pieces stand.
class Ruler {
 public:
  explicit Ruler(std::string_view text) : text_(text) {}

  /// @param end_of_previous  byte behind the piece before, 0 for the first
  void measure(std::uint32_t end_of_previous, Piece& piece) {
    const std::string_view gap = text_.substr(end_of_previous, piece.begin - end_of_previous);
    piece.blank_before = !gap.empty();
    piece.newlines = static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(std::ranges::count(gap, '\n'), 2));
    const std::string_view passed = text_.substr(at_, piece.begin - at_);
    const std::size_t newline = passed.rfind('\n');
    const bool new_line = newline != std::string_view::npos;
    column_ = new_line ? width_of(passed.substr(newline + 1)) : column_ + width_of(passed);
    at_ = piece.begin;
    piece.column = static_cast<std::uint32_t>(column_);
    if (piece.newlines > 0) piece.lead = gap.substr(gap.rfind('\n') + 1);
    if (end_of_previous == 0 && piece.newlines == 0) piece.lead = gap;
  }

 private:
  std::string_view text_;
  std::uint32_t at_ = 0;
  std::size_t column_ = 0;  ///< of at_
};

Fault fault_at(const Piece& piece, std::string message) {
  return {piece.begin, piece.begin + static_cast<std::uint32_t>(piece.text.size()), std::move(message)};
}

bool fit(const Piece& open, const Piece& close) {
  return (open.is("(") && close.is(")")) || (open.is("[") && close.is("]")) || (open.is("{") && close.is("}"));
}

/// The script parses, but perhaps only with the preprocessor's help.
std::expected<void, Fault> pair_brackets(Pieces& pieces) {
  const std::string unpaired = "formatting a script whose brackets pair only after preprocessing";
  std::vector<Index> open;
  for (Index i = 0; i < pieces.size(); ++i) {
    if (pieces[i].opens()) {
      open.push_back(i);
      if (open.size() > max_nesting) return std::unexpected(fault_at(pieces[i], "formatting what is nested so deeply"));
    } else if (pieces[i].closes()) {
      if (open.empty() || !fit(pieces[open.back()], pieces[i])) return std::unexpected(fault_at(pieces[i], unpaired));
      pieces[i].partner = open.back();
      pieces[open.back()].partner = i;
      open.pop_back();
    }
  }
  if (!open.empty()) return std::unexpected(fault_at(pieces[open.back()], unpaired));
  return {};
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string text_to_write(const Piece& piece) {
  std::string out(piece.text);
  if (piece.is_comment()) std::erase(out, '\r');
  return out;
}

std::expected<Pieces, Fault> pieces_of(std::string_view text) {
  Pieces pieces;
  Ruler ruler(text);
  std::uint32_t end_of_previous = 0;
  for (const Lexeme& lexeme : lexemes_of(text)) {
    Piece& piece = pieces.emplace_back();
    piece.kind = lexeme.kind;
    piece.text = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
    piece.begin = lexeme.begin;
    ruler.measure(end_of_previous, piece);
    end_of_previous = lexeme.end;
    if (piece.kind == LexemeKind::line_comment)
      piece.text = piece.text.substr(0, piece.text.find_last_not_of(" \t\r\f\v") + 1);
    if (piece.kind == LexemeKind::wrong)
      return std::unexpected(fault_at(piece, "formatting text that makes sense only after preprocessing"));
  }
  if (auto paired = pair_brackets(pieces); !paired) return std::unexpected(paired.error());
  return pieces;
}

}  // namespace raddle::format
