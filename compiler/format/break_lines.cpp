#include "compiler/format/break_lines.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace raddle::format {

namespace {

constexpr std::size_t far_right = 60;       ///< a column: few words fit behind it
constexpr std::size_t least_gain = 8;       ///< columns, for which a line is broken behind a bracket
constexpr unsigned cost_of_depth = 20;      ///< breaks outside are better than breaks inside
constexpr unsigned cost_of_closed = 30;     ///< a bracket that is closed on this line rather stays whole
constexpr unsigned cost_of_far_right = 25;  ///< higher than cost_of_depth: rather break behind the bracket
constexpr unsigned never = std::numeric_limits<unsigned>::max();

/// Of a break at this place, without the brackets around it.
unsigned cost_of(const Piece& piece) {
  switch (piece.place) {
    case Place::after_arrow:
    case Place::after_semicolon: return 0;
    case Place::after_comma:
    case Place::between_words: return 1;
    case Place::after_operator: return 1u + piece.precedence;  // `||` as good as a comma
    case Place::after_assign: return 30;
    case Place::after_bracket: return 11;
    case Place::none:
    case Place::after_annotation:
    case Place::before_arrow:
    case Place::before_operator:
    case Place::before_closing:
    case Place::between_parts: return never;
  }
  return never;
}

struct OpenBracket {
  Index at;
  std::size_t line_indent;             ///< of the line where it stands
  std::size_t column;                  ///< behind it
  std::optional<std::size_t> hanging;  ///< indentation, if the line is broken behind it
  std::optional<bool> is_list;         ///< more than one entry; not known before it is asked for
};

/// Column behind `piece` if it begins at `column`.
std::size_t column_behind(const Piece& piece, std::size_t column) {
  const std::size_t newline = piece.text.rfind('\n');
  return newline == std::string_view::npos ? column + width_of(piece.text) : width_of(piece.text.substr(newline + 1));
}

/// Column that the first line of `piece` reaches.
std::size_t column_reached(const Piece& piece, std::size_t column) {
  return column + width_of(piece.text.substr(0, piece.text.find('\n')));
}

class RunWriter {
 public:
  RunWriter(Page& page, const Pieces& pieces, Index first, Index last, std::size_t base)
      : page_(page), pieces_(pieces), first_(first), last_(last), base_(base), link_(base), breaks_(last - first) {
    for (Index i = first_ + 1; i < last_; ++i) breaks_[i - first_] = keeps_break(pieces_, first_, i);
  }

  std::size_t run() {
    std::size_t column = page_.back().indent + width_of(page_.back().code);
    for (Index begin = first_; begin < last_;) {
      join_lines(begin, column);
      while (const std::optional<Index> at = needed_break(begin, column)) make_break(*at);
      const Index end = end_of_line(begin);
      write_line(begin, end, column);
      begin = end;
      if (begin < last_) column = begin_line(begin);
    }
    return link_;
  }

 private:
  bool breaks_before(Index index) const { return breaks_[index - first_]; }
  Index end_of_line(Index begin) const {
    Index end = begin + 1;
    while (end < last_ && !breaks_before(end)) ++end;
    return end;
  }
  Index previous_token(Index from) const {
    while (from-- > first_)
      if (!pieces_[from].is_comment()) return from;
    return no_piece;
  }

  // ---------------------------------------------------------------- breaks that are not needed

  /// Takes back the author's breaks where two lines fit on one, but not between the entries of a list, links of a
  /// chain, words of a command line.
  void join_lines(Index begin, std::size_t column) {
    for (;;) {
      const Index end = end_of_short_line(begin, column);
      if (end >= last_ || pieces_[end].is_comment() || pieces_[end - 1].is_comment()) return;
      if (pieces_[end].place == Place::after_bracket) {
        const Index close = pieces_[end - 1].partner;
        if (close >= last_ || holds_entries_on_lines(end, close) || !fits(begin, end_of_line(close), column)) return;
        breaks_[close - first_] = false;
      } else if (!joins(pieces_[end].place) || end_of_short_line(end, column + width_to(begin, end)) == last_ + 1) {
        return;
      }
      breaks_[end - first_] = false;
    }
  }
  /// Behind the line that begins at `begin`; more than `last_` if it is too long.
  Index end_of_short_line(Index begin, std::size_t column) const {
    Index end = begin;
    do {
      if (end > begin && pieces_[end].spaced) ++column;
      if (pieces_[end].text.find('\n') != std::string_view::npos) return last_ + 1;
      column += width_of(pieces_[end].text);
      if (column > line_width) return last_ + 1;
      ++end;
    } while (end < last_ && !breaks_before(end));
    return end;
  }
  /// Columns of [begin, end) and the blank behind it.
  std::size_t width_to(Index begin, Index end) const {
    return width_on_one_line(pieces_, begin, end) + (pieces_[end].spaced ? 1 : 0);
  }
  static bool joins(Place place) {
    return place == Place::after_assign || place == Place::after_operator || place == Place::before_operator ||
           place == Place::between_parts;
  }
  bool fits(Index first, Index last, std::size_t column) const {
    return column + width_on_one_line(pieces_, first, last) <= line_width;
  }
  bool holds_entries_on_lines(Index first, Index close) const {
    for (Index i = first + 1; i < close; ++i)
      if (breaks_before(i) && (!joins(pieces_[i].place) || pieces_[i].is_comment() || pieces_[i - 1].is_comment()))
        return true;
    return false;
  }

  // ---------------------------------------------------------------- lines that are too long

  struct Candidate {
    Index at = no_piece;
    unsigned cost = never;
  };

  /// Where to break the line from `begin` on, that begins at `column`; nothing if it fits, or can not be broken.
  std::optional<Index> needed_break(Index begin, std::size_t column) const {
    Candidate best;
    std::vector<std::size_t> columns;  // behind the brackets opened on this line
    bool too_long = false;
    for (Index i = begin; i < last_ && (i == begin || !breaks_before(i)); ++i) {
      const Piece& piece = pieces_[i];
      if (piece.ends_line()) break;
      const std::size_t start = column + (i > begin && piece.spaced ? 1 : 0);
      if (i > begin) {
        const unsigned cost = cost_at(i, start, columns);
        if (too_long && cost != never && best.at == no_piece && piece.place != Place::after_bracket) return i;
        if (!too_long && cost <= best.cost && cost != never) best = {i, cost};
      }
      if (!too_long && column_reached(piece, start) > line_width) {
        too_long = true;
        if (best.at != no_piece) break;
      }
      column = column_behind(piece, start);
      if (piece.opens()) columns.push_back(column);
      if (!piece.closes()) continue;
      if (!columns.empty()) columns.pop_back();
      if (best.at != no_piece && pieces_[best.at].depth > piece.depth) best.cost += cost_of_closed;
    }
    if (!too_long || best.at == no_piece) return std::nullopt;
    return first_of_its_kind(begin, best.at);
  }

  unsigned cost_at(Index at, std::size_t start, const std::vector<std::size_t>& columns) const {
    const Piece& piece = pieces_[at];
    const unsigned own = cost_of(piece);
    if (own == never) return never;
    const std::size_t indent = page_.back().indent;
    if (piece.place == Place::after_bracket && start < indent + continuation_step + least_gain) return never;
    if (piece.place == Place::after_assign && (piece.depth > 0 || !rest_fits(at))) return never;
    const bool far = piece.place != Place::after_bracket && !columns.empty() && columns.back() > far_right;
    return piece.depth * cost_of_depth + own + (far ? cost_of_far_right : 0);
  }

  bool rest_fits(Index from) const { return end_of_short_line(from, link_ + continuation_step) <= last_; }

  /// Links of a chain and parts of a `for` head go each on a line of its own.
  Index first_of_its_kind(Index begin, Index at) const {
    const Place place = pieces_[at].place;
    if (place != Place::after_arrow && place != Place::after_semicolon) return at;
    for (Index i = begin + 1; i < at; ++i)
      if (pieces_[i].place == place && pieces_[i].depth == pieces_[at].depth) return i;
    return at;
  }

  /// Breaks before `at`. What follows in the same list is filled anew, without the author's breaks.
  void make_break(Index at) {
    breaks_[at - first_] = true;
    const Place place = pieces_[at].place;
    const bool all = place == Place::after_arrow || place == Place::after_semicolon;
    if (!all && place != Place::after_comma && place != Place::between_words) return;
    const std::size_t depth = pieces_[at].depth;
    if (refilled_.size() <= depth) refilled_.resize(depth + 1);
    if (at < refilled_[depth]) return;
    Index i = at + 1;
    for (; i < last_ && pieces_[i].depth >= depth; ++i)
      if (pieces_[i].place == place && pieces_[i].depth == depth && !pieces_[i - 1].is_comment())
        breaks_[i - first_] = all;
    refilled_[depth] = i;
  }

  // ---------------------------------------------------------------- writing

  void write_line(Index begin, Index end, std::size_t column) {
    Page::Line* line = &page_.back();
    for (Index i = begin; i < end; ++i) {
      const Piece& piece = pieces_[i];
      if (piece.ends_line() && i > begin) {
        line->comment = piece.text;
        line->comment_column = piece.column;
        return;
      }
      if (i > begin && piece.spaced) {
        line->code += ' ';
        ++column;
      }
      line->code += piece.kind == LexemeKind::block_comment ? moved_comment(piece, column) : text_to_write(piece);
      column = column_behind(piece, column);
      if (piece.opens()) open_.push_back({i, line->indent, column, std::nullopt, std::nullopt});
      if (piece.closes() && !open_.empty()) open_.pop_back();
    }
  }

  /// @return its first column
  std::size_t begin_line(Index index) {
    const Piece& piece = pieces_[index];
    const bool verbatim = piece.kind == LexemeKind::hash_line;
    const std::size_t indent = verbatim ? 0 : indentation(index);
    const bool apart = piece.is_comment() || pieces_[index - 1].is_comment() || piece.place == Place::after_comma;
    Page::Line& line = page_.begin(indent, apart && piece.newlines > 1);
    if (verbatim) line.code = piece.lead;
    return indent;
  }

  std::size_t indentation(Index index) {
    const Piece& piece = pieces_[index];
    if (open_.empty()) return indentation_outside(index);
    OpenBracket& bracket = open_.back();
    if (piece.closes()) return bracket.line_indent;
    if (previous_token(index) == bracket.at) {
      const Index close = pieces_[bracket.at].partner;
      const bool own_line = close < last_ && breaks_before(close);
      bracket.hanging = bracket.line_indent + (own_line ? indent_step : continuation_step);
    }
    const bool goes_on = piece.place == Place::after_operator || piece.place == Place::before_operator;
    return bracket.hanging.value_or(bracket.column) + (goes_on && is_list(bracket) ? continuation_step : 0);
  }

  bool is_list(OpenBracket& bracket) const {
    if (!bracket.is_list) {
      const std::size_t depth = pieces_[bracket.at].depth + 1u;
      bracket.is_list = false;
      for (Index i = bracket.at + 1; i < last_ && i < pieces_[bracket.at].partner && !*bracket.is_list; ++i)
        bracket.is_list = pieces_[i].depth == depth && (pieces_[i].is(",") || pieces_[i].is(";"));
    }
    return *bracket.is_list;
  }

  std::size_t indentation_outside(Index index) {
    const Piece& piece = pieces_[index];
    if (piece.place == Place::after_arrow || piece.place == Place::before_arrow) return link_ = base_ + indent_step;
    const Index before = previous_token(index);
    const bool heads = before == no_piece || piece.place == Place::after_annotation || pieces_[before].is("}");
    return heads || piece.is("{") ? link_ : link_ + continuation_step;
  }

  Page& page_;
  const Pieces& pieces_;
  Index first_, last_;
  std::size_t base_;
  std::size_t link_;  ///< indentation of the link of a chain that is being written
  std::vector<bool> breaks_;
  std::vector<Index> refilled_;  ///< by depth: the end of the last list whose breaks were all made here
  std::vector<OpenBracket> open_;
};

}  // namespace

bool keeps_break(const Pieces& pieces, Index first, Index index) {
  const Piece& piece = pieces[index];
  const Piece& before = pieces[index - 1];
  if (before.ends_line()) return true;
  if (piece.newlines == 0) return false;
  if (piece.is_comment() || before.is_comment()) return true;
  if (piece.place == Place::before_closing)
    return piece.partner >= first && piece.partner != no_piece && pieces[piece.partner + 1].newlines > 0;
  return piece.place != Place::none;
}

std::size_t width_on_one_line(const Pieces& pieces, Index first, Index last) {
  std::size_t width = 0;
  for (Index i = first; i < last && width <= line_width; ++i) {
    if (pieces[i].text.find('\n') != std::string_view::npos) return line_width + 1;
    width += width_of(pieces[i].text) + (i > first && pieces[i].spaced ? 1 : 0);
  }
  return width;
}

std::size_t write_pieces(Page& page, const Pieces& pieces, Index first, Index last, std::size_t base) {
  return RunWriter(page, pieces, first, last, base).run();
}

std::string moved_comment(const Piece& comment, std::size_t column) {
  std::string out;
  const std::string text = text_to_write(comment);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const bool moves = !out.empty() && line.find_first_not_of(" \t\r\n") != std::string_view::npos;
    if (!moves)
      out += line;
    else if (column >= comment.column)
      out.append(column - comment.column, ' ').append(line);
    else
      out += line.substr(std::min(blanks, comment.column - column));
  }
  return out;
}

}  // namespace raddle::format
