#include "compiler/parse/error_strategy.hpp"

#include <fmt/format.h>

#include "RaddleParser.h"
#include "compiler/parse/expectations.hpp"
#include "compiler/parse/newcomer_hints.hpp"
#include "compiler/parse/parse.hpp"

namespace raddle {

namespace {

using P = RaddleParser;

/// Reserved words that begin no expression and no statement: where a name is due, they are meant as one.
bool is_taken_for_a_name(std::uint32_t type) {
  switch (type) {
    case P::IF:
    case P::ELSE:
    case P::FOR:
    case P::FOREACH:
    case P::SWITCH:
    case P::WAIT:
    case P::ITERATE:
    case P::TRUE:
    case P::FALSE:
    case P::NOT_A_NUMBER:
    case P::INFINITE: return false;
    default: return is_reserved_word(type);
  }
}
/// Tokens with which an expression can end.
bool ends_value(std::uint32_t type) {
  switch (type) {
    case P::ID:
    case P::INT:
    case P::FLOAT:
    case P::STRING:
    case P::MULTILINE_STRING:
    case P::TRUE:
    case P::FALSE:
    case P::NOT_A_NUMBER:
    case P::INFINITE:
    case P::RPAREN:
    case P::RBRACK: return true;
    default: return false;
  }
}

/// One expected token in words.
std::string expected_token(antlr4::Parser* parser, std::uint32_t type) {
  if (type == P::INT) return "an integer";
  const std::string literal = parser->getVocabulary().getLiteralName(type);  // `'x'`, empty for classes of tokens
  if (literal.size() < 2) return expected_by_rule(parser->getRuleContext()->getRuleIndex());
  return fmt::format("`{}`", literal.substr(1, literal.size() - 2));
}
[[noreturn]] void leave_statement() { throw antlr4::ParseCancellationException(); }

}  // namespace

bool ErrorStrategy::begins_statement(std::uint32_t type) {
  switch (type) {
    case P::SEMI:
    case P::LBRACE:
    case P::ID:
    case P::LPAREN:
    case P::AT:
    case P::SWITCH:
    case P::TRY: return true;
    default: return has_block(type);
  }
}

// ---------------------------------------------------------------- parts of messages

Span ErrorStrategy::end_of_previous() {
  const SourceToken* token = previous();
  if (token == nullptr) return {tokens_.file(), 0, 0};
  Span span = tokens_.span(*token);
  span.begin = span.end;
  return span;
}

std::string ErrorStrategy::describe(const SourceToken& token) const {
  switch (token.type) {
    case SourceToken::end_of_file: return "end of file";
    case P::STRING:
    case P::MULTILINE_STRING: return "string";
    default: return fmt::format("`{}`", tokens_.text(token).substr(0, 40));
  }
}

bool ErrorStrategy::first_report_at(const SourceToken& token) {
  const SourceToken* before = previous();
  const bool follows = token.reported || (before != nullptr && before->reported) || token.index == last_reported_;
  last_reported_ = token.index;
  return !follows;
}

bool ErrorStrategy::can_be_missing_before(const SourceToken& token) const {
  return token.first_on_line || token.type == P::RBRACE || token.type == SourceToken::end_of_file ||
         has_block(token.type);
}

/// `int in = 3;`, `type = 3;`: a reserved word where a name is due. @return whether it was one
bool ErrorStrategy::report_reserved_word(const SourceToken& token) {
  if (!is_reserved_word(token.type)) return false;
  diagnostics_.report(DiagnosticKind::reserved_word, tokens_.span(token), tokens_.text(token))
      .note("choose another name");
  return true;
}

// ---------------------------------------------------------------- reports

std::size_t ErrorStrategy::statement_start(antlr4::Parser* parser) {
  antlr4::ParserRuleContext* context = parser->getRuleContext();
  while (context->parent != nullptr && context->getRuleIndex() != P::RuleStatement)
    context = static_cast<antlr4::ParserRuleContext*>(context->parent);
  return static_cast<const SourceToken*>(context->start)->index;
}

/// A function that begins inside of one: the `}` that is missing before it, if one is missing in this file.
bool ErrorStrategy::report_open_body(antlr4::Parser* parser, const SourceToken& found) {
  if (parser == nullptr || !begins_nested_definition(tokens_, found)) return false;
  const std::size_t start = statement_start(parser);
  if (!tokens_.at(start).first_on_line) return false;
  for (std::size_t i = 0; i < start; ++i) {
    const SourceToken& open = tokens_.at(i);
    if (open.type != P::LBRACE || open.partner != SourceToken::no_partner) continue;
    Span span = tokens_.span(tokens_.at(start - 1));
    span.begin = span.end;
    if (!is_open_body_reported_)
      diagnostics_.report(DiagnosticKind::missing_token, span, "`}`", " before the next function")
          .label(tokens_.span(open), "to match this `{`");
    is_open_body_reported_ = true;
    return true;
  }
  return false;
}

void ErrorStrategy::report_unexpected(antlr4::Parser* parser, const SourceToken& found, const std::string& expected) {
  if (report_open_body(parser, found)) return;
  Diagnostic& diagnostic =
      diagnostics_.report(DiagnosticKind::unexpected_token, tokens_.span(found), describe(found), expected);
  if (expected == expected_by_rule(P::RuleWord)) {
    diagnostic.note(hint_for_word(tokens_, found));
    return;
  }
  const Unexpected at{found, parser == nullptr ? found.index : statement_start(parser),
                      parser == nullptr ? std::size_t{P::RuleStatements} : parser->getRuleContext()->getRuleIndex(),
                      expected.find("`)`") != std::string::npos || closes_condition(parser)};
  if (std::string hint = hint_for_unexpected(tokens_, at); !hint.empty()) diagnostic.note(std::move(hint));
}

/// `a and b`, `int f(int x) {`: no `;` is missing before `found`, although a statement could begin with it.
bool ErrorStrategy::known_mistake(antlr4::Parser* parser, const SourceToken& found) {
  if (found.first_on_line ||
      (found.type != P::ID && found.type != P::LPAREN && found.type != P::IF && found.type != P::AT))
    return false;
  return !hint_for_unexpected(tokens_, {found, statement_start(parser), P::RuleStatement, false}).empty();
}

/// In the condition of a `for`, which a `;` ends.
bool ErrorStrategy::closes_condition(antlr4::Parser* parser) {
  return parser != nullptr && parser->getRuleContext()->getRuleIndex() == P::RuleFor_statement;
}

void ErrorStrategy::report_missing_semicolon(antlr4::Parser* parser, const SourceToken& found) {
  only_semicolon_missing_ = can_be_missing_before(found);
  if (!first_report_at(found)) return;
  const SourceToken* before = previous();
  const std::uint32_t after = tokens_.at(found.index + 1).type;
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  const bool name_due =
      before != nullptr && before->type == P::ID && tokens_.text(*before) != "not" && !found.first_on_line;
  if (name_due && is_reserved_word(found.type) &&
      (after == P::ASSIGN || after == P::SEMI || after == P::COMMA || after == P::LBRACK)) {
    only_semicolon_missing_ = false;
    report_reserved_word(found);
    return;
  }
  if (known_mistake(parser, found)) {
    only_semicolon_missing_ = false;
    return report_unexpected(parser, found, "`;`");
  }
  if (only_semicolon_missing_ || found.type == P::ID || found.type == P::LBRACE || begins_statement(found.type)) {
    Diagnostic& diagnostic = diagnostics_.report(DiagnosticKind::missing_token, end_of_previous(), "`;`",
                                                 fmt::format(" after the {}", subject_of_rule(rule)));
    if (before != nullptr)
      if (std::string hint = hint_for_comment_behind(tokens_, *before); !hint.empty()) diagnostic.note(std::move(hint));
    if (found.type != P::LBRACE) return;
    diagnostic.note(std::string(
        hint_for_block_after(tokens_, static_cast<const SourceToken&>(*parser->getRuleContext()->start), found)));
    return;
  }
  report_unexpected(parser, found, "`;`");
}

void ErrorStrategy::report_missing_closing(antlr4::Parser* parser, std::uint32_t expected, const SourceToken& found) {
  const char closing = expected == P::RPAREN ? ')' : expected == P::RBRACK ? ']' : '}';
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  const bool at_end = can_be_missing_before(found) || found.type == P::SEMI || found.type == P::LBRACE;
  if (!at_end) {
    const bool command = rule == P::RuleApp_definition;
    report_unexpected(
        parser, found,
        command ? expected_by_rule(P::RuleWord)
                : fmt::format("{}`{}`", is_list_rule(rule) && found.type != P::COMMA ? "`,` or " : "", closing));
    return;
  }
  if (expected == P::RBRACE && is_open_body_reported_) return;
  Diagnostic& diagnostic =
      diagnostics_.report(DiagnosticKind::missing_token, end_of_previous(), fmt::format("`{}`", closing), "");
  const auto first = static_cast<const SourceToken*>(parser->getRuleContext()->start)->index;
  const std::uint32_t opening_type = expected - 1;  // the grammar lists each pair in this order
  for (std::size_t i = found.index; i-- > first;) {
    const SourceToken& token = tokens_.at(i);
    const bool closed = token.partner != SourceToken::no_partner && token.partner < found.index;
    if (token.type != opening_type || closed) continue;
    diagnostic.label(tokens_.span(token), fmt::format("to match this `{}`", tokens_.text(token)));
    if (found.type == P::SEMI && expected == P::RPAREN && token.partner != SourceToken::no_partner)
      diagnostic.note("what stands in these parentheses is separated by `,`");
    if (std::string hint = hint_for_comment_behind(tokens_, tokens_.at(found.index - 1)); !hint.empty())
      diagnostic.note(std::move(hint));
    return;
  }
}

void ErrorStrategy::report_missing_block(antlr4::Parser* parser, const SourceToken& found) {
  const antlr4::RuleContext* around = static_cast<antlr4::RuleContext*>(parser->getRuleContext()->parent);
  const bool foreach_body = around != nullptr && around->getRuleIndex() == P::RuleForeach_statement;
  if (foreach_body && begins_statement(found.type)) {
    diagnostics_.report(DiagnosticKind::missing_braces, tokens_.span(found), "foreach");
    return;
  }
  if (can_be_missing_before(found))
    diagnostics_.report(DiagnosticKind::missing_token, end_of_previous(), "`{`", "");
  else
    report_unexpected(parser, found, "`{`");
}

// ---------------------------------------------------------------- ANTLR's side

antlr4::Token* ErrorStrategy::recoverInline(antlr4::Parser* parser) {
  SourceToken& found = tokens_.next();
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  const antlr4::misc::IntervalSet expected_set = parser->getExpectedTokens();
  const auto expected = expected_set.size() == 1 ? static_cast<std::uint32_t>(expected_set.getMinElement()) : 0;
  only_semicolon_missing_ = false;

  if (expected == P::SEMI) {
    report_missing_semicolon(parser, found);
    leave_statement();
  }
  if (expected == P::GT && found.type == P::GE) {
    diagnostics_.report(DiagnosticKind::unexpected_token, tokens_.span(found), "`>=`", "`>`")
        .note("put a space between `>` and `=`");
    found.type = P::ASSIGN;
    return &found;
  }
  const bool as_name = rule == P::RuleFormal || is_taken_for_a_name(found.type);
  if (expected == P::ID && as_name && report_reserved_word(found)) {
    tokens_.consume();
    return &found;
  }
  if (!first_report_at(found)) leave_statement();

  const SourceToken* before = previous();
  switch (expected) {
    case P::RPAREN:
    case P::RBRACK:
      report_missing_closing(parser, expected, found);
      if (found.type == P::SEMI || found.type == P::LBRACE) return &found;
      break;
    case P::RBRACE: report_missing_closing(parser, expected, found); break;
    case P::LBRACE: report_missing_block(parser, found); break;
    case P::ID:
      if (before != nullptr && is_reserved_word(before->type) && found.type == P::ASSIGN)
        report_reserved_word(*before);
      else
        report_unexpected(parser, found, name_expected_by_rule(rule));
      break;
    case P::LPAREN: {
      const std::string after = before == nullptr ? "" : fmt::format(" after {}", describe(*before));
      Diagnostic& diagnostic = diagnostics_.report(DiagnosticKind::missing_token, end_of_previous(), "`(`", after);
      if (before == nullptr) break;
      if (std::string hint = hint_for_missing_parenthesis(tokens_, *before); !hint.empty())
        diagnostic.note(std::move(hint));
      break;
    }
    default:
      report_unexpected(parser, found, expected == 0 ? expected_by_rule(rule) : expected_token(parser, expected));
  }
  leave_statement();
}

void ErrorStrategy::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) {
  const auto& found = static_cast<const SourceToken&>(*error.getOffendingToken());
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  only_semicolon_missing_ = false;
  const bool at_next = found.index == tokens_.next().index;
  if (rule == P::RuleChain_statement && at_next) {
    report_missing_semicolon(parser, found);
    return;
  }
  if (!first_report_at(found)) return;
  if (rule == P::RulePrimary && is_taken_for_a_name(found.type) && !found.first_on_line) {
    report_reserved_word(found);
    return;
  }
  const SourceToken* before = previous();
  const bool behind_element = rule == P::RuleArray_literal && before != nullptr && ends_value(before->type);
  report_unexpected(parser, found,
                    rule == P::RuleChain_statement ? "a statement after `=>`"
                    : behind_element               ? "`,` or `]`"
                                                   : expected_by_rule(rule));
}

void ErrorStrategy::recover(antlr4::Parser* parser, std::exception_ptr error) {
  if (error) leave_statement();
  check_error_count();
  antlr4::ParserRuleContext* statement = parser->getRuleContext();
  statement->exception = std::current_exception();  // how build_ast knows it
  const auto start = static_cast<const SourceToken*>(statement->start)->index;
  std::size_t keyword = start;
  while (tokens_.at(keyword).type == P::AT && keyword + 2 < tokens_.index()) keyword += 2;
  if (tokens_.at(keyword).type == P::SWITCH && skip_cases(keyword)) return;
  skip_statement(start, has_block(tokens_.at(keyword).type));
  // `if x:` and its body were skipped without a block: the `else` is no further mistake.
  if (tokens_.at(keyword).type == P::IF && tokens_.next().type == P::ELSE) orphan_block_end_ = tokens_.index() - 1;
}

void ErrorStrategy::sync(antlr4::Parser* parser) {
  const std::size_t rule = parser->getRuleContext()->getRuleIndex();
  if (rule == P::RuleStatements) {
    const auto* around = static_cast<antlr4::RuleContext*>(parser->getRuleContext()->parent);
    const bool in_case = around != nullptr && around->getRuleIndex() == P::RuleCase_clause;
    for (;;) {
      if (skip_foreign_statement()) continue;
      const std::uint32_t type = tokens_.next().type;
      if (begins_statement(type) || type == P::RBRACE || type == SourceToken::end_of_file) return;
      if (in_case && (type == P::CASE || type == P::DEFAULT)) return;
      report_unexpected_in_statements();
    }
  }
  if (rule == P::RuleSwitch_statement) skip_in_switch();
  // a call and a name behind it, `f(x) y`, would be read as the type and the name of a declaration
  if (rule != P::RuleSimple_statement || tokens_.next().type != P::ID) return;
  const auto start = static_cast<const SourceToken*>(parser->getRuleContext()->start)->index;
  const SourceToken* before = previous();
  if (before != nullptr && before->index > start && before->type == P::RPAREN) {
    report_missing_semicolon(parser, tokens_.next());
    leave_statement();
  }
}

}  // namespace raddle
