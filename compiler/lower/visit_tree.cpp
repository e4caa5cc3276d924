#include "compiler/lower/visit_tree.hpp"

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

void visit_annotations(const ast::Annotations& annotations, const TreeVisitor& visitor) {
  for (const ast::Annotation& annotation : annotations) visit_if_there(annotation.value, visitor);
}

}  // namespace

void visit_expression(const ast::Expr& expr, const TreeVisitor& visitor) {
  visitor.expression(expr);
  const auto visit_all = [&](const std::vector<ast::ExprPtr>& children) {
    for (const ast::ExprPtr& child : children) visit_if_there(child, visitor);
  };
  switch (expr.kind) {
    case ExprKind::IntLiteral:
    case ExprKind::FloatLiteral:
    case ExprKind::StringLiteral:
    case ExprKind::BoolLiteral:
    case ExprKind::Name: return;
    case ExprKind::Unary: return visit_if_there(as<ast::Unary>(expr).operand, visitor);
    case ExprKind::Binary:
      visit_if_there(as<ast::Binary>(expr).left, visitor);
      return visit_if_there(as<ast::Binary>(expr).right, visitor);
    case ExprKind::Call:
      visit_annotations(as<ast::Call>(expr).annotations, visitor);
      for (const ast::Call::Argument& argument : as<ast::Call>(expr).arguments) visit_if_there(argument.value, visitor);
      return;
    case ExprKind::Index:
      visit_if_there(as<ast::Index>(expr).base, visitor);
      return visit_all(as<ast::Index>(expr).indices);
    case ExprKind::Slice:
      visit_if_there(as<ast::Slice>(expr).low, visitor);
      visit_if_there(as<ast::Slice>(expr).high, visitor);
      return visit_if_there(as<ast::Slice>(expr).step, visitor);
    case ExprKind::Field: return visit_if_there(as<ast::Field>(expr).base, visitor);
    case ExprKind::ArrayLiteral: return visit_all(as<ast::ArrayLiteral>(expr).elements);
    case ExprKind::MapLiteral:
      for (const auto& [key, value] : as<ast::MapLiteral>(expr).entries) {
        visit_if_there(key, visitor);
        visit_if_there(value, visitor);
      }
      return;
    case ExprKind::Range:
      visit_if_there(as<ast::Range>(expr).low, visitor);
      visit_if_there(as<ast::Range>(expr).high, visitor);
      return visit_if_there(as<ast::Range>(expr).step, visitor);
    case ExprKind::Tuple: return visit_all(as<ast::Tuple>(expr).elements);
    case ExprKind::FileName: return visit_if_there(as<ast::FileName>(expr).file, visitor);
  }
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
