#include "compiler/parse/lexemes.hpp"

#include "compiler/parse/raw_lexer.hpp"

namespace raddle {

namespace {

using Lexer = RaddleLexer;

LexemeKind kind_of(std::size_t type) {
  if (type <= Lexer::ID && type >= Lexer::APP) return LexemeKind::word;
  switch (type) {
    case Lexer::INT:
    case Lexer::FLOAT: return LexemeKind::number;
    case Lexer::STRING:
    case Lexer::MULTILINE_STRING: return LexemeKind::string;
    case Lexer::HASH_LINE: return LexemeKind::hash_line;
    case Lexer::BAD_NUMBER:
    case Lexer::BAD_CHARACTERS:
    case Lexer::UNTERMINATED_STRING:
    case Lexer::UNTERMINATED_MULTILINE_STRING:
    case Lexer::UNTERMINATED_COMMENT: return LexemeKind::wrong;
    default: return LexemeKind::sign;
  }
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text), bytes_(text), lexer_(bytes_) {}

  std::vector<Lexeme> run() {
    std::uint32_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    lexer_.restart(at);
    for (;;) {
      lexer_.nextToken();
      const bool at_end = lexer_.type == antlr4::Token::EOF;
      add_comments(at, at_end ? static_cast<std::uint32_t>(text_.size()) : lexer_.begin());
      if (at_end) return std::move(out_);
      at = lexer_.end();
      if (lexer_.type == Lexer::HASH_LINE && end_of_directive(at) != at) lexer_.restart(at = end_of_directive(at));
      LexemeKind kind = kind_of(lexer_.type);
      if (lexer_.type == Lexer::STRING && holds_directive(lexer_.begin(), at)) kind = LexemeKind::wrong;
      out_.push_back({kind, lexer_.begin(), without_return(lexer_.begin(), at)});
    }
  }

 private:
  /// The lexer skips comments: they are what is not blank between two of its tokens.
  void add_comments(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t at = begin; at < end;) {
      if (text_[at] != '/') {
        ++at;
        continue;
      }
      const bool to_line_end = text_[at + 1] == '/';
      const std::size_t close = to_line_end ? text_.find('\n', at) : text_.find("*/", at + 2) + 2;
      const auto stop = static_cast<std::uint32_t>(std::min<std::size_t>(close, end));
      out_.push_back(
          {to_line_end ? LexemeKind::line_comment : LexemeKind::block_comment, at, without_return(at, stop)});
      at = stop;
    }
  }

  /// A string over a line like `#if`: the quote before it has no partner, the preprocessor leaves that text out.
  bool holds_directive(std::uint32_t begin, std::uint32_t end) const {
    const std::string_view string = text_.substr(begin, end - begin);
    for (std::size_t at = string.find('\n'); at != std::string_view::npos; at = string.find('\n', at + 1)) {
      const std::size_t first = string.find_first_not_of(" \t", at + 1);
      if (first == std::string_view::npos || string[first] != '#') continue;
      if (string[first + 1] >= 'a' && string[first + 1] <= 'z') return true;
    }
    return false;
  }

  /// @param end  of a line: that of the last line which a backslash joins to it
  std::uint32_t end_of_directive(std::uint32_t end) const {
    while (end < text_.size() && text_.substr(0, without_return(0, end)).ends_with('\\'))
      end = static_cast<std::uint32_t>(std::min(text_.find('\n', end + 1), text_.size()));
    return end;
  }
  /// `end`, or before the carriage return that ends the range.
  std::uint32_t without_return(std::uint32_t begin, std::uint32_t end) const {
    return end > begin && text_[end - 1] == '\r' ? end - 1 : end;
  }

  std::string_view text_;
  ByteStream bytes_;
  RawLexer lexer_;
  std::vector<Lexeme> out_;
};

}  // namespace

std::vector<Lexeme> lexemes_of(std::string_view text) { return Cutter(text).run(); }

}  // namespace raddle
