#include "compiler/preprocess/scan.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"

namespace raddle::preprocessor {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_character(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool is_directive(std::string_view word) {
  constexpr std::array<std::string_view, 13> words = {"include", "define", "undef",   "if",       "ifdef",
                                                      "ifndef",  "elif",   "elifdef", "elifndef", "else",
                                                      "endif",   "error",  "warning"};
  return std::ranges::find(words, word) != words.end();
}

std::string misspelt_directive(std::string_view word) {
  static const std::vector<std::string> long_ones = {"include", "define", "undef", "ifdef", "ifndef"};
  return nearest_name(word, long_ones);
}

Scanner::Scanner(std::uint32_t file, std::string_view text, std::uint32_t begin, std::uint32_t end)
    : file_(file), text_(text.substr(0, end)), at_(begin) {
  if (begin == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

Token Scanner::token(TokenKind kind, std::uint32_t begin) {
  if (kind == TokenKind::newline)
    line_start_ = true;
  else if (kind != TokenKind::blank)
    line_start_ = false;
  return {kind, false, false, text_.substr(begin, at_ - begin), {file_, begin, at_}};
}

Token Scanner::next() {
  const std::uint32_t begin = at_;
  if (at_ >= text_.size()) return token(TokenKind::end, begin);
  const char c = text_[at_];
  if (c == '\n') {
    ++at_;
    return token(TokenKind::newline, begin);
  }
  if (is_blank(c)) {
    skip_blanks();
    return token(TokenKind::blank, begin);
  }
  if (skip_comment()) return token(TokenKind::blank, begin);
  if (c == '#') {
    if (line_start_) {
      ++at_;
      return token(TokenKind::hash, begin);
    }
    at_ = end_of_line(at_);
    return token(TokenKind::blank, begin);
  }
  if (skip_string()) return token(TokenKind::string, begin);
  return word_or_other(begin);
}

Token Scanner::next_in_directive() {
  const std::uint32_t begin = at_;
  if (at_ >= text_.size() || text_[at_] == '\n') return {TokenKind::end, false, false, {}, {file_, begin, begin}};
  if (is_blank(text_[at_]) || splice_length() != 0) {
    skip_blanks_and_splices();
    return token(TokenKind::blank, begin);
  }
  if (skip_comment_of_line()) return token(TokenKind::blank, begin);
  if (text_[at_] == '"') {
    const std::uint32_t line_end = end_of_line(at_);
    const bool closed = skip_string() && at_ <= line_end;
    if (!closed) at_ = line_end;
    return token(closed ? TokenKind::string : TokenKind::other, begin);
  }
  return word_or_other(begin);
}

Token Scanner::word_or_other(std::uint32_t begin) {
  const char c = text_[at_++];
  if (is_name_start(c)) {
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return token(TokenKind::name, begin);
  }
  if (c >= '0' && c <= '9') {  // letters in it are no names: `0x1F`, `1e3`
    while (at_ < text_.size() && (is_name_character(text_[at_]) || text_[at_] == '.')) ++at_;
    return token(TokenKind::number, begin);
  }
  return token(TokenKind::other, begin);
}

std::uint32_t Scanner::splice_length() const {
  if (at_text("\\\n")) return 2;
  return at_text("\\\r\n") ? 3 : 0;
}

void Scanner::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void Scanner::skip_blanks_and_splices() {
  for (;;) {
    skip_blanks();
    const std::uint32_t splice = splice_length();
    if (splice == 0) return;
    at_ += splice;
  }
}

void Scanner::skip_directive() {
  while (next_in_directive().kind != TokenKind::end) {
  }
}

std::uint32_t Scanner::end_of_line(std::uint32_t from) const {
  return static_cast<std::uint32_t>(std::min(text_.find('\n', from), text_.size()));
}

bool Scanner::skip_comment() {
  if (at_text("//")) {
    at_ = end_of_line(at_);
    return true;
  }
  if (!at_text("/*")) return false;
  const std::size_t end = text_.find("*/", at_ + 2);
  at_ = static_cast<std::uint32_t>(end == std::string_view::npos ? text_.size() : end + 2);
  return true;
}

bool Scanner::skip_comment_of_line() {
  const std::uint32_t begin = at_, line_end = end_of_line(at_);
  if (!skip_comment()) return false;
  if (at_ <= line_end) return true;
  at_ = line_end;
  open_comment_ = Span{file_, begin, begin + 2};
  return true;
}

bool Scanner::skip_string() {
  if (at_text("----")) return skip_long_string("----");
  if (text_[at_] != '"') return false;
  if (at_text("\"\"\"") && skip_long_string("\"\"\"")) return true;
  std::uint32_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  const std::uint32_t line_end = end_of_line(at_);
  const bool closed = end < text_.size() && (end < line_end || !holds_directive(line_end, end));
  at_ = closed ? end + 1 : line_end;
  return true;
}

bool Scanner::skip_long_string(std::string_view mark) {
  const std::size_t content = at_ + mark.size();
  const std::string_view rest = text_.substr(content);
  if (!rest.starts_with("\n") && !rest.starts_with("\r\n")) return false;
  std::size_t end = content;
  while (end < text_.size() && !text_.substr(end).starts_with(mark)) end += text_[end] == '\\' ? 2 : 1;
  at_ = static_cast<std::uint32_t>(std::min(end + mark.size(), text_.size()));
  return true;
}

bool Scanner::holds_directive(std::uint32_t begin, std::uint32_t end) const {
  for (std::size_t line = text_.find('\n', begin); line < end; line = text_.find('\n', line + 1)) {
    std::size_t at = line + 1;
    while (at < end && is_blank(text_[at])) ++at;
    if (at >= end || text_[at] != '#') continue;
    const std::size_t word = ++at;
    while (at < end && is_name_character(text_[at])) ++at;
    if (is_directive(text_.substr(word, at - word))) return true;
  }
  return false;
}

}  // namespace raddle::preprocessor
