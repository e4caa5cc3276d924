#include "compiler/check/constant_value.hpp"

#include <cmath>
#include <utility>

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::BinaryOp;
using ast::ExprKind;
using Result = std::optional<ConstantValue>;

template <typename T>
Result compare(BinaryOp op, const T& left, const T& right) {
  switch (op) {
    case BinaryOp::eq: return left == right;
    case BinaryOp::ne: return left != right;
    case BinaryOp::lt: return left < right;
    case BinaryOp::le: return left <= right;
    case BinaryOp::gt: return left > right;
    case BinaryOp::ge: return left >= right;
    case BinaryOp::or_:
    case BinaryOp::and_:
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::idiv:
    case BinaryOp::mod:
    case BinaryOp::format:
    case BinaryOp::pow: break;
  }
  return std::nullopt;
}

Result of_ints(BinaryOp op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool fails = false;
  if (op == BinaryOp::add) {
    fails = __builtin_add_overflow(left, right, &result);
  } else if (op == BinaryOp::sub) {
    fails = __builtin_sub_overflow(left, right, &result);
  } else if (op == BinaryOp::mul) {
    fails = __builtin_mul_overflow(left, right, &result);
  } else {
    return compare(op, left, right);
  }
  return fails ? Result() : Result(result);
}

Result of_floats(BinaryOp op, double left, double right) {
  if (op == BinaryOp::add) return left + right;
  if (op == BinaryOp::sub) return left - right;
  if (op == BinaryOp::mul) return left * right;
  if (op == BinaryOp::div) return left / right;
  return compare(op, left, right);
}

Result of_booleans(BinaryOp op, bool left, bool right) {
  if (op == BinaryOp::and_) return left && right;
  if (op == BinaryOp::or_) return left || right;
  return compare(op, left, right);
}

Result of_strings(BinaryOp op, const std::string& left, const std::string& right) {
  if (op == BinaryOp::add) return left + right;
  return compare(op, left, right);
}

Result of_binary(const Context& context, const ast::Binary& binary) {
  const Result left = constant_value(context, *binary.left);
  const Result right = constant_value(context, *binary.right);
  if (!left || !right || left->index() != right->index()) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&*left))
    return of_ints(binary.op, *number, std::get<std::int64_t>(*right));
  if (const auto* number = std::get_if<double>(&*left)) return of_floats(binary.op, *number, std::get<double>(*right));
  if (const auto* truth = std::get_if<bool>(&*left)) return of_booleans(binary.op, *truth, std::get<bool>(*right));
  return of_strings(binary.op, std::get<std::string>(*left), std::get<std::string>(*right));
}

Result of_unary(const Context& context, const ast::Unary& unary) {
  const Result operand = constant_value(context, *unary.operand);
  if (!operand) return std::nullopt;
  if (const auto* truth = std::get_if<bool>(&*operand)) return !*truth;
  if (const auto* number = std::get_if<double>(&*operand)) return -*number;
  if (const auto* number = std::get_if<std::int64_t>(&*operand)) return of_ints(BinaryOp::sub, 0, *number);
  return std::nullopt;
}

Result unwidened(const Context& context, const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::IntLiteral: {
      const std::int64_t value = as<const ast::IntLiteral>(expr).value;
      if (context.store().base(expr.type) == TypeStore::float_) return static_cast<double>(value);
      return value;
    }
    case ExprKind::FloatLiteral: return as<const ast::FloatLiteral>(expr).value;
    case ExprKind::StringLiteral: return as<const ast::StringLiteral>(expr).value;
    case ExprKind::BoolLiteral: return as<const ast::BoolLiteral>(expr).value;
    case ExprKind::Name: {
      const VariableId id = as<const ast::Name>(expr).variable;
      const ast::Expr* constant = id == ast::no_variable ? nullptr : context.program.variables[id].constant;
      return constant == nullptr ? std::nullopt : constant_value(context, *constant);
    }
    case ExprKind::Unary: return of_unary(context, as<const ast::Unary>(expr));
    case ExprKind::Binary: return of_binary(context, as<const ast::Binary>(expr));
    case ExprKind::Call:
    case ExprKind::Index:
    case ExprKind::Slice:
    case ExprKind::Field:
    case ExprKind::ArrayLiteral:
    case ExprKind::MapLiteral:
    case ExprKind::Range:
    case ExprKind::Tuple:
    case ExprKind::FileName: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ConstantValue> constant_value(const Context& context, const ast::Expr& expr) {
  Result value = unwidened(context, expr);
  if (value && TypeStore::is_narrow(context.store().base(expr.type))) value = narrowed(*value, expr.type);
  if (!value) return value;
  switch (expr.conversion) {
    case ast::Conversion::to_float: {
      const auto* number = std::get_if<std::int64_t>(&*value);
      return number == nullptr ? value : Result(static_cast<double>(*number));
    }
    case ast::Conversion::to_int32:
    case ast::Conversion::as_int32: return narrowed(*value, TypeStore::int32);
    case ast::Conversion::to_float32:
    case ast::Conversion::as_float32: return narrowed(*value, TypeStore::float32);
    default: return value;
  }
}

std::optional<ConstantValue> narrowed(const ConstantValue& value, TypeId target) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (target == TypeStore::int32)
    return whole != nullptr && std::in_range<std::int32_t>(*whole) ? Result(*whole) : std::nullopt;
  if (whole == nullptr && real == nullptr) return std::nullopt;
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  const double rounded = static_cast<float>(number);
  return std::isinf(rounded) && !std::isinf(number) ? std::nullopt : Result(rounded);
}

}  // namespace raddle::check_detail
