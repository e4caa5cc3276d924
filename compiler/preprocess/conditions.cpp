// `#if` to `#endif`.
#include <fmt/format.h>

#include "compiler/preprocess/condition.hpp"
#include "compiler/preprocess/directives.hpp"

namespace raddle::preprocessor {

void Reader::open_condition(const Line& line) {
  Condition opened{.at = line.at, .word = line.word, .outside_active = active(), .file_depth = open_files_.size()};
  const std::size_t errors = diagnostics_.error_count();
  opened.active = opened.outside_active && condition_holds(line);
  opened.is_reported = diagnostics_.error_count() != errors;
  opened.taken = opened.active;
  conditions_.push_back(opened);
}

/// `#elif`, `#elifdef`, `#elifndef`, `#else`.
void Reader::next_branch(const Line& line) {
  if (conditions_.empty() || conditions_.back().file_depth != open_files_.size()) {
    diagnostics_.report(DiagnosticKind::unmatched_directive, line.at, line.word, "if");
    return;
  }
  Condition& current = conditions_.back();
  if (current.word == "else") {
    fail(line.at, fmt::format("`#{}` behind `#else`", line.word)).label(current.at, "`#else` is here");
    return;
  }
  current.word = line.word;
  current.at = line.at;
  const bool due = current.outside_active && !current.taken;
  current.active = due && (line.word == "else" || condition_holds(line));
  current.taken = current.taken || current.active;
}

void Reader::close_condition(const Line& line) {
  if (conditions_.empty() || conditions_.back().file_depth != open_files_.size())
    diagnostics_.report(DiagnosticKind::unmatched_directive, line.at, line.word, "if");
  else
    conditions_.pop_back();
}

bool Reader::condition_holds(const Line& line) {
  if (line.word.ends_with("def")) return is_defined(line) != line.word.ends_with("ndef");
  if (line.tokens.empty()) {
    fail(line.at, fmt::format("expected a condition after `#{}`", line.word));
    return false;
  }
  bool well_formed = true;
  std::vector<Token> tokens = replace_defined(line.tokens, well_formed);
  if (!well_formed) {
    fail(line.span(), "expected a name after `defined`");
    return false;
  }
  const auto value = evaluate_condition(expander_.expand(std::move(tokens)), line.span());
  if (value) return *value;
  fail(value.error().at, value.error().message)
      .note("the condition is made of integers, macros, `defined(NAME)` and operators");
  return false;
}

bool Reader::is_defined(const Line& line) {
  if (!line.tokens.empty() && line.tokens[0].kind == TokenKind::name)
    return expander_.find(line.tokens[0].text) != nullptr;
  fail(line.span(), fmt::format("expected a name after `#{}`", line.word));
  return false;
}

/// `defined NAME` and `defined(NAME)` become 1 or 0.
std::vector<Token> Reader::replace_defined(const std::vector<Token>& tokens, bool& well_formed) const {
  std::vector<Token> words, out;
  for (const Token& token : tokens)
    if (token.kind != TokenKind::blank) words.push_back(token);
  const auto is_mark = [&](std::size_t at, std::string_view text) {
    return at < words.size() && words[at].text == text;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].kind != TokenKind::name || words[i].text != "defined") {
      out.push_back(words[i]);
      continue;
    }
    const bool open = is_mark(i + 1, "(");
    const std::size_t name = i + (open ? 2 : 1);
    if (name >= words.size() || words[name].kind != TokenKind::name || (open && !is_mark(name + 1, ")"))) {
      well_formed = false;
      return {};
    }
    out.push_back(
        {TokenKind::number, false, false, expander_.find(words[name].text) != nullptr ? "1" : "0", words[name].from});
    i = open ? name + 1 : name;
  }
  return out;
}

}  // namespace raddle::preprocessor
