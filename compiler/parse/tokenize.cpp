#include "compiler/parse/tokenize.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "compiler/parse/literals.hpp"
#include "compiler/parse/newcomer_hints.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/parse/raw_lexer.hpp"
#include "compiler/parse/token_hints.hpp"
#include "compiler/parse/token_list.hpp"

namespace raddle {

namespace {

using Lexer = RaddleLexer;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view triple = "\"\"\"";

class Tokenizer {
 public:
  Tokenizer(TokenList list, Diagnostics& diagnostics)
      : text_(list.text()), bytes_(text_), lexer_(bytes_), diagnostics_(diagnostics), list_(std::move(list)) {}

  TokenList run() {
    if (text_.starts_with("\xEF\xBB\xBF")) lexer_.restart(3);
    tokens().reserve(text_.size() / 4 + 16);
    do {
      lexer_.nextToken();
      accept();
    } while (tokens().empty() || tokens().back().type != SourceToken::end_of_file);
    for (std::size_t i = 0; i < std::min(wrong_.size(), max_syntax_errors); ++i) report(wrong_[i]);
    mark_lines();
    pair_brackets();
    for (std::size_t i = 0; i + 4 < tokens().size(); ++i)
      if (tokens()[i].type == Lexer::AT) mark_constant_names(i);
    mark_tries();
    return std::move(list_);
  }

 private:
  std::vector<SourceToken>& tokens() { return list_.tokens(); }
  Span span(std::uint32_t begin, std::uint32_t end) const { return list_.span(begin, end); }
  std::string_view slice(std::uint32_t begin, std::uint32_t end) const { return text_.substr(begin, end - begin); }
  std::uint32_t end_of_line(std::uint32_t offset) const {
    std::size_t end = std::min(text_.find('\n', offset), text_.size());
    if (end > offset && text_[end - 1] == '\r') --end;
    return static_cast<std::uint32_t>(end);
  }

  SourceToken& push(std::size_t type, std::uint32_t begin, std::uint32_t end) {
    const auto index = static_cast<std::uint32_t>(tokens().size());
    return tokens().emplace_back(static_cast<std::uint32_t>(type), index, begin, end);
  }
  /// As push(), for a token to be reported when all are read: a later look at quotes may take it back.
  void push_wrong(std::size_t type, std::size_t as_type, std::uint32_t begin, std::uint32_t end) {
    SourceToken& token = push(as_type, begin, end);
    token.reported = true;
    wrong_.emplace_back(static_cast<std::uint32_t>(type), token.index, begin, end);
  }

  void accept() {
    const std::uint32_t begin = lexer_.begin();
    const std::uint32_t end = lexer_.end();
    const std::size_t type = lexer_.type;
    switch (type) {
      case Lexer::HASH_LINE: return;
      case Lexer::UNTERMINATED_COMMENT: wrong_.emplace_back(type, 0, begin, end); return;
      case Lexer::BAD_CHARACTERS: accept_characters(begin, end); return;
      case Lexer::BAD_NUMBER:
        if (!wrong_.empty() && wrong_.back().end == begin) return;  // `0..9` is one mistake
        push_wrong(type, Lexer::INT, begin, end);
        return;
      case Lexer::UNTERMINATED_MULTILINE_STRING: push_wrong(type, Lexer::STRING, begin, end); return;
      case Lexer::UNTERMINATED_STRING: accept_unterminated(begin); return;
      case Lexer::STRING:
        if (is_multiline_with_text(begin)) return skip_multiline(begin);
        if (looks_inverted(end) && has_newline(begin, end)) {
          cut_string(begin);
          return;
        }
        break;
      default: break;
    }
    push(type, begin, end);
  }

  /// What stands in quotes of another kind is one mistake, and is taken for a string.
  void accept_characters(std::uint32_t begin, std::uint32_t end) {
    constexpr std::array<std::array<std::string_view, 2>, 4> quotes = {
        {{"'", "'"}, {"`", "`"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}, {"\xE2\x80\x98", "\xE2\x80\x99"}}};
    for (const auto& [opening, closing] : quotes) {
      if (!slice(begin, end).starts_with(opening)) continue;
      const std::size_t close = text_.find(closing, begin + opening.size());
      if (close == std::string_view::npos || close >= end_of_line(begin)) continue;
      const auto behind = static_cast<std::uint32_t>(close + closing.size());
      push_wrong(Lexer::BAD_CHARACTERS, Lexer::STRING, begin, behind);
      lexer_.restart(behind);
      return;
    }
    push_wrong(Lexer::BAD_CHARACTERS, Lexer::BAD_CHARACTERS, begin, end);
  }

  bool has_newline(std::uint32_t begin, std::uint32_t end) const {
    return slice(begin, end).find('\n') != std::string_view::npos;
  }
  /// Text right behind the closing quote that can not follow a string: an earlier quote is missing, and what the lexer
  /// took for a string is the code between two strings.
  bool looks_inverted(std::uint32_t end) const {
    if (end >= text_.size()) return false;
    const char after = text_[end];
    return is_word_character(after) || after == '"' || after == '\\' || static_cast<unsigned char>(after) >= 0x80;
  }
  /// Reports the string at `begin` as unterminated and goes on behind its line.
  void cut_string(std::uint32_t begin) {
    const std::uint32_t end = end_of_line(begin);
    push_wrong(Lexer::UNTERMINATED_STRING, Lexer::STRING, begin, end);
    lexer_.restart(end);
  }
  /// A quote without partner in the rest of the file. Strings may span lines, so the culprit may be an earlier one: go
  /// back as long as the strings look like text between strings.
  void accept_unterminated(std::uint32_t begin) {
    std::optional<std::size_t> culprit;
    for (std::size_t i = tokens().size(); i-- > 0 && restarts_left_ > 0;) {
      const SourceToken& token = tokens()[i];
      if (token.type != Lexer::STRING) continue;
      const bool spans_lines = has_newline(token.begin, token.end);
      if (token.reported || (!spans_lines && !looks_inverted(token.end))) break;
      if (spans_lines) culprit = i;
    }
    if (!culprit) return cut_string(begin);
    --restarts_left_;
    const std::uint32_t culprit_begin = tokens()[*culprit].begin;
    tokens().erase(tokens().begin() + static_cast<std::ptrdiff_t>(*culprit), tokens().end());
    std::erase_if(wrong_, [&](const SourceToken& token) { return token.begin > culprit_begin; });
    cut_string(culprit_begin);
  }

  /// `"""text`: what would be a string over several lines, were the mark alone on its line.
  bool is_multiline_with_text(std::uint32_t begin) const {
    return slice(begin, begin + 3) == triple && text_.find(triple, begin + 3) != std::string_view::npos;
  }
  /// Takes all of it for a string.
  void skip_multiline(std::uint32_t begin) {
    const auto end = static_cast<std::uint32_t>(text_.find(triple, begin + 3) + triple.size());
    push_wrong(Lexer::UNTERMINATED_STRING, Lexer::STRING, begin, end);
    lexer_.restart(end);
  }

  void report(const SourceToken& token) {
    const Span at = span(token.begin, token.end);
    switch (token.type) {
      case Lexer::UNTERMINATED_COMMENT:
        diagnostics_.report(DiagnosticKind::unterminated_comment, span(token.begin, token.begin + 2));
        return;
      case Lexer::UNTERMINATED_STRING:
        if (is_multiline_with_text(token.begin))
          diagnostics_
              .report(DiagnosticKind::bad_literal, span(token.begin, token.begin + 3),
                      "the text of a string in `\"\"\"` begins on the next line")
              .note("end the line behind the opening `\"\"\"`; that line end is part of the string");
        else
          diagnostics_.report(DiagnosticKind::unterminated_string, at);
        return;
      case Lexer::UNTERMINATED_MULTILINE_STRING:
        diagnostics_.report(DiagnosticKind::unterminated_string, span(token.begin, end_of_line(token.begin)))
            .note(fmt::format("it ends at the next `{}`", slice(token.begin, end_of_line(token.begin))));
        return;
      case Lexer::BAD_NUMBER: report_number(at, token.begin, token.end); return;
      default: report_characters(token); return;
    }
  }
  void report_number(Span at, std::uint32_t begin, std::uint32_t end) {
    const std::string_view number = slice(begin, end);
    Diagnostic& diagnostic =
        diagnostics_.report(DiagnosticKind::bad_literal, at, fmt::format("`{}` is not a number", number));
    if (number.ends_with('.') && slice(end, end + 1) == ".")
      diagnostic.note("a range is written `[0:9]`");
    else if (number.starts_with('.') || number.ends_with('.'))
      diagnostic.note("write digits on both sides of the dot");
    else if (std::string help = hint_for_number(number); !help.empty())
      diagnostic.note(std::move(help));
  }
  void report_characters(const SourceToken& token) {
    const Span at = span(token.begin, token.end);
    const std::string_view characters = slice(token.begin, token.end);
    const auto first = static_cast<unsigned char>(characters[0]);
    const std::size_t length = utf8_length(characters);
    std::string shown = fmt::format("`{}`", characters.substr(0, length));
    if (first < 0x20 || first == 0x7F) shown = fmt::format("U+{:04X}", first);
    if (length == 0) shown = fmt::format("with the invalid UTF-8 byte 0x{:02X}", first);
    Diagnostic& diagnostic = diagnostics_.report(DiagnosticKind::unexpected_character, at, shown);
    std::string hint = hint_for_characters(characters);
    const bool in_word = (token.begin > 0 && is_word_character(text_[token.begin - 1])) ||
                         (token.end < text_.size() && is_word_character(text_[token.end]));
    if (first == '$' && in_word) hint = "a variable is written without `$`";
    if (hint.empty() && first >= 0x80 && in_word) hint = "names are made of ASCII letters, digits and `_`";
    if (!hint.empty()) diagnostic.note(std::move(hint));
  }

  void mark_lines() {
    std::size_t from = 0;
    for (SourceToken& token : tokens()) {
      token.first_on_line =
          from == 0 || slice(static_cast<std::uint32_t>(from), token.begin).find('\n') != std::string_view::npos;
      from = token.end;
    }
  }

  /// Pairs brackets. A `}` closes the nearest `{` whatever is open inside; others do not reach across a `{`.
  void pair_brackets() {
    OpenBrackets open;
    for (SourceToken& token : tokens()) {
      switch (token.type) {
        case Lexer::LPAREN: open.parens.push_back(token.index); break;
        case Lexer::LBRACK: open.bracks.push_back(token.index); break;
        case Lexer::LBRACE: open.braces.push_back(token.index); break;
        case Lexer::RPAREN: close(open, open.parens, token); break;
        case Lexer::RBRACK: close(open, open.bracks, token); break;
        case Lexer::RBRACE: close(open, open.braces, token); break;
        default: break;
      }
      token.depth = static_cast<std::uint32_t>(open.parens.size() + open.bracks.size() + open.braces.size());
    }
  }
  struct OpenBrackets {
    std::vector<std::uint32_t> parens, bracks, braces;  ///< token indices, increasing
  };
  void close(OpenBrackets& open, std::vector<std::uint32_t>& same, SourceToken& closing) {
    const bool behind_brace =
        &same != &open.braces && !same.empty() && !open.braces.empty() && same.back() < open.braces.back();
    if (same.empty() || behind_brace) return;
    closing.partner = same.back();
    tokens()[closing.partner].partner = closing.index;
    for (std::vector<std::uint32_t>* kind : {&open.parens, &open.bracks, &open.braces})
      while (!kind->empty() && kind->back() >= closing.partner) kind->pop_back();
  }

  /// In `@a = value`: turns the names of the value into CONSTANT_NAME, but those which a `(` follows at once.
  void mark_constant_names(std::size_t at) {
    const bool has_name = tokens()[at + 1].type == Lexer::ID || tokens()[at + 1].type == Lexer::DEFAULT;
    if (!has_name || tokens()[at + 2].type != Lexer::ASSIGN) return;
    std::size_t i = at + 3;
    const auto type = [&](std::size_t index) { return list_.at(index).type; };
    const auto skip_brackets = [&] {
      const std::uint32_t partner = list_.at(i).partner;
      i = partner == SourceToken::no_partner ? tokens().size() : partner + 1;
    };
    for (;;) {
      while (type(i) == Lexer::MINUS || type(i) == Lexer::NOT) ++i;
      if (type(i) == Lexer::ID) {
        const bool called = type(i + 1) == Lexer::LPAREN && list_.at(i + 1).begin == list_.at(i).end;
        if (!called) list_.at(i).type = Lexer::CONSTANT_NAME;
        ++i;
        if (called) skip_brackets();
      } else if (type(i) == Lexer::LPAREN) {
        skip_brackets();
      } else {
        ++i;
      }
      while (type(i) == Lexer::LBRACK || type(i) == Lexer::DOT) {
        if (type(i) == Lexer::DOT)
          i += 2;
        else
          skip_brackets();
      }
      if (type(i) < Lexer::PLUS || type(i) > Lexer::POWER) return;
      ++i;
    }
  }

  /// `try {` where a statement may begin. In a command line, `"sort" try {1: 2}`, it is a name.
  void mark_tries() {
    for (std::size_t i = 0; i + 1 < tokens().size(); ++i) {
      SourceToken& token = tokens()[i];
      if (token.type != Lexer::ID || tokens()[i + 1].type != Lexer::LBRACE || list_.text(token) != "try") continue;
      const std::uint32_t before = i == 0 ? std::uint32_t{Lexer::SEMI} : tokens()[i - 1].type;
      const bool begins = before == Lexer::SEMI || before == Lexer::LBRACE || before == Lexer::RBRACE ||
                          before == Lexer::ARROW || before == Lexer::COLON;
      if (begins) token.type = Lexer::TRY;
    }
  }

  std::string_view text_;
  ByteStream bytes_;
  RawLexer lexer_;
  Diagnostics& diagnostics_;
  TokenList list_;
  std::vector<SourceToken> wrong_;
  int restarts_left_ = 20;  ///< each reads the rest of the file again: hostile input must not make this quadratic
};

}  // namespace

TokenList tokenize(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                   const ExpandedText* expanded) {
  return Tokenizer(TokenList(file, sources, expanded), diagnostics).run();
}

std::string print_tokens(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                         const ExpandedText* expanded) {
  TokenList list = tokenize(file, sources, diagnostics, expanded);
  ByteStream nothing("");
  const RawLexer lexer(nothing);
  std::string out;
  for (const SourceToken& token : list.tokens()) {
    const LineColumn at = sources.position(list.span(token));
    const bool end = token.type == SourceToken::end_of_file;
    fmt::format_to(std::back_inserter(out), "{}:{} {}", at.line, at.column,
                   end ? "END_OF_FILE" : lexer.getVocabulary().getSymbolicName(token.type));
    if (!end) out += ' ';
    for (const char c : list.text(token)) {
      if (c == '\n')
        out += "\\n";
      else if (c != '\r')
        out += c;
    }
    out += '\n';
  }
  return out;
}

}  // namespace raddle
