#include "compiler/lower/visit_tree.hpp"

#include "compiler/ast/children.hpp"

namespace raddle::lowering {

namespace {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;

void visit_if_there(const ast::ExprPtr& expr, const TreeVisitor& visitor) {
  if (expr) visit_expression(*expr, visitor);
}

void visit_target(const ast::Expr& target, const TreeVisitor& visitor, bool appends = false) {
  if (visitor.target) visitor.target(target, appends);
  // a name that is assigned is not read; indices are
  if (target.kind == ExprKind::Index) {
    const auto& index = as<ast::Index>(target);
    for (const ast::ExprPtr& key : index.indices) visit_expression(*key, visitor);
    if (index.base->kind != ExprKind::Name) visit_expression(*index.base, visitor);
  } else if (target.kind == ExprKind::Field && as<ast::Field>(target).base->kind != ExprKind::Name) {
    visit_expression(*as<ast::Field>(target).base, visitor);
  }
}

}  // namespace

void visit_expression(const ast::Expr& expr, const TreeVisitor& visitor) {
  visitor.expression(expr);
  ast::for_children(expr, [&](const ast::Expr& child) { visit_expression(child, visitor); });
}

void visit_extents(const std::vector<ast::Dimension>& dimensions, const TreeVisitor& visitor) {
  for (const ast::Dimension& dimension : dimensions)
    for (const ast::ExprPtr& entry : dimension.entries) visit_expression(*entry, visitor);
}

void visit_statement(const ast::Stmt& stmt, const TreeVisitor& visitor) {
  const auto visit_block = [&](const ast::BlockPtr& block) {
    if (block) visit_statement(*block, visitor);
  };
  switch (stmt.kind) {
    case StmtKind::Declaration:
      visit_extents(as<ast::Declaration>(stmt).type.dimensions, visitor);
      for (const ast::Declarator& declarator : as<ast::Declaration>(stmt).declarators) {
        visit_extents(declarator.dimensions, visitor);
        visit_if_there(declarator.mapping, visitor);
        visit_if_there(declarator.value, visitor);
      }
      return;
    case StmtKind::Assign:
      for (const ast::ExprPtr& target : as<ast::Assign>(stmt).targets) visit_target(*target, visitor);
      for (const ast::ExprPtr& value : as<ast::Assign>(stmt).values) visit_if_there(value, visitor);
      return;
    case StmtKind::Append:
      visit_target(*as<ast::Append>(stmt).target, visitor, true);
      return visit_if_there(as<ast::Append>(stmt).value, visitor);
    case StmtKind::Update:
      if (visitor.updated) visitor.updated(as<ast::Update>(stmt).variable);
      return visit_if_there(as<ast::Update>(stmt).value, visitor);
    case StmtKind::Evaluate: return visit_if_there(as<ast::Evaluate>(stmt).expr, visitor);
    case StmtKind::If:
      visit_if_there(as<ast::If>(stmt).condition, visitor);
      visit_block(as<ast::If>(stmt).then_block);
      if (as<ast::If>(stmt).else_block) visit_statement(*as<ast::If>(stmt).else_block, visitor);
      return;
    case StmtKind::Switch:
      visit_if_there(as<ast::Switch>(stmt).value, visitor);
      for (const ast::Switch::Case& one : as<ast::Switch>(stmt).cases) visit_block(one.block);
      return;
    case StmtKind::Foreach:
      visit_if_there(as<ast::Foreach>(stmt).iterable, visitor);
      return visit_block(as<ast::Foreach>(stmt).body);
    case StmtKind::For:
      for (const ast::For::Variable& variable : as<ast::For>(stmt).variables) {
        if (variable.type) visit_extents(variable.type->dimensions, visitor);
        visit_if_there(variable.initial, visitor);
        visit_if_there(variable.update, visitor);
      }
      visit_if_there(as<ast::For>(stmt).condition, visitor);
      return visit_block(as<ast::For>(stmt).body);
    case StmtKind::Iterate:
      visit_block(as<ast::Iterate>(stmt).body);
      return visit_if_there(as<ast::Iterate>(stmt).until, visitor);
    case StmtKind::Wait:
      for (const ast::ExprPtr& awaited : as<ast::Wait>(stmt).awaited) visit_if_there(awaited, visitor);
      return visit_block(as<ast::Wait>(stmt).body);
    case StmtKind::Try: visit_block(as<ast::Try>(stmt).body); return visit_block(as<ast::Try>(stmt).otherwise);
    case StmtKind::Chain:
      for (const ast::StmtPtr& link : as<ast::Chain>(stmt).links) visit_statement(*link, visitor);
      return;
    case StmtKind::Block:
      for (const ast::StmtPtr& inner : as<ast::Block>(stmt).statements) visit_statement(*inner, visitor);
      return;
    case StmtKind::Empty: return;
  }
}

}  // namespace raddle::lowering
