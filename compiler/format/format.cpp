#include "compiler/format/format.hpp"

#include <algorithm>
#include <array>

#include "compiler/format/break_lines.hpp"
#include "compiler/format/page.hpp"
#include "compiler/format/spacing.hpp"
#include "compiler/format/structure.hpp"

namespace raddle::format {

namespace {

class ScriptWriter {
 public:
  explicit ScriptWriter(const Pieces& pieces) : pieces_(pieces) {}

  std::string run(const Block& script) {
    items(script, 0);
    return page_.text();
  }

 private:
  /// Writes what is in a block. @param indent  of the statements in it
  void items(const Block& block, std::size_t indent) {
    const bool in_cases = block.kind == BlockKind::cases;
    bool fresh = true;           // nothing of the block is on a line of its own yet: no blank line
    bool one_line_case = false;  // the label and its statements
    for (std::size_t i = 0; i < block.items.size(); ++i) {
      const Item& item = block.items[i];
      const bool blank = !fresh && pieces_[item.first].newlines > 1;
      const bool below_label = in_cases && !labels_next(block, i);
      const std::size_t own_indent = indent + (below_label ? indent_step : 0);
      switch (item.kind) {
        case ItemKind::comment:
          if (comment(item.first, own_indent, blank)) fresh = false;
          break;
        case ItemKind::label:
          page_.begin(indent, blank);
          write_pieces(page_, pieces_, item.first, item.last, indent);
          one_line_case = is_one_line_case(block, i);
          fresh = false;
          break;
        case ItemKind::statement:
          if (!join(block, i, one_line_case)) {
            page_.begin(own_indent, blank);
            const std::size_t line = page_.size();
            statement(item, own_indent);
            one_line_statement_ = page_.size() == line;
          }
          fresh = false;
          break;
      }
    }
  }

  /// True for labels and the comments right above them.
  static bool labels_next(const Block& block, std::size_t at) {
    while (at < block.items.size() && block.items[at].kind == ItemKind::comment) ++at;
    return at < block.items.size() && block.items[at].kind == ItemKind::label;
  }

  // ---------------------------------------------------------------- comments between statements

  /// @return false if it was put at the end of a line
  bool comment(Index index, std::size_t indent, bool blank) {
    const Piece& piece = pieces_[index];
    if (piece.newlines == 0 && !page_.empty()) {
      Page::Line& line = page_.back();
      if (!line.comment.empty()) line.comment += ' ';
      line.comment += piece.text;
      line.comment_column = piece.column;
      return false;
    }
    const bool goes_on = piece.kind == LexemeKind::line_comment && piece.newlines == 1 && !page_.empty() &&
                         !page_.back().comment.empty() && page_.back().comment_column == piece.column;
    if (piece.kind == LexemeKind::hash_line) {
      page_.begin(0, blank).code = std::string(piece.lead) + text_to_write(piece);
    } else if (goes_on) {
      Page::Line& line = page_.begin(indent, false);
      line.follows_comment = true;
      line.comment = piece.text;
      line.comment_column = piece.column;
    } else {
      page_.begin(indent, blank).code = moved_comment(piece, indent);
    }
    return true;
  }

  // ---------------------------------------------------------------- statements

  void statement(const Item& item, std::size_t indent) {
    if (!item.has_block() || (stands_on_one_line(item) && fits(item, indent))) {
      write_pieces(page_, pieces_, item.first, item.last, indent);
      return;
    }
    for (const Section& section : item.sections) {
      if (&section != &item.sections.front()) page_.begin(indent, false);
      indent = write_pieces(page_, pieces_, section.first, section.last, indent);
      if (section.block) items(*section.block, indent + indent_step);
    }
  }

  bool fits(const Item& item, std::size_t indent) const {
    return indent + width_on_one_line(pieces_, item.first, item.last) <= line_width;
  }

  /// The author wrote it on one line, but for breaks that are not kept anyway, and its blocks hold no other blocks.
  bool stands_on_one_line(const Item& item) const {
    for (Index i = item.first; i < item.last; ++i)
      if (pieces_[i].ends_line() || (i > item.first && keeps_break(pieces_, item.first, i))) return false;
    return std::ranges::all_of(item.sections, [&](const Section& section) {
      if (!section.block) return true;
      const Block& block = *section.block;
      if (block.kind == BlockKind::cases || pieces_[block.close].newlines > 0) return false;
      return std::ranges::all_of(block.items, [&](const Item& inner) {
        return inner.kind == ItemKind::statement && !inner.has_block() && pieces_[inner.first].newlines == 0;
      });
    });
  }

  /// Short statements stay on one line if the author put them there. @return false if this one is to begin a line
  bool join(const Block& block, std::size_t at, bool one_line_case) {
    if (at == 0) return false;
    const Item& item = block.items[at];
    const Item& before = block.items[at - 1];
    if (item.has_block() || before.has_block() || before.kind == ItemKind::comment) return false;
    if (is_definition(item) || is_definition(before)) return false;
    if (pieces_[item.first].newlines > 0 || (before.kind == ItemKind::label && !one_line_case)) return false;
    if (!is_single_line(item) || !page_.back().comment.empty()) return false;
    if (before.kind == ItemKind::statement && !one_line_statement_) return false;
    Page::Line& line = page_.back();
    const std::size_t width = line.indent + width_of(line.code) + 1 + width_on_one_line(pieces_, item.first, item.last);
    if (width > line_width || line.code.find('\n') != std::string::npos) return false;
    if (!pieces_[item.first].is(";")) line.code += ' ';
    write_pieces(page_, pieces_, item.first, item.last, line.indent);
    one_line_statement_ = true;
    return true;
  }

  /// These begin a line: what has annotations does so as the comment above a `@param` belongs to it alone.
  bool is_definition(const Item& item) const {
    constexpr std::array<std::string_view, 7> words = {"import", "pragma", "global", "type", "typedef", "app", "@"};
    return std::ranges::find(words, pieces_[item.first].text) != words.end();
  }

  bool is_single_line(const Item& item) const {
    for (Index i = item.first + 1; i < item.last; ++i)
      if (pieces_[i].ends_line() || keeps_break(pieces_, item.first, i)) return false;
    return true;
  }

  /// `case 1: a = 2;`: if all that belongs to the label stands beside it and fits.
  bool is_one_line_case(const Block& block, std::size_t label) const {
    std::size_t width = page_.back().indent + width_of(page_.back().code);
    for (std::size_t i = label + 1; i < block.items.size() && !labels_next(block, i); ++i) {
      const Item& item = block.items[i];
      if (item.kind == ItemKind::comment) {
        if (pieces_[item.first].newlines > 0) return false;
        continue;
      }
      if (item.has_block() || pieces_[item.first].newlines > 0 || !is_single_line(item)) return false;
      width += 1 + width_on_one_line(pieces_, item.first, item.last);
    }
    return width <= line_width;
  }

  const Pieces& pieces_;
  Page page_;
  bool one_line_statement_ = false;  ///< the last statement that began a line did not go beyond it
};

std::expected<std::string, Fault> format_once(std::string_view text) {
  std::expected<Pieces, Fault> pieces = pieces_of(text);
  if (!pieces) return std::unexpected(pieces.error());
  const Block script = structure_of(*pieces);
  mark_spacing(*pieces, script);
  return ScriptWriter(*pieces).run(script);
}

}  // namespace

/// A break that is made in a long line counts as the author's the next time, and may let two other lines be joined. So
/// formatting goes on until nothing changes: mostly at once.
std::expected<std::string, Fault> format_script(std::string_view text) {
  constexpr int most_rounds = 10;
  std::expected<std::string, Fault> result = format_once(text);
  for (int round = 1; result && round < most_rounds; ++round) {
    std::expected<std::string, Fault> again = format_once(*result);
    if (!again || *again == *result) break;
    result = std::move(again);
  }
  return result;
}

}  // namespace raddle::format
