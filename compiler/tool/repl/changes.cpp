#include "compiler/tool/repl/changes.hpp"

#include <algorithm>

#include "compiler/parse/lexemes.hpp"

namespace raddle::tool::repl {

namespace {

bool is_code(const Lexeme& lexeme) {
  return lexeme.kind != LexemeKind::line_comment && lexeme.kind != LexemeKind::block_comment;
}

}  // namespace

std::vector<Change> changes_in(std::string_view text) {
  std::vector<Lexeme> lexemes = lexemes_of(text);
  std::erase_if(lexemes, [](const Lexeme& each) { return !is_code(each); });
  const auto word_at = [&](std::size_t i) {
    return i < lexemes.size() ? text.substr(lexemes[i].begin, lexemes[i].end - lexemes[i].begin) : std::string_view();
  };
  std::vector<Change> found;
  bool begins = true, is_open = false;  // a statement; the value of the change that was found last
  int depth = 0;
  for (std::size_t i = 0; i < lexemes.size(); ++i) {
    const std::string_view sign = word_at(i);
    if (begins && lexemes[i].kind == LexemeKind::word && i + 1 < lexemes.size()) {
      const bool is_append = word_at(i + 1) == "+=";
      const bool is_other = (word_at(i + 1) == "-" || word_at(i + 1) == "*" || word_at(i + 1) == "/") &&
                            word_at(i + 2) == "=" && lexemes[i + 1].end == lexemes[i + 2].begin;
      if (is_append || is_other) {
        const std::size_t value = is_append ? i + 2 : i + 3;
        const std::uint32_t end = value < lexemes.size() ? lexemes[value].begin : lexemes[value - 1].end;
        found.push_back({std::string(sign), std::string(word_at(i + 1).substr(0, 1)), lexemes[i + 1].begin, end, end});
        is_open = true;
      }
    }
    if (sign == "(" || sign == "[" || sign == "{") ++depth;
    if (sign == ")" || sign == "]" || sign == "}") --depth;
    begins = depth == 0 && (sign == ";" || sign == "}");
    if (begins) is_open = false;
    if (is_open) found.back().value_end = std::max(found.back().value_end, lexemes[i].end);
  }
  return found;
}

void append_with_changes(ExpandedText& to, std::string_view file_text, Span part, const std::vector<Change>& changes) {
  std::uint32_t at = part.begin;
  const auto copy_to = [&](std::uint32_t end) {
    if (end > at) to.append(file_text.substr(at, end - at), {part.file, at, end}, PartOrigin::copied);
    at = end;
  };
  for (const Change& each : changes) {
    if (each.begin < part.begin || each.value_end > part.end) continue;
    copy_to(each.begin);
    at = each.end;
    to.append(each.instead_of_sign(each.name), {part.file, each.begin, each.end}, PartOrigin::replaced);
    copy_to(each.value_end);
    to.append(")", {part.file, each.value_end, each.value_end}, PartOrigin::replaced);
  }
  copy_to(part.end);
}

}  // namespace raddle::tool::repl
