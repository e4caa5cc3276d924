#pragma once
// Walks over syntax trees, for what lowering must know of a function before it lowers it.
#include <functional>
#include <vector>

#include "compiler/ast/nodes.hpp"

namespace raddle::lowering {

struct TreeVisitor {
  std::function<void(const ast::Expr&)> expression;  ///< every expression, outermost first
  /// Of assignments and of appends (`+=`); may be empty.
  std::function<void(const ast::Expr& target, bool appends)> target = {};
  std::function<void(ast::VariableId)> updated = {};  ///< the updateable of `u <incr> := e`; may be empty
};

void visit_expression(const ast::Expr& expr, const TreeVisitor& visitor);
/// What stands between the brackets of a declaration.
void visit_extents(const std::vector<ast::Dimension>& dimensions, const TreeVisitor& visitor);
/// The statement and everything inside it.
void visit_statement(const ast::Stmt& stmt, const TreeVisitor& visitor);

}  // namespace raddle::lowering
