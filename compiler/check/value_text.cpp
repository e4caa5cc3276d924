#include "compiler/check/value_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "stdlib/builtins.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;

namespace {

std::string text_of(double number) {
  const bool is_whole = std::trunc(number) == number && std::abs(number) < 0x1p63;
  return is_whole ? std::to_string(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

}  // namespace

std::string text_of(const ConstantValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return text_of(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return "\"" + std::get<std::string>(value) + "\"";
}

std::optional<std::string> text_of(const Context& context, const ast::Expr& expr) {
  if (const auto constant = constant_value(context, expr)) return text_of(*constant);
  const auto joined = [&](const ast::Expr& left, const std::string& sign,
                          const ast::Expr& right) -> std::optional<std::string> {
    const auto first = text_of(context, left);
    const auto second = text_of(context, right);
    if (!first || !second) return std::nullopt;
    return "(" + *first + sign + *second + ")";
  };
  if (expr.kind == ExprKind::Name) {
    // what an updateable holds changes
    const VariableId variable = as<const ast::Name>(expr).variable;
    if (variable == ast::no_variable || expr.type == TypeStore::updateable) return std::nullopt;
    return "v" + std::to_string(variable);
  }
  if (expr.kind == ExprKind::Unary) {
    const auto& unary = as<const ast::Unary>(expr);
    const auto operand = text_of(context, *unary.operand);
    return operand ? std::optional(std::to_string(static_cast<int>(unary.op)) + "(" + *operand + ")") : std::nullopt;
  }
  if (expr.kind == ExprKind::Binary) {
    const auto& binary = as<const ast::Binary>(expr);
    return joined(*binary.left, " " + std::to_string(static_cast<int>(binary.op)) + " ", *binary.right);
  }
  if (expr.kind == ExprKind::Tuple) {
    std::string text;
    for (const auto& element : as<const ast::Tuple>(expr).elements) {
      const auto one = text_of(context, *element);
      if (!one) return std::nullopt;
      text += (text.empty() ? "(" : ", ") + *one;
    }
    return text + ")";
  }
  if (expr.kind == ExprKind::Index && as<const ast::Index>(expr).indices.size() == 1) {
    const auto& index = as<const ast::Index>(expr);
    return joined(*index.base, "[]", *index.indices.front());
  }
  if (expr.kind == ExprKind::Call) {
    const auto& call = as<const ast::Call>(expr);
    if (call.callee_kind != ast::CalleeKind::builtin) return std::nullopt;
    const stdlib::Builtin& builtin = stdlib::builtins()[call.callee_index];
    if (!stdlib::is_pure(builtin.effect) || stdlib::signature_of(builtin).looks_at_growing_array()) return std::nullopt;
    std::string text = call.callee.text + "#" + std::to_string(call.callee_index);
    for (const ast::Expr* argument : call.resolved_arguments) {
      const auto one = text_of(context, *argument);
      if (!one) return std::nullopt;
      text += "(" + *one + ")";
    }
    return text;
  }
  if (expr.kind == ExprKind::Field) {
    const auto& field = as<const ast::Field>(expr);
    if (const auto base = text_of(context, *field.base)) return *base + "." + std::to_string(field.index);
  }
  return std::nullopt;
}

}  // namespace raddle::check_detail
