// Operators; numbers mix.
#include <fmt/format.h>

#include <utility>

#include "compiler/check/call_help.hpp"
#include "compiler/check/check_expression.hpp"
#include "compiler/check/check_format.hpp"
#include "compiler/check/constant_value.hpp"

namespace raddle::check_detail {

using ast::BinaryOp;

namespace {

/// `a * 2.0` of a growing array, where a dense one is meant. @return whether `operand` is one
bool note_growing_array(const Context& context, Diagnostic& diagnostic, const ast::Expr& operand) {
  const std::string help = dense_help(context, operand);
  if (!help.empty()) diagnostic.note("operators work on dense arrays, not on growing ones: " + help);
  return !help.empty();
}

constexpr const char* remainder_help =
    "this operator works on `int` only: of floats write `x - floor(x / y) * y`, which has the sign of y, after "
    "`import math;`";

bool is_comparison(const ast::Expr& expr) {
  if (expr.kind != ast::ExprKind::Binary) return false;
  const BinaryOp op = ast::as<const ast::Binary>(expr).op;
  return op >= BinaryOp::eq && op <= BinaryOp::ge;
}

}  // namespace

TypeId ExpressionChecker::number_type(const ast::Expr& expr) const {
  const TypeId base = context_.store().base(expr.type);
  if (base == TypeStore::updateable) return TypeStore::float_;
  return TypeStore::is_number(base) ? base : TypeStore::error;
}

bool ExpressionChecker::is_printable(TypeId type) const {
  return context_.store().is_scalar(type) || type == TypeStore::updateable || type == TypeStore::error;
}

TypeId ExpressionChecker::bad_operands(const ast::Binary& binary, const char* help) {
  Diagnostic& diagnostic =
      context_.diagnostics.report(DiagnosticKind::bad_operands, binary.op_span, text_of(binary.op),
                                  context_.name(binary.left->type), context_.name(binary.right->type));
  diagnostic.label(binary.left->span, "`" + context_.name(binary.left->type) + "`");
  diagnostic.label(binary.right->span, "`" + context_.name(binary.right->type) + "`");
  if (help != nullptr) {
    diagnostic.note(help);
  } else {
    for (const ast::Expr* operand : {binary.left.get(), binary.right.get()})
      if (note_growing_array(context_, diagnostic, *operand)) break;
  }
  return TypeStore::error;
}

TypeId ExpressionChecker::unary(ast::Unary& unary) {
  const TypeId found = value(*unary.operand);
  if (found == TypeStore::error) return found;
  return is_lifted(*unary.operand, *unary.operand) ? lifted_unary(unary) : of_operand(unary);
}

TypeId ExpressionChecker::of_operand(ast::Unary& unary) {
  const TypeId found = unary.operand->type;
  const bool negates = unary.op == ast::UnaryOp::negate;
  if (const TypeId number = number_type(*unary.operand); negates && number != TypeStore::error) {
    convert(context_, *unary.operand, TypeStore::wide(number));
    return number;
  }
  if (!negates && context_.store().base(found) == TypeStore::boolean) return TypeStore::boolean;
  Diagnostic& diagnostic =
      context_.diagnostics.report(DiagnosticKind::bad_operand, unary.op_span, negates ? "-" : "!", context_.name(found))
          .label(unary.operand->span, "`" + context_.name(found) + "`");
  note_growing_array(context_, diagnostic, *unary.operand);
  return TypeStore::error;
}

TypeId ExpressionChecker::binary(ast::Binary& binary) {
  if (binary.op == BinaryOp::format) return format(binary);
  value(*binary.left);
  value(*binary.right);
  if (binary.left->type == TypeStore::error || binary.right->type == TypeStore::error) return TypeStore::error;
  const bool makes_string =
      binary.op == BinaryOp::add && (context_.store().base(binary.left->type) == TypeStore::string ||
                                     context_.store().base(binary.right->type) == TypeStore::string);
  return is_lifted(*binary.left, *binary.right) && !makes_string ? lifted_binary(binary) : of_operands(binary);
}

TypeId ExpressionChecker::of_operands(ast::Binary& binary) {
  switch (binary.op) {
    case BinaryOp::or_:
    case BinaryOp::and_: return logic(binary);
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge: return comparison(binary);
    case BinaryOp::add: return add(binary);
    case BinaryOp::sub:
    case BinaryOp::mul: return arithmetic(binary);
    case BinaryOp::div:
    case BinaryOp::pow: return float_arithmetic(binary);
    case BinaryOp::idiv:
    case BinaryOp::mod: return int_arithmetic(binary);
    case BinaryOp::format: break;
  }
  return TypeStore::error;
}

TypeId ExpressionChecker::add(ast::Binary& binary) {
  const TypeId left = context_.store().base(binary.left->type);
  const TypeId right = context_.store().base(binary.right->type);
  if (left != TypeStore::string && right != TypeStore::string) return arithmetic(binary);
  ast::Expr& other = left == TypeStore::string ? *binary.right : *binary.left;
  if (context_.store().is_dense(other.type)) {
    convert(context_, other, TypeStore::string);
    return TypeStore::string;
  }
  if (left == right || number_type(other) != TypeStore::error) return TypeStore::string;
  if (context_.store().base(other.type) == TypeStore::boolean)
    return bad_operands(binary, "`toString(...)` makes a string of a boolean");
  if (context_.store().base(other.type) == TypeStore::file)
    return bad_operands(binary, "`filename(...)` is the name of a file");
  return bad_operands(binary);
}

TypeId ExpressionChecker::arithmetic(ast::Binary& binary) {
  const TypeId left = number_type(*binary.left);
  const TypeId right = number_type(*binary.right);
  if (left != TypeStore::error && right != TypeStore::error) return as_one_type(binary, common_number(binary));
  const auto is_either = [&](TypeId type) {
    return context_.store().base(binary.left->type) == type || context_.store().base(binary.right->type) == type;
  };
  if (is_either(TypeStore::boolean) && (left != TypeStore::error || right != TypeStore::error))
    return bad_operands(binary, "`bool2int(...)` makes 1 or 0 of a boolean");
  if (binary.op == BinaryOp::mul && is_either(TypeStore::string) && is_either(TypeStore::int_))
    return bad_operands(binary, "`pad(\"\", n, \"-\")` of `import string;` is a string of n times the same character");
  return bad_operands(binary);
}

/// What is known, and a number beside an array: they take the type of the other operand, if that is of 32 bits.
bool ExpressionChecker::is_weak(const ast::Expr& operand, TypeId other) const {
  if (&operand == beside_array_) return true;
  const auto known = constant_value(context_, operand);
  return known && narrowed(*known, other);
}

TypeId ExpressionChecker::common_number(const ast::Binary& binary) const {
  const TypeId left = number_type(*binary.left), right = number_type(*binary.right);
  if (left == right) return left;
  const auto takes_over = [&](const ast::Expr& weak, TypeId number, TypeId other) {
    const bool may_take = other == TypeStore::float32 || (other == TypeStore::int32 && TypeStore::is_int(number));
    return may_take && is_weak(weak, other);
  };
  if (takes_over(*binary.right, right, left)) return left;
  if (takes_over(*binary.left, left, right)) return right;
  return TypeStore::is_int(left) && TypeStore::is_int(right) ? TypeStore::int_ : TypeStore::float_;
}

/// Numbers of 32 bits are computed as those of 64 bits that they are, and the result is rounded, or looked at: that
/// gives the bits of 32, as + - * / of two of them are rounded once more from twice as many digits.
/// @return `type`
TypeId ExpressionChecker::as_one_type(ast::Binary& binary, TypeId type) {
  for (ast::ExprPtr* const each : {&binary.left, &binary.right}) {
    ast::Expr& operand = **each;
    if (!TypeStore::is_narrow(type) || number_type(operand) == type) {
      convert(context_, operand, TypeStore::wide(type));
      continue;
    }
    const auto known = constant_value(context_, operand);
    const auto narrow = known ? narrowed(*known, type) : std::nullopt;
    const auto* const real = narrow ? std::get_if<double>(&*narrow) : nullptr;
    if (real != nullptr) {
      auto literal = std::make_unique<ast::FloatLiteral>();
      literal->value = *real;
      literal->span = operand.span;
      literal->type = TypeStore::float_;
      *each = std::move(literal);
    } else {
      operand.conversion = type == TypeStore::int32 ? ast::Conversion::as_int32 : ast::Conversion::as_float32;
    }
  }
  return type;
}

TypeId ExpressionChecker::float_arithmetic(ast::Binary& binary) {
  const bool strings = context_.store().base(binary.left->type) == TypeStore::string &&
                       context_.store().base(binary.right->type) == TypeStore::string;
  if (strings && binary.op == BinaryOp::div) return TypeStore::string;
  if (number_type(*binary.left) == TypeStore::error || number_type(*binary.right) == TypeStore::error)
    return bad_operands(binary);
  return as_one_type(binary, common_number(binary) == TypeStore::float32 ? TypeStore::float32 : TypeStore::float_);
}

TypeId ExpressionChecker::int_arithmetic(ast::Binary& binary) {
  if (TypeStore::is_int(number_type(*binary.left)) && TypeStore::is_int(number_type(*binary.right)))
    return as_one_type(binary, common_number(binary));
  if (binary.op == BinaryOp::mod && context_.store().base(binary.left->type) == TypeStore::string)
    return bad_operands(binary, "`%` formats a string; `%%` is the remainder");
  const bool are_numbers =
      number_type(*binary.left) != TypeStore::error && number_type(*binary.right) != TypeStore::error;
  if (binary.op == BinaryOp::mod && are_numbers) return bad_operands(binary, remainder_help);
  if (binary.op == BinaryOp::idiv && are_numbers)
    return bad_operands(binary, "this operator works on `int` only: `floor(x / y)`, after `import math;`");
  return bad_operands(binary, "this operator works on `int` only");
}

TypeId ExpressionChecker::comparison(ast::Binary& binary) {
  const bool numbers = number_type(*binary.left) != TypeStore::error && number_type(*binary.right) != TypeStore::error;
  if (numbers) {
    arithmetic(binary);  // makes both one type
    return TypeStore::boolean;
  }
  const TypeId left = context_.store().base(binary.left->type);
  const TypeId right = context_.store().base(binary.right->type);
  const bool equality = binary.op == BinaryOp::eq || binary.op == BinaryOp::ne;
  if (equality && left == right && (left == TypeStore::string || left == TypeStore::boolean)) return TypeStore::boolean;
  if (!equality && left == TypeStore::string && right == TypeStore::string)
    return bad_operands(binary, "strings compare with `==` and `!=` only");
  if (is_comparison(*binary.left) && number_type(*binary.right) != TypeStore::error)
    return bad_operands(binary, "two comparisons are joined by `&&`, as in `0 < x && x < 1`");
  if (equality && (context_.store().is_array(left) || context_.store().is_array(right)))
    return bad_operands(binary, "arrays can not be compared as a whole");
  return bad_operands(binary);
}

TypeId ExpressionChecker::logic(ast::Binary& binary) {
  const TypeId left = context_.store().base(binary.left->type);
  const TypeId right = context_.store().base(binary.right->type);
  if (left == TypeStore::boolean && right == TypeStore::boolean) return TypeStore::boolean;
  return bad_operands(binary, left == TypeStore::int_ || right == TypeStore::int_
                                  ? "compare the `int` with 0, as in `n != 0`"
                                  : nullptr);
}

TypeId ExpressionChecker::format(ast::Binary& binary) {
  const TypeId left = value(*binary.left);
  std::vector<ast::Expr*> values;
  if (binary.right->kind == ast::ExprKind::Tuple) {
    for (auto& element : ast::as<ast::Tuple>(*binary.right).elements) values.push_back(element.get());
  } else {
    values.push_back(binary.right.get());
  }
  bool failed = left == TypeStore::error;
  for (ast::Expr* element : values) {
    const TypeId found = value(*element);
    failed = failed || found == TypeStore::error;
    if (context_.store().is_dense(found)) convert(context_, *element, TypeStore::string);
    if (is_printable(found) || context_.store().is_dense(found)) continue;
    context_.diagnostics.report(DiagnosticKind::not_formattable, element->span, context_.name(found));
    failed = true;
  }
  if (failed) return left == TypeStore::string ? left : TypeStore::error;
  if (context_.store().base(left) == TypeStore::string) {
    check_format(context_, *binary.left, values);
    return TypeStore::string;
  }
  if (binary.right->kind == ast::ExprKind::Tuple) {
    context_.diagnostics.report(DiagnosticKind::wrong_type, binary.left->span, "string", context_.name(left))
        .note("`%` formats the values right of it");
    return TypeStore::error;
  }
  return bad_operands(binary, "`%` formats a string; `%%` is the remainder of `int`s");
}

}  // namespace raddle::check_detail
