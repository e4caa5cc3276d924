// How ErrorStrategy goes on behind an error: what it skips.
#include "RaddleParser.h"
#include "compiler/parse/error_strategy.hpp"
#include "compiler/parse/expectations.hpp"
#include "compiler/parse/newcomer_hints.hpp"
#include "compiler/parse/parse.hpp"

namespace raddle {

namespace {

using P = RaddleParser;

}  // namespace

void ErrorStrategy::check_error_count() const {
  if (diagnostics_.error_count() - errors_before_ > max_syntax_errors) throw TooManyErrors{};
}

void ErrorStrategy::report_unexpected_in_statements() {
  check_error_count();
  const SourceToken& found = tokens_.next();
  const SourceToken* before = previous();
  const bool follows_block = found.type == P::ELSE || found.type == P::UNTIL;
  const bool orphan = follows_block && before != nullptr && before->index == orphan_block_end_;
  const std::uint32_t after = tokens_.at(found.index + 1).type;
  if (!orphan && first_report_at(found)) {
    if (found.type == P::ELSE)
      diagnostics_.report(DiagnosticKind::else_without_if, tokens_.span(found));
    else if (after == P::ASSIGN && is_reserved_word(found.type))
      report_reserved_word(found);
    else
      report_unexpected(nullptr, found, "a statement");
  }
  only_semicolon_missing_ = false;
  tokens_.consume();
  const bool goes_on = found.type == P::ELSE && (after == P::IF || after == P::LBRACE);
  if (!goes_on) skip_statement(found.index, found.type == P::UNTIL);
}

bool ErrorStrategy::skip_foreign_statement() {
  const SourceToken& word = tokens_.next();
  const ForeignStatement foreign = foreign_statement(tokens_, word.index);
  if (foreign.help.empty()) return false;
  check_error_count();
  if (first_report_at(word))
    diagnostics_.report(DiagnosticKind::unexpected_token, tokens_.span(word), describe(word), "a statement")
        .note(std::string(foreign.help));
  only_semicolon_missing_ = false;
  tokens_.consume();
  skip_statement(word.index, foreign.has_block);
  return true;
}

void ErrorStrategy::skip_in_switch() {
  for (;;) {
    const SourceToken& found = tokens_.next();
    if (found.type == P::CASE || found.type == P::DEFAULT || found.type == P::RBRACE ||
        found.type == SourceToken::end_of_file)
      return;
    if (first_report_at(found)) report_unexpected(nullptr, found, "`case`, `default` or `}`");
    tokens_.seek(found.partner != SourceToken::no_partner && found.partner > found.index ? found.partner + 1
                                                                                         : found.index + 1);
    last_reported_ = tokens_.index();  // one report for a row of wrong tokens
  }
}

bool ErrorStrategy::skip_cases(std::size_t keyword) {
  std::size_t opening = keyword;
  while (opening < tokens_.index() && tokens_.at(opening).type != P::LBRACE) ++opening;
  const std::uint32_t closing = tokens_.at(opening).partner;
  if (opening == tokens_.index() || closing == SourceToken::no_partner || closing < tokens_.index()) return false;
  tokens_.seek(closing + 1);
  return true;
}

void ErrorStrategy::skip_statement(std::size_t start, bool stop_at_block) {
  if (only_semicolon_missing_) {
    only_semicolon_missing_ = false;
    return;
  }
  const auto not_right_of_start = [&](const SourceToken& token) {
    const SourceMap& sources = tokens_.sources();
    return sources.position(tokens_.span(token)).column <= sources.position(tokens_.span(tokens_.at(start))).column;
  };
  // The `;` of a `for` header end nothing: go on behind its parenthesis.
  if (stop_at_block) {
    std::size_t opening = start;
    while (opening < tokens_.index() && tokens_.at(opening).type != P::LPAREN) ++opening;
    const std::uint32_t closing = tokens_.at(opening).partner;
    if (tokens_.at(opening).type == P::LPAREN && closing != SourceToken::no_partner && closing > tokens_.index())
      tokens_.seek(closing + 1);
  }
  for (;;) {
    const SourceToken& token = tokens_.next();
    const bool paired = token.partner != SourceToken::no_partner;
    if (token.type == SourceToken::end_of_file) return;
    if (token.type == P::SEMI) return tokens_.consume();
    if (token.type == P::RBRACE && (!paired || token.partner < start)) return;
    if (token.type == P::LBRACE && stop_at_block) {
      if (paired) orphan_block_end_ = token.partner;
      return;
    }
    const bool may_begin = begins_statement(token.type) || begins_item(token.type);
    if (token.index > start && token.first_on_line && may_begin && not_right_of_start(token)) return;
    if (token.type == P::LBRACE && paired)
      tokens_.seek(token.partner + 1);
    else
      tokens_.consume();
  }
}

void ErrorStrategy::skip_item(std::size_t start, bool stop_at_block) { skip_statement(start, stop_at_block); }

void ErrorStrategy::skip_unexpected_item() { report_unexpected_in_statements(); }

void ErrorStrategy::report_nesting() {
  only_semicolon_missing_ = false;
  diagnostics_.report(DiagnosticKind::nested_too_deeply, tokens_.span(tokens_.next()));
}

}  // namespace raddle
