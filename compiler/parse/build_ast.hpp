#pragma once
// From the parser's contexts to the syntax tree. Private to compiler/parse.
#include <antlr4-runtime.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "RaddleParser.h"
#include "compiler/ast/nodes.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/parse/token_list.hpp"

namespace raddle {

/// Builds the tree of one top-level item after the other. Contexts that were left because of an error are not passed
/// in, so every label of the grammar that is not optional is set. Reports what the grammar lets through although it is
/// wrong (assignments to calls, bodies without braces, ...).
class AstBuilder {
 public:
  using P = RaddleParser;
  AstBuilder(const TokenList& tokens, Diagnostics& diagnostics) : tokens_(tokens), diagnostics_(diagnostics) {}

  // Definitions: build_definitions.cpp.
  ast::Import import_item(P::Import_itemContext* from);
  ast::Pragma pragma_item(P::Pragma_itemContext* from);
  std::unique_ptr<ast::GlobalConst> global_constant(P::Global_constantContext* from);
  ast::TypeDefinition type_alias(P::Type_aliasContext* from);
  ast::TypeDefinition type_definition(P::Type_definitionContext* from);
  std::unique_ptr<ast::FunctionDefinition> function_definition(P::Function_definitionContext* from,
                                                               ast::Annotations annotations);
  std::unique_ptr<ast::FunctionDefinition> app_definition(P::App_definitionContext* from, ast::Annotations annotations);
  ast::Annotations annotations(const std::vector<P::AnnotationContext*>& from);
  /// For items which can not have any.
  void refuse(const ast::Annotations& annotations);

  // Statements: build_statements.cpp.
  /// @param annotations  further ones, before those of the statement
  /// @return null if the statement has a syntax error
  ast::StmtPtr statement(P::StatementContext* from, ast::Annotations annotations);

 private:
  // Definitions.
  ast::Formal formal(P::FormalContext* from);
  std::vector<ast::Formal> formals(P::FormalsContext* from);
  void tcl_body(P::Tcl_bodyContext* from, ast::FunctionDefinition& to);
  ast::CommandLine command_line(const std::vector<P::WordContext*>& from, Span span);
  ast::ExprPtr word(P::Word_valueContext* from);
  /// `a` and `[1]` without a blank between: the index expression. @return false: two words
  bool join_index(ast::ExprPtr& word, P::WordContext* next);
  ast::TypeExpr type(P::Type_expressionContext* from);
  ast::TypeExpr plain_type(P::Plain_typeContext* from);
  std::vector<ast::Dimension> dimensions(const std::vector<P::DimensionContext*>& from);

  // Statements.
  ast::StmtPtr simple(P::Simple_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr declaration(P::Simple_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr assignment(P::Simple_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr append(P::Simple_statementContext* from);
  ast::StmtPtr update(P::Simple_statementContext* from);
  ast::StmtPtr evaluate(P::Simple_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr parenthesised_statement(P::Simple_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr compound(P::Compound_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr chain(P::Chain_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr if_statement(P::If_statementContext* from);
  ast::StmtPtr switch_statement(P::Switch_statementContext* from);
  ast::StmtPtr foreach_statement(P::Foreach_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr for_statement(P::For_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr iterate_statement(P::Iterate_statementContext* from, ast::Annotations annotations);
  ast::StmtPtr wait_statement(P::Wait_statementContext* from);
  ast::StmtPtr try_statement(P::Try_statementContext* from);
  ast::BlockPtr block(P::BlockContext* from);
  ast::BlockPtr block(P::StatementsContext* from);
  ast::BlockPtr controlled(P::ControlledContext* from, const char* keyword);
  /// @return false: it is reported that there are too many
  bool enter_level(const antlr4::Token* at);
  ast::Declarator declarator(P::DeclaratorContext* from);
  ast::TypeExpr declared_type(P::Simple_statementContext* from);
  ast::ExprPtr target(P::ReferenceContext* from);
  /// An expression in the place of a target: `(a, b[i]) = f();`
  ast::ExprPtr target(P::Call_argumentContext* from);
  std::string comment_above(Span span) const;

  // Expressions: build_expressions.cpp.
  ast::ExprPtr expression(P::ExpressionContext* from);
  ast::ExprPtr expression(P::Mapping_expressionContext* from);
  ast::ExprPtr expression(P::Annotation_valueContext* from);
  ast::ExprPtr operand(P::OperandContext* from);
  ast::ExprPtr operand(P::Annotation_operandContext* from);
  ast::ExprPtr primary(P::PrimaryContext* from, bool negated);
  ast::ExprPtr annotated_call(P::PrimaryContext* from);
  ast::ExprPtr reference(P::ReferenceContext* from);
  ast::ExprPtr literal(const antlr4::Token* from, bool negated);
  std::string text_value(const antlr4::Token* from);
  std::unique_ptr<ast::Call> call(const antlr4::Token* callee, P::ArgumentsContext* arguments);
  ast::Call::Argument argument(P::Call_argumentContext* from);
  ast::ExprPtr group(P::ParenthesisedContext* from);
  ast::ExprPtr array(P::Array_literalContext* from);
  ast::ExprPtr map(P::Map_literalContext* from);
  ast::ExprPtr with_suffixes(ast::ExprPtr base, const std::vector<P::SuffixContext*>& from);
  ast::ExprPtr with_prefixes(ast::ExprPtr operand, const std::vector<antlr4::Token*>& from, bool negated);
  ast::ExprPtr index_entry(P::Index_entryContext* from);
  std::vector<ast::ExprPtr> expressions(const std::vector<P::ExpressionContext*>& from);
  template <typename Context>
  ast::ExprPtr flat_expression(Context* from);
  /// @param at  the number of an operator
  template <typename Context>
  void warn_of_power(Context* from, std::size_t at);

  Span span(const antlr4::Token* token) const { return tokens_.span(*token); }
  Span span(const antlr4::ParserRuleContext* context) const {
    const Span first = span(context->start);
    return context->stop == nullptr ? first : join(first, span(context->stop));
  }
  /// From one to the other. A macro may put them into different files, or one into the other.
  static Span join(Span first, Span last) {
    if (last.file != first.file) return first;
    return {first.file, std::min(first.begin, last.begin), std::max(first.end, last.end)};
  }
  ast::Identifier identifier(const antlr4::Token* token) const {
    return {std::string(tokens_.text(*token)), span(token)};
  }
  template <typename Node>
  std::unique_ptr<Node> make(Span at) const {
    auto node = std::make_unique<Node>();
    node->span = at;
    return node;
  }
  Diagnostic& error(Span at, const std::string& message) {
    return diagnostics_.report(DiagnosticKind::syntax_error, at, message);
  }

  const TokenList& tokens_;
  Diagnostics& diagnostics_;
  std::size_t depth_ = 0;  ///< of the tree above the expression that is built now
  std::size_t level_ = 0;  ///< of the tree above the statement that is built now
};

}  // namespace raddle
