#pragma once
// What the parser says about syntax errors, and how it goes on behind them. Private to compiler/parse.
#include <antlr4-runtime.h>

#include <cstdint>
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"

namespace raddle {

/// Brackets, blocks or operators are nested deeper than max_nesting: ends the parse of a whole top-level item.
struct NestedTooDeeply {};
/// More than max_syntax_errors: ends the parse of the file.
struct TooManyErrors {};

/// Protocol with the generated parser: the first error of a statement is reported and a ParseCancellationException
/// leaves the statement; rule `statement` catches it and calls recover() without an exception, which skips the rest of
/// the statement. So one statement gives one diagnostic. Only where the repair is certain (a reserved word as a name,
/// `>=` for `> =`, a missing `)` before `;` or `{`) parsing goes on in place.
class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  ErrorStrategy(TokenList& tokens, Diagnostics& diagnostics)
      : tokens_(tokens), diagnostics_(diagnostics), errors_before_(diagnostics.error_count()) {}

  /// match() found another token.
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  /// No alternative begins with the token that was found.
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  /// @param error  null: skip the rest of the current statement; else leave it
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  /// Called before each round of a loop: skips what can not begin a statement.
  void sync(antlr4::Parser* parser) override;
  void reset(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}

  /// Reports the next token as one that can begin nothing at top level, and skips it with what belongs to it.
  void skip_unexpected_item();
  /// Skips the rest of a top-level item that began at token `start`.
  /// @param stop_at_block  the item has a block: stop at its `{`
  void skip_item(std::size_t start, bool stop_at_block);
  void report_nesting();
  /// Reports and skips a statement of another language, `return x;`. @return whether there was one
  bool skip_foreign_statement();
  /// Throws TooManyErrors.
  void check_error_count() const;
  static bool begins_statement(std::uint32_t type);

 private:
  const SourceToken* previous() { return static_cast<const SourceToken*>(tokens_.LT(-1)); }
  Span end_of_previous();
  std::string describe(const SourceToken& token) const;
  /// False if `token` is a follow-up of an error that was reported.
  bool first_report_at(const SourceToken& token);
  bool report_reserved_word(const SourceToken& token);
  bool can_be_missing_before(const SourceToken& token) const;

  void report_missing_semicolon(antlr4::Parser* parser, const SourceToken& found);
  void report_missing_closing(antlr4::Parser* parser, std::uint32_t expected, const SourceToken& found);
  void report_missing_block(antlr4::Parser* parser, const SourceToken& found);
  /// @param parser  null between statements
  void report_unexpected(antlr4::Parser* parser, const SourceToken& found, const std::string& expected);
  bool report_open_body(antlr4::Parser* parser, const SourceToken& found);
  static std::size_t statement_start(antlr4::Parser* parser);
  static bool closes_condition(antlr4::Parser* parser);
  bool known_mistake(antlr4::Parser* parser, const SourceToken& found);
  void report_unexpected_in_statements();
  void skip_in_switch();
  /// To behind the `}` of the switch that begins at token `keyword`, if the error is in its braces. @return whether it
  /// is
  bool skip_cases(std::size_t keyword);
  /// See skip_item; at the end the next token is one behind a `;`, or one that may begin a statement, or the `}` of the
  /// block around.
  void skip_statement(std::size_t start, bool stop_at_block);

  TokenList& tokens_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;                       ///< errors reported before this file was parsed
  std::size_t last_reported_ = ~std::size_t{0};     ///< index of the token at which the last error was found
  std::size_t orphan_block_end_ = ~std::size_t{0};  ///< the `}` of a block whose header had an error
  bool is_open_body_reported_ = false;   ///< a missing `}`, which is not reported at the end of the file again
  bool only_semicolon_missing_ = false;  ///< the last error: nothing needs to be skipped
};

}  // namespace raddle
