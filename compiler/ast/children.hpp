#pragma once
// The expressions that an expression is made of.
#include "compiler/ast/expressions.hpp"

namespace raddle::ast {

/// Calls `visit` with each child of `expr` in the order of the text.
template <typename Visit>
void for_children(const Expr& expr, const Visit& visit) {
  const auto some = [&](const ExprPtr& child) {
    if (child != nullptr) visit(*child);
  };
  switch (expr.kind) {
    case ExprKind::IntLiteral:
    case ExprKind::FloatLiteral:
    case ExprKind::StringLiteral:
    case ExprKind::BoolLiteral:
    case ExprKind::Name: return;
    case ExprKind::Unary: return some(as<const Unary>(expr).operand);
    case ExprKind::Binary: some(as<const Binary>(expr).left); return some(as<const Binary>(expr).right);
    case ExprKind::Call: {
      const auto& call = as<const Call>(expr);
      for (const Annotation& annotation : call.annotations) some(annotation.value);
      for (const Call::Argument& argument : call.arguments) some(argument.value);
      return;
    }
    case ExprKind::Index:
      some(as<const Index>(expr).base);
      for (const auto& index : as<const Index>(expr).indices) some(index);
      return;
    case ExprKind::Slice:
      some(as<const Slice>(expr).low);
      some(as<const Slice>(expr).high);
      return some(as<const Slice>(expr).step);
    case ExprKind::Field: return some(as<const Field>(expr).base);
    case ExprKind::ArrayLiteral:
      for (const auto& element : as<const ArrayLiteral>(expr).elements) some(element);
      return;
    case ExprKind::MapLiteral:
      for (const auto& [key, value] : as<const MapLiteral>(expr).entries) {
        some(key);
        some(value);
      }
      return;
    case ExprKind::Range:
      some(as<const Range>(expr).low);
      some(as<const Range>(expr).high);
      return some(as<const Range>(expr).step);
    case ExprKind::Tuple:
      for (const auto& element : as<const Tuple>(expr).elements) some(element);
      return;
    case ExprKind::FileName: return some(as<const FileName>(expr).file);
  }
}

}  // namespace raddle::ast
