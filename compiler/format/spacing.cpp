#include "compiler/format/spacing.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "compiler/ast/precedence.hpp"

namespace raddle::format {

namespace {

/// What an opening bracket is for.
enum class Bracket : std::uint8_t { list, for_head, index, map, tcl };

bool is_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 14> words = {"app", "case", "deep", "else",  "for",    "foreach", "if",
                                                      "in",  "type", "wait", "until", "switch", "iterate", "try"};
  return std::ranges::find(words, word) != words.end();
}

/// Level in the table of grammar/README.md; 0 if it is no binary operator.
std::uint8_t precedence_of(const Piece& piece) {
  if (piece.kind != LexemeKind::sign) return 0;
  const ast::BinaryOperator* const found = ast::find_binary_operator(piece.text);
  return found == nullptr ? 0 : found->level;
}

/// Marks the pieces of one section, or of another run without blocks.
class RunMarker {
 public:
  /// @param words  a command line or pragma: blanks outside of brackets mean something
  RunMarker(Pieces& pieces, Index first, Index last, bool words)
      : pieces_(pieces), first_(first), last_(last), words_(words) {}

  void run() {
    current_ = next_token(pieces_, first_, last_);
    if (!words_) begin_link(true);
    for (; current_ < last_; advance()) {
      if (is(current_, "<")) find_angles();
      if (previous_ != no_piece) mark();
      piece(current_).depth =
          static_cast<std::uint16_t>(open_.size() - (piece(current_).closes() ? !open_.empty() : 0));
      follow();
    }
    mark_comments();
  }

 private:
  Piece& piece(Index index) { return pieces_[index]; }
  bool is(Index index, std::string_view sign) const { return index < last_ && pieces_[index].is(sign); }
  bool is_word(Index index) const { return index < last_ && pieces_[index].kind == LexemeKind::word; }
  Index next(Index from) const { return next_token(pieces_, from, last_); }
  Bracket bracket() const { return open_.empty() ? Bracket::list : open_.back(); }
  void advance() {
    before_previous_ = previous_;
    previous_ = current_;
    current_ = next(current_ + 1);
  }

  // ---------------------------------------------------------------- what comes next

  /// At the first piece of a statement, or of a link behind `=>`.
  void begin_link(bool at_start) {
    const Index head = skip_annotations(pieces_, current_, last_);
    declared_value_ = false;
    if (head != current_) {
      tight_until_ = head;
      if (at_start && head < last_) after_annotations_ = head;
    }
    if (is(head, "<") && at_start) mark_angles(head, Angles::type_parameters);
    Index name = next(head + 1);
    if (is(head, "bag") && is(name, "<")) name = next(end_of_angles(name) + 1);
    while (is(name, "[")) name = next(pieces_[name].partner + 1);
    in_foreach_ = is(head, "foreach");
    in_declarator_ = is_word(head) && !is_keyword(pieces_[head].text) && is_word(name);
  }

  /// Takes note of the current piece before going on to the next.
  void follow() {
    const Piece& now = piece(current_);
    if (now.kind != LexemeKind::sign) return;
    if (now.opens()) {
      open_.push_back(kind_of_bracket());
      if (open_.back() == Bracket::index) mark_colons();
    } else if (now.closes() && !open_.empty()) {
      open_.pop_back();
    } else if (now.is("@") && !words_ && current_ >= tight_until_) {
      tight_until_ = skip_annotations(pieces_, current_, last_);
    } else if (now.is("=>") && open_.empty() && !words_) {
      const Index here = current_;
      current_ = next(current_ + 1);
      begin_link(false);
      current_ = here;
    } else if (open_.empty() && (now.is("=") || now.is(","))) {
      declared_value_ = now.is("=");
    }
  }

  Bracket kind_of_bracket() const {
    const Piece& now = pieces_[current_];
    if (now.is("{")) return Bracket::map;
    if (now.is("(")) return previous_ != no_piece && pieces_[previous_].is("for") ? Bracket::for_head : Bracket::list;
    const bool after_text = previous_ != no_piece && pieces_[previous_].kind == LexemeKind::string;
    const Index behind = next(now.partner + 1);
    return after_text && open_.empty() && !words_ && is(behind, ";") ? Bracket::tcl : Bracket::index;
  }

  // ---------------------------------------------------------------- `<` and `>` that are no comparisons

  enum class Angles : std::uint8_t { type_arguments, type_parameters, mapping };

  void find_angles() {
    if (words_ || pieces_[current_].partner != no_piece) return;
    if (previous_ != no_piece && pieces_[previous_].is("bag") && end_of_angles(current_) < last_) {
      mark_angles(current_, Angles::type_arguments);
    } else if (open_.empty()) {
      const Index name = next(current_ + 1);
      const bool update = is_word(name) && is(next(name + 1), ">") && is(next(next(name + 1) + 1), ":=");
      if (update || (in_declarator_ && !declared_value_)) mark_angles(current_, Angles::mapping);
    }
  }
  /// The `>` of the `<` at `open`, `last_` if there is none.
  Index end_of_angles(Index open) const {
    int depth = 0;
    for (Index i = open; i < last_; ++i) {
      if (pieces_[i].is(";") || pieces_[i].closes()) return last_;
      if (pieces_[i].opens())
        i = pieces_[i].partner;
      else if (pieces_[i].is("<"))
        ++depth;
      else if (pieces_[i].is(">") && --depth == 0)
        return i;
    }
    return last_;
  }
  /// Their partners tell them from comparisons.
  void mark_angles(Index open, Angles kind) {
    const Index close = end_of_angles(open);
    if (close >= last_) return;
    piece(open).partner = close;
    piece(close).partner = open;
    if (kind == Angles::type_arguments) glued_angles_.push_back(open);
  }
  bool is_angle(const Piece& one) const { return (one.is("<") || one.is(">")) && one.partner != no_piece; }

  // ---------------------------------------------------------------- colons of ranges and slices

  /// `[0:n]`, but `[0 : n - 1]`: parts that are more than a name or number stand off.
  void mark_colons() {
    const Index close = pieces_[current_].partner;
    for (Index entry = current_ + 1; entry < close;) {
      const Index end = end_of_entry(entry, close);
      if (!is_simple_entry(entry, end))
        for (Index i = entry; i < end; i = (pieces_[i].opens() ? pieces_[i].partner : i) + 1)
          if (pieces_[i].is(":")) loose_colons_.insert(i);
      entry = end + 1;
    }
  }
  Index end_of_entry(Index from, Index close) const {
    while (from < close && !pieces_[from].is(",")) from = (pieces_[from].opens() ? pieces_[from].partner : from) + 1;
    return from;
  }
  bool is_simple_entry(Index from, Index end) const {
    bool at_start = true;
    for (Index i = next(from); i < end; i = next(i + 1)) {
      const Piece& one = pieces_[i];
      const bool name = one.kind != LexemeKind::sign || one.is(".") || one.is(":");
      if (!name && !(at_start && one.is("-"))) return false;
      at_start = one.is(":");
    }
    return true;
  }
  // ---------------------------------------------------------------- blanks

  /// Before the current piece, of which the one before is known.
  void mark() {
    Piece& now = piece(current_);
    const Piece& before = piece(previous_);
    if (words_ && open_.empty()) return mark_word(now, before);
    now.spaced = wants_blank(now, before);
    mark_place(now, before);
  }

  /// On a command line: `a[1]` is one word, `a [1]` are two.
  void mark_word(Piece& now, const Piece& before) {
    const bool redirected = before.is("=") || now.is("=") || before.is("@") || before.is(".") || now.is(".");
    now.spaced = now.blank_before && !redirected && !now.is(";");
    if (now.spaced) now.place = Place::between_words;
  }

  bool is_prefix(Index index) const {
    const Piece& sign = pieces_[index];
    if (sign.is("!")) return true;
    if (!sign.is("-")) return false;
    return is_start_of_operand(index == current_ ? previous_ : before_previous_);
  }
  /// What follows `before` is an operand.
  bool is_start_of_operand(Index before) const {
    if (before == no_piece) return true;
    const Piece& one = pieces_[before];
    if (one.kind == LexemeKind::word) return is_keyword(one.text);
    return one.kind == LexemeKind::sign && !one.closes() && !(one.is(">") && is_angle(one));
  }

  /// `=` of an annotation or of a keyword argument.
  bool is_glued_assign(Index assign) const {
    if (!pieces_[assign].is("=")) return false;
    if (assign < tight_until_) return true;
    const Index name = assign == current_ ? previous_ : before_previous_;
    if (open_.empty() || open_.back() != Bracket::list || !is_word(name)) return false;
    const Index before_name = previous_token(name);
    return before_name != no_piece && (pieces_[before_name].is("(") || pieces_[before_name].is(","));
  }
  Index previous_token(Index from) const {
    while (from-- > first_)
      if (!pieces_[from].is_comment()) return from;
    return no_piece;
  }

  bool wants_blank(const Piece& now, const Piece& before) const {
    if (now.kind == LexemeKind::sign && (now.is(",") || now.is(";") || now.is("."))) return false;
    if (before.is(".") || before.is("@")) return false;
    if (bracket() == Bracket::tcl && (before.opens() || now.closes())) return true;
    if (before.opens() || now.closes()) return false;
    if (before.is(",") || before.is(";")) return true;
    if (current_ < tight_until_) return wants_blank_in_annotation(now, before);
    if (is_glued_assign(current_) || is_glued_assign(previous_)) return false;
    if (now.is("...") || now.is("|") || before.is("|")) return false;
    if (now.is(":") || before.is(":")) return wants_blank_at_colon(now, before);
    if ((before.is("-") || before.is("!")) && is_prefix(previous_)) return before.is("-") && now.is("-");
    if (is_angle(now) || is_angle(before)) return wants_blank_at_angle(now, before);
    if (now.is("(")) return wants_blank_before_parenthesis(before);
    if (now.is("[")) return wants_blank_before_bracket(now, before);
    return true;
  }

  /// `@prio=2*n f(x)`. The value's name is called if a parenthesis follows at once.
  bool wants_blank_in_annotation(const Piece& now, const Piece& before) const {
    if (now.is("@")) return true;
    if (now.is("(") && before.kind == LexemeKind::word) return now.blank_before;
    return false;
  }

  bool wants_blank_at_colon(const Piece& now, const Piece& before) const {
    if (bracket() == Bracket::map) return before.is(":");
    if (open_.empty()) return before.is(":");
    const Index colon = now.is(":") ? current_ : previous_;
    if (!loose_colons_.contains(colon)) return false;
    return now.is(":") ? !before.is(":") && !before.is(",") : !now.is(":") && !now.is(",");
  }

  bool wants_blank_at_angle(const Piece& now, const Piece& before) const {
    const auto glued = [&](const Piece& angle) {
      const Index open = angle.is("<") ? pieces_[angle.partner].partner : angle.partner;
      return std::ranges::find(glued_angles_, open) != glued_angles_.end();
    };
    if (is_angle(before) && before.is("<")) return false;
    if (is_angle(now) && now.is(">")) return false;
    if (is_angle(now)) return !glued(now);  // `<`
    return !(glued(before) && (now.is("[") || now.is("(")));
  }

  bool wants_blank_before_parenthesis(const Piece& before) const {
    if (before.kind != LexemeKind::word) return true;
    const bool annotation = before_previous_ != no_piece && pieces_[before_previous_].is("@");
    if (annotation) return pieces_[current_].blank_before;
    return current_ == tight_until_ || is_keyword(before.text);
  }

  bool wants_blank_before_bracket(const Piece& now, const Piece& before) const {
    if (before.kind == LexemeKind::word) return is_keyword(before.text);
    if (before.kind == LexemeKind::string) return open_.empty() && is(next(now.partner + 1), ";");
    return before.kind == LexemeKind::sign && !before.closes();
  }

  // ---------------------------------------------------------------- breaks

  void mark_place(Piece& now, const Piece& before) {
    now.place = place_of(now, before);
    if (now.place == Place::after_operator) now.precedence = precedence_of(before);
  }

  Place place_of(const Piece& now, const Piece& before) const {
    if (current_ == after_annotations_) return Place::after_annotation;
    if (current_ < tight_until_) return Place::none;
    if (before.is("=>")) return Place::after_arrow;
    if (now.is("=>")) return Place::before_arrow;
    if (before.is(";") && bracket() == Bracket::for_head) return Place::after_semicolon;
    if (before.is(",")) return in_foreach_ && open_.empty() ? Place::none : Place::after_comma;
    if (before.opens()) return now.closes() ? Place::none : Place::after_bracket;
    if (now.closes()) return Place::before_closing;
    if (!now.spaced) return Place::none;
    if (before.is("=") || before.is(":=") || before.is("+=")) return Place::after_assign;
    if (is_binary(previous_)) return Place::after_operator;
    if (is_binary(current_)) return Place::before_operator;
    const bool part = now.kind != LexemeKind::sign || now.is("[");
    const bool behind_part = before.is(")") || before.kind == LexemeKind::string;
    return open_.empty() && part && behind_part ? Place::between_parts : Place::none;
  }
  bool is_binary(Index index) const {
    const Piece& one = pieces_[index];
    return precedence_of(one) != 0 && !is_angle(one) && !is_prefix(index);
  }

  /// A comment stands off, but for a bracket that it touches.
  void mark_comments() {
    for (Index i = first_ + 1; i < last_; ++i) {
      if (pieces_[i - 1].is_comment())
        piece(i).spaced = !piece(i).closes() && !piece(i).is(",") && !piece(i).is(";");
      else if (pieces_[i].is_comment())
        piece(i).spaced = !pieces_[i - 1].opens();
    }
  }

  Pieces& pieces_;
  Index first_, last_;
  bool words_;
  Index current_ = no_piece, previous_ = no_piece, before_previous_ = no_piece;  ///< tokens, not comments
  std::vector<Bracket> open_;
  std::vector<Index> glued_angles_;  ///< the `<` of `bag<..>`
  std::unordered_set<Index> loose_colons_;
  Index tight_until_ = 0;  ///< end of the annotations that we are in
  Index after_annotations_ = no_piece;
  bool in_foreach_ = false;      ///< the link is a loop: `foreach v, k in ..`
  bool in_declarator_ = false;   ///< the link is a declaration
  bool declared_value_ = false;  ///< behind the `=` of a declarator
};

class BlockMarker {
 public:
  explicit BlockMarker(Pieces& pieces) : pieces_(pieces) {}

  void block(const Block& from) {
    for (const Item& item : from.items) {
      if (item.kind == ItemKind::comment) continue;
      if (item.kind == ItemKind::label) {
        RunMarker(pieces_, item.first, item.last, false).run();
        continue;
      }
      const Index head = next_token(pieces_, item.first, item.last);
      const bool words = from.kind == BlockKind::command || (head < item.last && pieces_[head].is("pragma"));
      for (const Section& section : item.sections) {
        RunMarker(pieces_, section.first, section.last, words).run();
        if (section.block) block(*section.block);
      }
    }
  }

 private:
  Pieces& pieces_;
};

}  // namespace

void mark_spacing(Pieces& pieces, const Block& script) { BlockMarker(pieces).block(script); }

}  // namespace raddle::format
