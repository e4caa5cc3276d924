#include "compiler/preprocess/directives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/preprocess/condition.hpp"

namespace raddle::preprocessor {

namespace {

constexpr std::size_t most_reported = 20;  ///< conditions without end of one file

/// Two characters that would be read as one token, though they come from different places.
bool would_join(char left, char right) {
  constexpr std::string_view marks = "+-*/%=<>!&|:.";
  if (is_name_character(left)) return is_name_character(right);
  if (left == '"') return right == '"';
  return marks.find(left) != std::string_view::npos && marks.find(right) != std::string_view::npos;
}

}  // namespace

Diagnostic& Reader::fail(Span at, std::string message) {
  return diagnostics_.report(DiagnosticKind::bad_directive, at, message);
}

void Reader::read(std::uint32_t file) {
  const SourceBuffer& source = sources_.at(file);
  Scanner scanner(file, source.text());
  Scanner* const outside = expander_.scanner();
  open_files_.push_back(source.path());
  const std::size_t conditions_before = conditions_.size();
  expander_.read_from(&scanner);
  for (Token token = expander_.next(); token.kind != TokenKind::end;
       token = active() ? expander_.next() : scanner.next()) {
    if (token.kind == TokenKind::hash)
      directive(token);
    else if (active())
      emit(token);
  }
  for (std::size_t i = conditions_before; i < std::min(conditions_.size(), conditions_before + most_reported); ++i)
    if (!conditions_[i].is_reported)
      diagnostics_.report(DiagnosticKind::unmatched_directive, conditions_[i].at, conditions_[i].word, "endif");
  conditions_.resize(conditions_before);
  const auto end = static_cast<std::uint32_t>(source.text().size());
  if (!source.text().ends_with('\n')) out_.append("\n", {file, end, end}, PartOrigin::replaced);
  out_.end_at({file, end, end});
  open_files_.pop_back();
  expander_.read_from(outside);
}

void Reader::emit(const Token& token) {
  const std::string& text = out_.text();
  // what stands side by side in the text of a macro is one operator: `==` is two tokens here
  const bool seam = (token.made || out_.ends_with_replaced()) && token.text.data() != end_of_last_;
  end_of_last_ = token.text.data() + token.text.size();
  if (seam && !text.empty() && would_join(text.back(), token.text.front()))
    out_.append(" ", token.from, PartOrigin::replaced);
  out_.append(token.text, token.from, token.made ? PartOrigin::replaced : PartOrigin::copied);
}

// ---------------------------------------------------------------- lines

Reader::Line Reader::read_line(const Token& hash) {
  Line line;
  Scanner& scanner = *expander_.scanner();
  Token token = scanner.next_in_directive();
  line.spaced = token.kind == TokenKind::blank;
  if (line.spaced) token = scanner.next_in_directive();
  line.at = hash.from;
  if (token.kind == TokenKind::name) {
    line.word = token.text;
    line.at.end = token.from.end;
    token = scanner.next_in_directive();
  }
  for (; token.kind != TokenKind::end; token = scanner.next_in_directive())
    if (token.kind != TokenKind::blank || !line.tokens.empty()) line.tokens.push_back(token);
  while (!line.tokens.empty() && line.tokens.back().kind == TokenKind::blank) line.tokens.pop_back();
  const std::optional<Span> open_comment = scanner.take_open_comment();
  if (open_comment && is_directive(line.word))
    diagnostics_.report(DiagnosticKind::unterminated_comment, *open_comment)
        .note("a comment in a directive ends on the same line");
  return line;
}

/// `# if all goes well`: with a blank behind the `#`, what makes no sense as a directive is a comment.
bool Reader::is_prose(const Line& line) {
  if (!line.spaced) return false;
  const std::vector<Token>& words = line.tokens;
  const bool named = !words.empty() && words[0].kind == TokenKind::name;
  if (line.word == "error" || line.word == "warning") return conditions_.empty();
  if (line.word == "else" || line.word == "endif") return !words.empty() || conditions_.empty();
  if (line.word == "include") return words.empty() || named;
  if (line.word == "define") return !named;
  if (line.word != "if" && line.word != "elif") return !named || words.size() > 1;
  bool well_formed = true;
  std::vector<Token> tokens = replace_defined(words, well_formed);
  return !well_formed || !evaluate_condition(expander_.expand(std::move(tokens)), line.at);
}

void Reader::warn_of_misspelling(const Line& line) {
  if (line.spaced || !active()) return;
  if (const std::string meant = misspelt_directive(line.word); !meant.empty())
    diagnostics_.report(DiagnosticKind::misspelt_directive, line.at, line.word)
        .note(fmt::format("did you mean `#{}`?", meant));
}

void Reader::directive(const Token& hash) {
  const Line line = read_line(hash);
  if (line.word == "pragma" && line.tokens.size() == 1 && line.tokens[0].text == "once" && active())
    read_once_.insert(open_files_.back());
  if (!is_directive(line.word)) return warn_of_misspelling(line);
  if (is_prose(line)) return;
  if (line.word == "if" || line.word == "ifdef" || line.word == "ifndef") return open_condition(line);
  if (line.word == "endif") return close_condition(line);
  if (line.word.starts_with("el")) return next_branch(line);
  if (!active()) return;
  if (line.word == "define") return define(line);
  if (line.word == "undef") return undefine(line);
  if (line.word == "include") return include(line);
  message(line);
}

/// `#error`, `#warning`: the rest of the line as it is written.
void Reader::message(const Line& line) {
  const Span span = line.span();
  std::string text = sources_.at(span.file).text().substr(span.begin, span.end - span.begin);
  if (line.tokens.empty()) text = fmt::format("`#{}`", line.word);
  const bool error = line.word == "error";
  diagnostics_.report(error ? DiagnosticKind::error_directive : DiagnosticKind::warning_directive, line.at, text);
}

// ---------------------------------------------------------------- macros

void Reader::define(const Line& line) {
  if (line.tokens.empty() || line.tokens[0].kind != TokenKind::name) {
    fail(line.span(), "expected a name after `#define`");
    return;
  }
  Macro macro;
  macro.name = line.tokens[0].text;
  macro.definition = line.tokens[0].from;
  std::size_t next = 1;
  macro.has_parameters = next < line.tokens.size() && is_other(line.tokens[next], "(");
  if (macro.name == "defined") {
    fail(macro.definition, "`defined` can not be a macro");
    return;
  }
  if (macro.has_parameters && !read_parameters(line, ++next, macro)) return;
  macro.body = macro_body(line, next, macro);
  expander_.define(std::move(macro));
}

/// From behind the `(` to behind the `)`.
bool Reader::read_parameters(const Line& line, std::size_t& next, Macro& macro) {
  std::vector<Token> words;
  for (; next < line.tokens.size() && !is_other(line.tokens[next], ")"); ++next)
    if (line.tokens[next].kind != TokenKind::blank) words.push_back(line.tokens[next]);
  if (next == line.tokens.size()) {
    fail(line.span(), fmt::format("the parameters of macro `{}` have no `)`", macro.name));
    return false;
  }
  ++next;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool dots =
        i + 3 == words.size() && is_other(words[i], ".") && is_other(words[i + 1], ".") && is_other(words[i + 2], ".");
    const bool named = words[i].kind == TokenKind::name;
    if (dots) {
      macro.is_variadic = true;
      macro.parameters.emplace_back("__VA_ARGS__");
      return true;
    }
    if (named) macro.parameters.emplace_back(words[i].text);
    const bool last = i + 1 == words.size();
    const bool comma = !last && is_other(words[i + 1], ",") && i + 2 < words.size();
    if (!named || (!last && !comma)) {
      fail(words[i].from, fmt::format("the parameters of macro `{}` are names with commas between", macro.name));
      return false;
    }
    ++i;
  }
  return true;
}

/// Blanks become one, `##` one token. Without parameters a `#` begins a comment.
std::vector<Token> Reader::macro_body(const Line& line, std::size_t from, const Macro& macro) {
  std::vector<Token> body;
  for (std::size_t i = from; i < line.tokens.size(); ++i) {
    Token token = line.tokens[i];
    if (token.kind == TokenKind::blank) {
      token.text = " ";
      if (body.empty()) continue;
    }
    if (is_other(token, "#")) {
      const bool twice = i + 1 < line.tokens.size() && is_other(line.tokens[i + 1], "#");
      if (twice) {
        token.text = "##";
        ++i;
      } else if (!macro.has_parameters) {
        break;
      } else {
        const bool blank = i + 1 < line.tokens.size() && line.tokens[i + 1].kind == TokenKind::blank;
        const std::size_t name = i + (blank ? 2 : 1);
        if (name >= line.tokens.size() ||
            std::ranges::find(macro.parameters, line.tokens[name].text) == macro.parameters.end()) {
          fail(token.from, fmt::format("`#` in macro `{}` needs one of its parameters behind it", macro.name));
          return {};
        }
      }
    }
    body.push_back(token);
  }
  while (!body.empty() && body.back().kind == TokenKind::blank) body.pop_back();
  if (!body.empty() && (is_other(body.front(), "##") || is_other(body.back(), "##"))) {
    fail(line.span(), fmt::format("`##` in macro `{}` needs something on both sides", macro.name));
    return {};
  }
  return body;
}

void Reader::undefine(const Line& line) {
  if (line.tokens.size() != 1 || line.tokens[0].kind != TokenKind::name)
    fail(line.span(), "expected one name after `#undef`");
  else
    expander_.undefine(line.tokens[0].text);
}

}  // namespace raddle::preprocessor
