#include "compiler/check/check_statement.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;

namespace {
constexpr const char* updates_of_session = "to wait for updates that earlier entries of a session do";

bool is_array_of_voids(const TypeStore& types, TypeId type) {
  if (types.at(type).kind != TypeKind::array) return false;
  while (types.at(type).kind == TypeKind::array) type = types.at(type).element;
  return types.base(type) == TypeStore::void_;
}
}  // namespace

void StatementChecker::statements(ast::Block& block) {
  expressions_.enter_block(block);
  for (auto& written : block.statements) statement(*written);
  expressions_.leave_block();
}

void StatementChecker::block(ast::Block& block) {
  scopes_.push();
  statements(block);
  scopes_.pop();
}

void StatementChecker::statement(ast::Stmt& statement) {
  switch (statement.kind) {
    case StmtKind::Declaration: return declaration(as<ast::Declaration>(statement));
    case StmtKind::Assign: return assign(as<ast::Assign>(statement));
    case StmtKind::Append: return append(as<ast::Append>(statement));
    case StmtKind::Update: return update(as<ast::Update>(statement));
    case StmtKind::Evaluate: return evaluate(as<ast::Evaluate>(statement));
    case StmtKind::If: return branch(as<ast::If>(statement));
    case StmtKind::Switch: return switch_(as<ast::Switch>(statement));
    case StmtKind::Foreach: return foreach_(as<ast::Foreach>(statement));
    case StmtKind::For: return for_(as<ast::For>(statement));
    case StmtKind::Iterate: return iterate(as<ast::Iterate>(statement));
    case StmtKind::Wait: return wait(as<ast::Wait>(statement));
    case StmtKind::Try: return try_(as<ast::Try>(statement));
    case StmtKind::Chain: return chain(as<ast::Chain>(statement));
    case StmtKind::Block: return block(as<ast::Block>(statement));
    case StmtKind::Empty: return;
  }
}

void StatementChecker::evaluate(ast::Evaluate& evaluate) {
  if (evaluate.expr->kind == ExprKind::Call) {
    expressions_.call(as<ast::Call>(*evaluate.expr));
    return;
  }
  expressions_.value(*evaluate.expr);
  if (evaluate.expr->kind != ExprKind::Name)
    context_.diagnostics.report(DiagnosticKind::useless_statement, evaluate.expr->span);
}

void StatementChecker::branch(ast::If& branch) {
  expressions_.condition(*branch.condition);
  ++context_.waits;
  block(*branch.then_block);
  if (branch.else_block != nullptr) statement(*branch.else_block);
  --context_.waits;
}

void StatementChecker::switch_(ast::Switch& written) {
  expressions_.value_of_type(*written.value, TypeStore::int_);
  ++context_.waits;
  for (ast::Switch::Case& choice : written.cases) block(*choice.block);
  --context_.waits;
}

void StatementChecker::try_(ast::Try& written) {
  ++context_.waits;
  block(*written.body);
  block(*written.otherwise);
  --context_.waits;
}

void StatementChecker::wait(ast::Wait& wait) {
  for (auto& awaited : wait.awaited) {
    const TypeId type = expressions_.value(*awaited);
    if (!wait.deep && is_array_of_voids(context_.store(), type))
      context_.diagnostics.report(DiagnosticKind::shallow_wait, awaited->span)
          .note("`wait deep (...)` waits for its elements, too");
    if (type != TypeStore::updateable || awaited->kind != ExprKind::Name) continue;
    if (!context_.is_of_earlier_piece(as<ast::Name>(*awaited).variable)) continue;
    context_.diagnostics.report(DiagnosticKind::not_supported, awaited->span, updates_of_session);
  }
  ++context_.waits;
  block(*wait.body);
  --context_.waits;
}

void StatementChecker::chain(ast::Chain& chain) {
  for (std::size_t i = 0; i + 1 < chain.links.size(); ++i) {
    const bool is_value = report_chained_value(*chain.links[i]);
    if (!is_value) statement(*chain.links[i]);
    if (!is_value) report_unchainable(*chain.links[i]);
    ++context_.waits;
  }
  statement(*chain.links.back());
  context_.waits -= static_cast<std::uint32_t>(chain.links.size() - 1);
}

/// `A[0] => f();` @return whether it is one
bool StatementChecker::report_chained_value(ast::Stmt& link) {
  if (link.kind != StmtKind::Evaluate) return false;
  ast::Expr& expr = *as<ast::Evaluate>(link).expr;
  if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Name) return false;
  expressions_.value(expr);
  context_.diagnostics.report(DiagnosticKind::not_chainable, expr.span, "an expression")
      .note("to go on when it has its value, write `wait (...) {}` with it in the parentheses");
  return true;
}

bool StatementChecker::is_of_library(const ast::Call& call) const {
  if (call.callee_kind != ast::CalleeKind::function) return true;
  const Span defined = context_.program.functions[call.callee_index].definition->name.span;
  return context_.is_of_library(defined);
}

void StatementChecker::report_unchainable(const ast::Stmt& link) {
  const char* what = "this statement";
  if (link.kind == StmtKind::Assign) return;
  if (link.kind == StmtKind::Declaration) {
    for (const ast::Declarator& declarator : as<const ast::Declaration>(link).declarators) {
      if (declarator.variable != ast::no_variable &&
          context_.variable(declarator.variable).type == TypeStore::updateable) {
        context_.diagnostics.report(DiagnosticKind::not_chainable, link.span, "an updateable");
        return;
      }
      if (declarator.value != nullptr) return;
    }
    what = "a declaration without value";
  }
  if (link.kind == StmtKind::Evaluate) {
    const ast::Expr& expr = *as<const ast::Evaluate>(link).expr;
    if (expr.kind == ExprKind::Name && expr.type == TypeStore::updateable &&
        context_.is_of_earlier_piece(as<const ast::Name>(expr).variable))
      context_.diagnostics.report(DiagnosticKind::not_supported, expr.span, updates_of_session);
    if (expr.kind != ExprKind::Call) return;
    const auto& call = as<const ast::Call>(expr);
    if (call.callee_kind == ast::CalleeKind::unresolved || !call.output_types.empty()) return;
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::not_chainable, call.callee.span, "`" + call.callee.text + "`");
    if (!is_of_library(call)) diagnostic.note("give the function an output, such as `(void done)`, and assign it");
    return;
  }
  context_.diagnostics.report(DiagnosticKind::not_chainable, link.span, what);
}

}  // namespace raddle::check_detail
