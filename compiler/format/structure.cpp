#include "compiler/format/structure.hpp"

#include <algorithm>
#include <array>

namespace raddle::format {

namespace {

bool is_operator_of_annotation(const Piece& piece) {
  constexpr std::array<std::string_view, 7> operators = {"+", "-", "*", "/", "%/", "%%", "**"};
  return piece.kind == LexemeKind::sign && std::ranges::find(operators, piece.text) != operators.end();
}

class StructureReader {
 public:
  explicit StructureReader(const Pieces& pieces) : pieces_(pieces) {}

  /// @param end  the closing brace, or the end of the script
  std::vector<Item> items(Index first, Index end, BlockKind kind) {
    std::vector<Item> out;
    for (Index at = first; at < end; at = out.back().last) {
      if (stands_alone(at, end))
        out.push_back({ItemKind::comment, at, at + 1, {}});
      else if (kind == BlockKind::command)
        out.push_back(command(at, end));
      else if (const Index behind = end_of_label(at, end); kind == BlockKind::cases && behind != at)
        out.push_back({ItemKind::label, at, behind, {}});
      else
        out.push_back(statement(at, end));
    }
    return out;
  }

 private:
  Index next(Index from, Index end) const { return next_token(pieces_, from, end); }

  /// A comment in front of a statement on the same line belongs to it, every other one is an item.
  bool stands_alone(Index at, Index end) const {
    if (!pieces_[at].is_comment()) return false;
    if (pieces_[at].ends_line()) return true;
    const Index token = next(at, end);
    if (token == end) return true;
    for (Index i = at + 1; i <= token; ++i)
      if (pieces_[i].newlines > 0) return true;
    return at > 0 && pieces_[at].newlines == 0 && !pieces_[at - 1].is("{");
  }

  Index end_of_label(Index at, Index end) const {
    const bool is_case = pieces_[at].is("case"), is_default = pieces_[at].is("default");
    if (!is_case && !is_default) return at;
    for (Index i = at + 1; i < end; ++i)
      if (pieces_[i].is(":")) return i + 1;
    return at;
  }

  /// All words up to the closing brace; comments at its end are items of their own.
  Item command(Index at, Index end) const {
    Index last = end;
    while (pieces_[last - 1].is_comment()) --last;
    Item item{ItemKind::statement, at, last, {}};
    item.sections.push_back({at, last, nullptr});
    return item;
  }

  Item statement(Index first, Index end) {
    Item item{ItemKind::statement, first, end, {}};
    Index section = first;
    const Index head = skip_annotations(pieces_, next(first, end), end);
    const bool is_app = head < end && pieces_[head].is("app");
    bool is_switch = false;
    Index previous = no_piece;  // token
    for (Index at = next(first, end); at < end; at = next(at + 1, end)) {
      const Piece& piece = pieces_[at];
      is_switch |= piece.kind == LexemeKind::word && piece.is("switch");
      if (piece.is(";") && piece.kind == LexemeKind::sign) return finish(std::move(item), section, at + 1);
      if (!piece.opens()) {
        previous = at;
        continue;
      }
      if (!piece.is("{") || !begins_block(previous)) {
        at = previous = piece.partner;
        continue;
      }
      const Index close = piece.partner;
      if (at + 1 < close) {
        auto block = std::make_unique<Block>();
        block->kind = is_switch ? BlockKind::cases : is_app ? BlockKind::command : BlockKind::statements;
        block->open = at;
        block->close = close;
        block->items = items(at + 1, close, block->kind);
        item.sections.push_back({section, at + 1, std::move(block)});
        section = close;
      }
      at = previous = close;
      is_switch = false;
      const Index after = next(close + 1, end);
      if (after < end && pieces_[after].is("else")) continue;
      return finish(std::move(item), section, end_behind_block(close, end));
    }
    return finish(std::move(item), section, end);
  }

  static Item finish(Item item, Index section, Index last) {
    item.last = last;
    item.sections.push_back({section, last, nullptr});
    return item;
  }

  /// Behind `until (..)`, and behind `;`, which is an empty statement there.
  Index end_behind_block(Index close, Index end) const {
    Index behind = close + 1;
    const Index until = next(behind, end);
    if (until < end && pieces_[until].is("until")) {
      const Index condition = next(until + 1, end);
      if (condition < end && pieces_[condition].is("(")) behind = pieces_[condition].partner + 1;
    }
    return behind < end && pieces_[behind].is(";") ? behind + 1 : behind;
  }

  /// Tells the brace of a block from that of a map, which stands where a value is expected.
  bool begins_block(Index previous) const {
    if (previous == no_piece) return true;
    const Piece& before = pieces_[previous];
    if (before.kind == LexemeKind::word) return !before.is("in");
    return before.kind != LexemeKind::sign || before.closes() || before.is("=>");
  }

  const Pieces& pieces_;
};

}  // namespace

Index next_token(const Pieces& pieces, Index from, Index end) {
  while (from < end && pieces[from].is_comment()) ++from;
  return from;
}

Index skip_annotations(const Pieces& pieces, Index from, Index end) {
  const auto next = [&](Index at) { return next_token(pieces, at, end); };
  const auto is = [&](Index at, std::string_view sign) { return at < end && pieces[at].is(sign); };
  Index at = from;
  while (is(at, "@")) {
    at = next(next(at + 1) + 1);
    if (!is(at, "=")) continue;
    for (;;) {
      at = next(at + 1);  // behind `=` or an operator
      while (is(at, "-") || is(at, "!")) at = next(at + 1);
      if (at >= end) return end;
      const bool called = pieces[at].kind == LexemeKind::word && is(at + 1, "(") && !pieces[at + 1].blank_before;
      if (called) ++at;
      at = next((pieces[at].opens() ? pieces[at].partner : at) + 1);
      while (is(at, "[") || is(at, ".")) at = next((is(at, "[") ? pieces[at].partner : next(at + 1)) + 1);
      if (at >= end || !is_operator_of_annotation(pieces[at])) break;
    }
  }
  return std::min(at, end);
}

Block structure_of(const Pieces& pieces) {
  Block script;
  script.items = StructureReader(pieces).items(0, static_cast<Index>(pieces.size()), BlockKind::statements);
  return script;
}

}  // namespace raddle::format
