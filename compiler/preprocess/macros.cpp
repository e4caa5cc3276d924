#include "compiler/preprocess/macros.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::preprocessor {

namespace {

constexpr std::size_t most_words = 500'000;
constexpr std::size_t most_made_bytes = std::size_t{16} << 20;
constexpr std::size_t most_argument_words = 2'000'000;  ///< calls in arguments of calls read theirs again
constexpr std::size_t deepest_call = 200;  ///< macro calls in arguments of macro calls: each is a recursion

bool is_space(const Token& token) { return token.kind == TokenKind::blank || token.kind == TokenKind::newline; }

void trim(std::vector<Token>& tokens) {
  while (!tokens.empty() && is_space(tokens.back())) tokens.pop_back();
  const auto first = std::ranges::find_if_not(tokens, is_space);
  tokens.erase(tokens.begin(), first);
}

/// Index of the first token from `at` on that is no blank.
std::size_t skip_spaces(const std::vector<Token>& tokens, std::size_t at) {
  while (at < tokens.size() && is_space(tokens[at])) ++at;
  return at;
}

std::size_t parameter_index(const Macro& macro, const Token& token) {
  if (token.kind != TokenKind::name) return macro.parameters.size();
  return static_cast<std::size_t>(std::ranges::find(macro.parameters, token.text) - macro.parameters.begin());
}

}  // namespace

bool Macro::same_text(const Macro& other) const {
  return has_parameters == other.has_parameters && parameters == other.parameters &&
         std::ranges::equal(body, other.body, [](const Token& a, const Token& b) { return a.text == b.text; });
}

void Expander::define(Macro macro) {
  if (const Macro* before = find(macro.name); before != nullptr && !before->same_text(macro)) {
    // The files of -D options and of the script itself are the only ones that nothing includes.
    const bool option = before->definition.file != macro.definition.file &&
                        !sources_.at(before->definition.file).included_at() &&
                        !sources_.at(macro.definition.file).included_at();
    diagnostics_.report(DiagnosticKind::macro_redefined, macro.definition, macro.name)
        .label(before->definition, "first definition")
        .note(option ? fmt::format("put it between `#ifndef {}` and `#endif`, and -D can set it", macro.name)
                     : fmt::format("`#undef {}` before it if it is meant", macro.name));
  }
  Macro& kept = defined_.emplace_back(std::move(macro));
  macros_.erase(kept.name);  // the key refers to the macro
  macros_.emplace(kept.name, &kept);
}

const Macro* Expander::find(std::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : found->second;
}

Token Expander::raw() {
  while (!contexts_.empty()) {
    Context& top = contexts_.back();
    if (top.next < top.tokens.size()) return top.tokens[top.next++];
    if (top.macro != nullptr) top.macro->is_expanding = false;
    contexts_.pop_back();
  }
  return scanner_ == nullptr ? Token{} : scanner_->next();
}

Token Expander::next() {
  for (;;) {
    Token token = raw();
    if (token.kind != TokenKind::name || token.final || replace_predefined(token)) return token;
    const auto found = macros_.find(token.text);
    if (found == macros_.end()) return token;
    Macro& macro = *found->second;
    if (macro.is_expanding) {
      token.final = true;
      return token;
    }
    if (macro.has_parameters && !open_follows()) return token;
    enter(macro, token);
  }
}

bool Expander::replace_predefined(Token& token) {
  if (token.text != "__LINE__" && token.text != "__FILE__") return false;
  const bool line = token.text == "__LINE__";
  token.text = keep(line ? fmt::format("{}", sources_.position(token.from).line)
                         : fmt::format("\"{}\"", sources_.at(token.from.file).path()));
  token.kind = line ? TokenKind::number : TokenKind::string;
  token.made = true;
  return true;
}

std::vector<Token> Expander::expand(std::vector<Token> tokens) {
  std::vector<Context> outer_contexts = std::exchange(contexts_, {});
  Scanner* const outer_scanner = std::exchange(scanner_, nullptr);
  ++depth_;
  push_back(std::move(tokens));
  std::vector<Token> out;
  for (Token token = next(); token.kind != TokenKind::end; token = next()) out.push_back(token);
  --depth_;
  contexts_ = std::move(outer_contexts);
  scanner_ = outer_scanner;
  return out;
}

/// Takes the `(` that comes next, behind blanks and newlines, or nothing if something else does.
bool Expander::open_follows() {
  std::vector<Token> skipped;
  for (;;) {
    Token token = raw();
    if (is_other(token, "(")) return true;
    skipped.push_back(token);
    if (is_space(token)) continue;
    if (token.kind == TokenKind::end) skipped.pop_back();
    if (!skipped.empty()) push_back(std::move(skipped));
    return false;
  }
}

void Expander::enter(Macro& macro, const Token& name) {
  Arguments arguments;
  Span use = name.from;
  if (macro.has_parameters && (!read_arguments(macro, name, arguments, use) || !fits(macro, name, arguments))) return;
  if (!name.made) sources_.add_macro_use({use, macro.name, macro.definition});
  if (depth_ > deepest_call) give_up(macro, name.from, "is used in its own arguments too deeply");
  account(macro, name.from, std::span(&name, 1));  // a macro without text is work, too
  std::vector<Token> text = substitute(macro, arguments, use);
  macro.is_expanding = true;
  contexts_.push_back({std::move(text), 0, &macro});
}

void Expander::give_up(const Macro& macro, Span use, const char* why) {
  diagnostics_.report(DiagnosticKind::bad_macro_use, use, macro.name, why);
  throw TooMuchExpansion{};
}

void Expander::account(const Macro& macro, Span use, std::span<const Token> tokens) {
  made_words_ += tokens.size();
  for (const Token& token : tokens) made_bytes_ += token.text.size();
  if (made_words_ > most_words)
    give_up(macro, use, "makes the script too large: macros made half a million words of it");
  if (made_bytes_ > most_made_bytes) give_up(macro, use, "makes the script too large: macros made 16 MiB of it");
}

/// Reads up to the `)`. @param use  gets the range from the macro's name to there
bool Expander::read_arguments(const Macro& macro, const Token& name, Arguments& arguments, Span& use) {
  arguments.emplace_back();
  std::size_t open = 1;
  for (;;) {
    Token token = raw();
    if (token.kind == TokenKind::end || token.kind == TokenKind::hash) {
      diagnostics_.report(
          DiagnosticKind::bad_macro_use, name.from, macro.name,
          token.kind == TokenKind::end ? "has no `)` behind its arguments" : "has a directive among its arguments");
      if (token.kind == TokenKind::hash) push_back({token});
      return false;
    }
    open += is_other(token, "(") ? 1 : 0;
    open -= is_other(token, ")") ? 1 : 0;
    if (open == 0) {
      if (!name.made && !token.made && token.from.file == name.from.file) use.end = token.from.end;
      for (std::vector<Token>& argument : arguments) trim(argument);
      return true;
    }
    if (++argument_words_ > most_argument_words)
      give_up(macro, name.from, "has too large arguments: those of all macros have two million words");
    const bool rest = macro.is_variadic && arguments.size() >= macro.parameters.size();
    if (open == 1 && is_other(token, ",") && !rest)
      arguments.emplace_back();
    else
      arguments.back().push_back(token);
  }
}

bool Expander::fits(const Macro& macro, const Token& name, Arguments& arguments) {
  const std::size_t expected = macro.parameters.size();
  if (expected == 0 && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
  if (macro.is_variadic && arguments.size() + 1 == expected) arguments.emplace_back();
  if (arguments.size() == expected) return true;
  diagnostics_
      .report(DiagnosticKind::bad_macro_use, name.from, macro.name,
              fmt::format("takes {} argument{}, found {}", expected, expected == 1 ? "" : "s", arguments.size()))
      .label(macro.definition, "defined here");
  return false;
}

std::vector<Token> Expander::substitute(const Macro& macro, const Arguments& arguments, Span use) {
  std::vector<Token> out;
  std::vector<std::vector<Token>> expanded(arguments.size());
  std::vector<bool> is_expanded(arguments.size());
  bool pasting = false;
  bool left_empty = false;  // what stands left of `##`
  for (std::size_t i = 0; i < macro.body.size(); ++i) {
    const Token& token = macro.body[i];
    if (is_other(token, "##")) {
      pasting = true;
      continue;
    }
    const std::size_t after = skip_spaces(macro.body, i + 1);
    const bool pasted_next = after < macro.body.size() && is_other(macro.body[after], "##");
    if (is_space(token)) {
      if (pasting || pasted_next) continue;
      account(macro, use, std::span(&token, 1));
      out.push_back(token);
      continue;
    }
    std::vector<Token> part;
    std::size_t parameter = parameter_index(macro, token);
    if (macro.has_parameters && is_other(token, "#")) {
      const std::vector<Token>& argument = arguments[parameter_index(macro, macro.body[after])];
      account(macro, use, argument);
      part.push_back(stringify(argument, use));
      i = after;
    } else if (parameter == arguments.size()) {
      part.push_back({token.kind, token.final, true, token.text, use});
    } else if (pasting || pasted_next) {
      part = arguments[parameter];
    } else {
      if (!is_expanded[parameter]) expanded[parameter] = expand(arguments[parameter]);
      is_expanded[parameter] = true;
      part = expanded[parameter];
    }
    account(macro, use, part);
    const bool after_comma = pasting && macro.is_variadic && parameter + 1 == arguments.size() && !out.empty() &&
                             is_other(out.back(), ",");  // `, ## __VA_ARGS__`: no comma before nothing
    if (after_comma && part.empty()) out.pop_back();
    if (pasting && !left_empty && !after_comma) {
      if (!out.empty()) account(macro, use, std::span(&out.back(), 1));
      paste(out, std::move(part), use);
    } else {
      out.insert(out.end(), part.begin(), part.end());
    }
    left_empty = part.empty() && (!pasting || left_empty);
    pasting = false;
  }
  return out;
}

Token Expander::stringify(const std::vector<Token>& argument, Span use) {
  std::string text = "\"";
  for (const Token& token : argument) {
    if (is_space(token)) {
      text += ' ';
      continue;
    }
    for (const char c : token.text) {
      if (c == '"' || (c == '\\' && token.kind == TokenKind::string)) text += '\\';
      text += c;
    }
  }
  return {TokenKind::string, false, true, keep(text + '"'), use};
}

void Expander::paste(std::vector<Token>& left, std::vector<Token> right, Span use) {
  if (right.empty() || left.empty()) {
    left.insert(left.end(), right.begin(), right.end());
    return;
  }
  const std::string_view text = keep(fmt::format("{}{}", left.back().text, right.front().text));
  const TokenKind kind = Scanner(use.file, text).next().kind;
  left.back() = {kind, false, true, text, use};
  left.insert(left.end(), right.begin() + 1, right.end());
}

}  // namespace raddle::preprocessor
