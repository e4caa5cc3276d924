#include "compiler/ir/text_tokens.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace raddle::ir {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : rest_(text) {}

  std::expected<std::vector<Token>, std::string> run() {
    for (skip_blank(); !rest_.empty() && error_.empty(); skip_blank()) next();
    if (!error_.empty()) return std::unexpected(fmt::format("line {}: {}", line_, error_));
    add(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::string text, Span span = {}) {
    tokens_.push_back({kind, std::move(text), span, line_});
  }

  void skip_blank() {
    while (!rest_.empty() && (std::isspace(static_cast<unsigned char>(rest_.front())) || rest_.starts_with("//"))) {
      if (rest_.front() == '/') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
        continue;
      }
      if (rest_.front() == '\n') ++line_;
      rest_.remove_prefix(1);
    }
  }

  template <typename Accept>
  std::string take_while(Accept accept) {
    std::size_t length = 0;
    while (length < rest_.size() && accept(rest_[length])) ++length;
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }

  void next() {
    const char c = rest_.front();
    if (c == '%' || c == '@') {
      rest_.remove_prefix(1);
      const bool is_hidden = c == '@' && rest_.starts_with('@');  // a library function that no script can name
      if (is_hidden) rest_.remove_prefix(1);
      const std::string name = (is_hidden ? "@" : "") + take_while(is_name);
      return add(c == '%' ? Token::Kind::variable : Token::Kind::function, name);
    }
    if (c == '"') return string();
    if (c == '!') return position();
    if (rest_.starts_with("->")) {
      rest_.remove_prefix(2);
      return add(Token::Kind::punctuation, "->");
    }
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return add(Token::Kind::word, take_while(is_name));
    rest_.remove_prefix(1);
    add(Token::Kind::punctuation, std::string(1, c));
  }

  void number() {
    std::string text = rest_.front() == '-' ? "-" : "";
    if (!text.empty()) rest_.remove_prefix(1);
    if (rest_.starts_with("inf")) return add(Token::Kind::number, text + take_while(is_name));
    char before = 0;
    text += take_while([&before](char c) {
      const bool sign = (c == '+' || c == '-') && before == 'e';
      before = c;
      return sign || is_name(c);
    });
    add(Token::Kind::number, std::move(text));
  }

  void string() {
    std::string text;
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\\')
        text += escape();
      else
        text += c;
    }
    if (rest_.empty())
      error_ = "unfinished string";
    else
      rest_.remove_prefix(1);
    add(Token::Kind::string, std::move(text));
  }

  char escape() {
    if (rest_.empty()) return '\\';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'n') return '\n';
    if (c != 'x') return c;
    unsigned value = 0;
    const std::string_view digits = rest_.substr(0, 2);
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    rest_.remove_prefix(digits.size());
    return static_cast<char>(value);
  }

  void position() {
    Span span;
    rest_.remove_prefix(1);
    if (!integer(span.file) || !accept(':') || !integer(span.begin) || !accept('-') || !integer(span.end))
      error_ = "a position is !FILE:BEGIN-END";
    add(Token::Kind::position, "", span);
  }
  bool integer(std::uint32_t& value) {
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return code == std::errc();
  }
  bool accept(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  std::vector<Token> tokens_;
  std::string error_;
  unsigned line_ = 1;
};

}  // namespace

std::expected<std::vector<Token>, std::string> text_tokens(std::string_view text) { return Tokenizer(text).run(); }

}  // namespace raddle::ir
