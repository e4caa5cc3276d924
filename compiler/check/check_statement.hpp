#pragma once
// Statements of one body: declarations, assignments, control flow. What is assigned how often is
// check_assignment's business.
#include "compiler/check/check_expression.hpp"

namespace raddle::check_detail {

class StatementChecker {
 public:
  StatementChecker(Context& context, Scopes& scopes)
      : context_(context), scopes_(scopes), expressions_(context, scopes) {}

  /// The statements of a body; the scope is the caller's.
  void statements(ast::Block& block);
  ExpressionChecker& expressions() { return expressions_; }

 private:
  void block(ast::Block& block);
  void statement(ast::Stmt& statement);

  void declaration(ast::Declaration& declaration);
  bool refuse_element(ast::Declarator& declarator);
  void declarator(ast::Declaration& declaration, ast::Declarator& declarator);
  /// Ints, where they are not open.
  void extents(ast::Dimension* dimension);
  bool mapping(ast::Declarator& declarator, TypeId type);
  void updateable(const ast::Declarator& declarator);
  void parameter(const ast::Declaration& declaration, const ast::Declarator& declarator);
  void result(const ast::Declaration& declaration, const ast::Declarator& declarator);
  /// @param is_parameter  it can be set on the command line: the value is its default
  void initial_value(ast::Expr& value, const ast::Identifier& name, TypeId type, bool is_parameter);

  TypeId declared_type(const ast::Expr& target) const;
  bool is_constant_of_library(VariableId known) const;
  void assign(ast::Assign& assign);
  void assign_outputs(ast::Assign& assign, ast::Call& call);
  TypeId one_of_targets(ast::Assign& assign, std::size_t number, TypeId value_type);
  void refuse_marks(const ast::Assign& assign);
  void append(ast::Append& append);
  void update(ast::Update& update);
  /// Resolves an assignment's target, declaring it with `value_type` if it is new. @return its type
  TypeId target(ast::Expr& target, TypeId value_type, bool& declares);
  /// A target whose variable is declared. After a report the variable is silenced.
  TypeId known_target(ast::Expr& target);
  TypeId place(ast::Expr& target);
  TypeId refuse_brackets(ast::Index& index, const ast::Index& row);
  TypeId declare_target(ast::Expr& target, TypeId value_type);
  void report_not_assignable(const ast::Name& name);
  void fit_value(ast::Expr& value, const ast::Expr& target, TypeId type);
  /// As fit_value, for one of several outputs: there is no expression to mark as widened.
  void fit_output(const ast::Expr& target, TypeId type, TypeId found);
  Diagnostic& report_misfit(const ast::Expr& target, TypeId type, Span value, TypeId found);

  void evaluate(ast::Evaluate& evaluate);
  void branch(ast::If& branch);
  void try_(ast::Try& written);
  void switch_(ast::Switch& written);
  void wait(ast::Wait& wait);
  void chain(ast::Chain& chain);
  bool report_chained_value(ast::Stmt& link);
  bool is_of_library(const ast::Call& call) const;
  void report_unchainable(const ast::Stmt& link);

  void foreach_(ast::Foreach& loop);
  void check_loop_in_turn(const ast::Annotations& annotations, Span span);
  void for_(ast::For& loop);
  void loop_variable(ast::For::Variable& variable, const Scopes& outside);
  void check_initial_values(const ast::For& loop);
  void check_awaited(const ast::For& loop);
  void updates(ast::For& loop);
  void iterate(ast::Iterate& loop);

  Context& context_;
  Scopes& scopes_;
  ExpressionChecker expressions_;
};

}  // namespace raddle::check_detail
