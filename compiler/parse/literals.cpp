#include "compiler/parse/literals.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace raddle {

namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

void append_utf8(std::string& out, unsigned code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else {  // escapes reach U+01FF at most
    out += static_cast<char>(0xC0 | (code_point >> 6));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

class StringDecoder {
 public:
  /// @param made_by_macro  `span` is where a macro is used, not the literal's own place
  StringDecoder(std::string_view text, std::uint32_t offset, Span span, bool made_by_macro, Diagnostics& diagnostics)
      : text_(text), offset_(offset), span_(span), made_by_macro_(made_by_macro), diagnostics_(diagnostics) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\\')
        escape();
      else
        character();
    }
    return std::move(out_);
  }

 private:
  Span part(std::size_t begin, std::size_t end) const {
    if (made_by_macro_) return span_;
    const auto base = span_.begin + offset_;
    return {span_.file, base + static_cast<std::uint32_t>(begin), base + static_cast<std::uint32_t>(end)};
  }
  void character() {
    if (static_cast<unsigned char>(text_[at_]) < 0x80) {
      out_ += text_[at_++];
      return;
    }
    const std::size_t length = utf8_length(text_.substr(at_));
    if (length == 0) {
      if (reports_left_-- > 0) diagnostics_.report(DiagnosticKind::invalid_utf8, part(at_, at_ + 1));
      out_ += "\xEF\xBF\xBD";
      ++at_;
      return;
    }
    out_ += text_.substr(at_, length);
    at_ += length;
  }
  void escape() {
    const std::size_t begin = at_++;
    if (at_ == text_.size()) return;  // only in an unterminated string, which is reported
    const char code = text_[at_];
    if (code >= '0' && code <= '7') return append_number(8, 3);
    if (code == 'x' && at_ + 1 < text_.size() && digit_value(text_[at_ + 1]) < 16) {
      ++at_;
      return append_number(16, 2);
    }
    if (code == '\n' || text_.substr(at_).starts_with("\r\n")) {  // the line goes on in the next one
      at_ += code == '\n' ? 1 : 2;
      return;
    }
    constexpr std::string_view codes = "\\\"?abfnrtv";
    constexpr std::string_view values = "\\\"?\a\b\f\n\r\t\v";
    const std::size_t which = codes.find(code);
    if (which != std::string_view::npos) {
      out_ += values[which];
      ++at_;
      return;
    }
    const std::size_t length = std::max<std::size_t>(utf8_length(text_.substr(at_)), 1);
    if (reports_left_-- > 0)
      diagnostics_.report(DiagnosticKind::unknown_escape, part(begin, at_ + length), text_.substr(begin, length + 1))
          .note("a backslash is written `\\\\`");
    at_ += length;
  }
  void append_number(int base, int max_digits) {
    unsigned value = 0;
    for (int i = 0; i < max_digits && at_ < text_.size() && digit_value(text_[at_]) < base; ++i)
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit_value(text_[at_++]));
    append_utf8(out_, value);
  }

  std::string_view text_;
  std::uint32_t offset_;
  Span span_;
  bool made_by_macro_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  int reports_left_ = 10;  ///< binary data in quotes is one mistake, not thousands
  std::string out_;
};

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first >= 0x80 && (first < 0xC2 || first >= 0xF5)) return 0;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool beyond = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

std::int64_t integer_value(std::string_view text, bool negated, Span span, Diagnostics& diagnostics) {
  int base = 10;
  std::string_view digits = text;
  if (text.starts_with("0x") || text.starts_with("0o")) {
    base = text[1] == 'x' ? 16 : 8;
    digits.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negated ? 1 : 0);
  if (result.ec == std::errc::result_out_of_range || value > limit) {
    diagnostics.report(DiagnosticKind::integer_too_large, span, text)
        .note("write it as a float, with `.0` at the end, if it need not be exact");
    return 0;
  }
  return static_cast<std::int64_t>(negated ? 0 - value : value);
}

double float_value(std::string_view text, Span span, Diagnostics& diagnostics) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isfinite(value)) return value;
  diagnostics.report(DiagnosticKind::bad_literal, span, "the number does not fit in a float");
  return 0;
}

std::string string_value(std::string_view text, Span span, Diagnostics& diagnostics) {
  if (!text.starts_with("\"") && !text.starts_with("----")) return {};  // quotes of another kind, which are reported
  std::string_view mark = "\"";
  for (const std::string_view long_mark : {"\"\"\"\n", "\"\"\"\r\n", "----\n", "----\r\n"})
    if (text.starts_with(long_mark)) mark = long_mark.substr(0, long_mark.find_first_of("\r\n"));
  const std::size_t offset = mark.size();
  const bool made_by_macro = text.size() != span.end - span.begin;
  text.remove_prefix(offset);
  if (text.ends_with(mark)) text.remove_suffix(mark.size());
  return StringDecoder(text, static_cast<std::uint32_t>(offset), span, made_by_macro, diagnostics).run();
}

}  // namespace raddle
