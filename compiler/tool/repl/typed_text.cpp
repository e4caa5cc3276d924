#include "compiler/tool/repl/typed_text.hpp"

#include <algorithm>
#include <cctype>

#include "compiler/parse/lexemes.hpp"

namespace raddle::tool::repl {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

bool ends_with_semicolon(std::string_view text) { return without_blanks(text).ends_with(';'); }

const Diagnostic& first_error(const Diagnostics& diagnostics) {
  const auto is_error = [](const Diagnostic& each) { return severity_of(each.kind) == Severity::error; };
  return *std::ranges::find_if(diagnostics.all(), is_error);
}

std::pair<bool, std::uint32_t> explained(const Diagnostics& diagnostics) {
  const Diagnostic& first = first_error(diagnostics);
  const bool is_unexpected =
      first.kind == DiagnosticKind::unexpected_token || first.kind == DiagnosticKind::missing_token;
  return {!is_unexpected, first.span.begin};
}

bool opens_lines(const Diagnostics& diagnostics, std::string_view text) {
  return std::ranges::any_of(diagnostics.all(), [text](const Diagnostic& each) {
    const std::string_view at = text.substr(std::min<std::size_t>(each.span.begin, text.size()));
    return each.kind == DiagnosticKind::unterminated_comment ||
           (each.kind == DiagnosticKind::unterminated_string && (at.starts_with("\"\"\"") || at.starts_with("----")));
  });
}

bool lacks_only_semicolon(const Diagnostics& diagnostics, std::string_view text) {
  const Diagnostic& first = first_error(diagnostics);
  return first.kind == DiagnosticKind::missing_token && first.span.begin >= without_blanks(text).size() &&
         first.message.contains("`;`");
}

std::uint32_t begin_of_last(std::string_view text) {
  int depth = 0;
  bool is_behind = false;  // a statement has ended; what comes next begins another one
  std::uint32_t begin = 0;
  for (const Lexeme& lexeme : lexemes_of(text)) {
    if (lexeme.kind == LexemeKind::line_comment || lexeme.kind == LexemeKind::block_comment) continue;
    if (std::exchange(is_behind, false)) begin = lexeme.begin;
    if (lexeme.kind != LexemeKind::sign) continue;
    const std::string_view sign = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
    if (sign == "(" || sign == "[" || sign == "{") ++depth;
    if (sign == ")" || sign == "]" || sign == "}") --depth;
    is_behind = depth == 0 && (sign == ";" || sign == "}");
  }
  return begin;
}

}  // namespace raddle::tool::repl
