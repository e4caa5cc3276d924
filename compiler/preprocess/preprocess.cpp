#include "compiler/preprocess/preprocess.hpp"

#include <fmt/format.h>

#include "compiler/preprocess/directives.hpp"

namespace raddle {

namespace {

using preprocessor::is_blank;
using preprocessor::is_directive;
using preprocessor::is_name_character;
using preprocessor::is_name_start;
using preprocessor::misspelt_directive;

/// The word behind a `#` that begins a line, "" if there is none.
std::string_view word_behind(std::string_view text, std::size_t hash) {
  std::size_t before = hash;
  while (before > 0 && is_blank(text[before - 1])) --before;
  if (before == 3 && text.starts_with("\xEF\xBB\xBF")) before = 0;
  if (before > 0 && text[before - 1] != '\n') return {};
  std::size_t begin = hash + 1;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// Quick, and on the safe side: a directive may turn out to be in a comment.
bool has_work(std::string_view text) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1))
    if (const std::string_view word = word_behind(text, at); is_directive(word) || !misspelt_directive(word).empty())
      return true;
  return text.find("__LINE__") != std::string_view::npos || text.find("__FILE__") != std::string_view::npos;
}

/// The -D options as a file of directives, so that errors can show them.
std::string definitions(const std::vector<std::string>& macros) {
  std::string text;
  for (const std::string& macro : macros) {
    const std::size_t equals = macro.find('=');
    const bool bare = equals == std::string::npos;
    text += fmt::format("#define {} {}\n", macro.substr(0, equals), bare ? "1" : macro.substr(equals + 1));
  }
  return text;
}

}  // namespace

std::optional<ExpandedText> preprocess(std::uint32_t file, SourceMap& sources, const PreprocessOptions& options,
                                       Diagnostics& diagnostics) {
  if (options.macros.empty() && !has_work(sources.at(file).text())) return std::nullopt;
  preprocessor::Reader reader(sources, options, diagnostics);
  try {
    if (!options.macros.empty()) reader.read(sources.add("<command line>", definitions(options.macros)));
    reader.read(file);
  } catch (const preprocessor::TooMuchExpansion&) {
    return ExpandedText();
  }
  return reader.take();
}

void warn_of_directives(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string& text = sources.at(file).text();
  if (text.find('#') == std::string::npos) return;
  preprocessor::Scanner scanner(file, text);
  for (preprocessor::Token token = scanner.next(); token.kind != preprocessor::TokenKind::end; token = scanner.next()) {
    if (token.kind != preprocessor::TokenKind::hash) continue;
    const std::string_view word = word_behind(text, token.from.begin);
    const bool close = scanner.offset() < text.size() && is_name_start(text[scanner.offset()]);
    if (close && is_directive(word))
      diagnostics
          .report(DiagnosticKind::ignored_directive,
                  Span{file, token.from.begin, token.from.end + static_cast<std::uint32_t>(word.size())}, word)
          .note("only the main script and what it includes are preprocessed");
    scanner.skip_directive();
  }
}

std::string fault_of_macro_option(const std::string& definition) {
  if (definition.find('\n') != std::string::npos) return "a macro is one line";
  const std::string_view name = std::string_view(definition).substr(0, definition.find_first_of("=("));
  bool good = !name.empty() && is_name_start(name[0]) && name != "defined";
  for (const char c : name) good = good && is_name_character(c);
  return good ? "" : fmt::format("`{}` is no name for a macro", name);
}

}  // namespace raddle
