#include "compiler/tool/repl/highlight.hpp"

#include <algorithm>
#include <array>

#include "compiler/parse/lexemes.hpp"

namespace raddle::tool::repl {

namespace {

constexpr std::string_view style_keyword = "35", style_type = "36", style_call = "34", style_string = "32",
                           style_number = "33", style_comment = "90", style_wrong = "31", style_command = "1";

constexpr std::array<std::string_view, 27> keyword_list = {
    "NaN",     "app",    "case",   "const",  "deep", "default", "else",    "false",  "for",
    "foreach", "global", "if",     "import", "in",   "inf",     "iterate", "pragma", "stderr",
    "stdin",   "stdout", "switch", "true",   "try",  "type",    "typedef", "until",  "wait"};
constexpr std::array<std::string_view, 12> type_list = {
    "bag", "blob", "boolean", "file", "float", "float32", "int", "int32", "string", "updateable_float", "url", "void"};

std::string_view style_of_word(std::string_view word, std::string_view rest) {
  if (std::ranges::find(keyword_list, word) != keyword_list.end()) return style_keyword;
  if (std::ranges::find(type_list, word) != type_list.end()) return style_type;
  const std::size_t next = rest.find_first_not_of(" \t");
  return next != std::string_view::npos && rest[next] == '(' ? style_call : "";
}

std::string_view style_of(const Lexeme& lexeme, std::string_view text) {
  switch (lexeme.kind) {
    case LexemeKind::word:
      return style_of_word(text.substr(lexeme.begin, lexeme.end - lexeme.begin), text.substr(lexeme.end));
    case LexemeKind::number: return style_number;
    case LexemeKind::string: return style_string;
    case LexemeKind::sign: return "";
    case LexemeKind::line_comment:
    case LexemeKind::block_comment:
    case LexemeKind::hash_line: return style_comment;
    // a string that is still being typed is no fault
    case LexemeKind::wrong: return text[lexeme.begin] == '"' ? style_string : style_wrong;
  }
  return "";
}

}  // namespace

std::vector<terminal::StyledRange> highlight(std::string_view text) {
  std::vector<terminal::StyledRange> styles;
  std::size_t from = 0;
  if (text.starts_with(':')) {
    from = std::min(text.find(' '), text.size());
    styles.push_back({0, from, style_command});
  }
  const std::string_view rest = text.substr(from);
  for (const Lexeme& lexeme : lexemes_of(rest))
    if (const std::string_view style = style_of(lexeme, rest); !style.empty())
      styles.push_back({from + lexeme.begin, from + lexeme.end, style});
  return styles;
}

std::vector<std::string_view> keywords() { return {keyword_list.begin(), keyword_list.end()}; }
std::vector<std::string_view> basic_types() { return {type_list.begin(), type_list.end()}; }

}  // namespace raddle::tool::repl
