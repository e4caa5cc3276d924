#include "compiler/check/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "compiler/check/constant_value.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;

Fit worse(Fit a, Fit b) { return std::max(a, b); }

bool is_literal_number(const ast::Expr& expr) {
  return expr.kind == ExprKind::IntLiteral || expr.kind == ExprKind::FloatLiteral;
}

bool is_negated_number(const ast::Expr& expr) {
  if (expr.kind != ExprKind::Unary) return false;
  const auto& unary = as<const ast::Unary>(expr);
  return unary.op == ast::UnaryOp::negate && is_literal_number(*unary.operand);
}

bool is_negated_literal(const ast::Expr& expr) {
  if (expr.kind != ExprKind::Unary) return false;
  const auto& unary = as<const ast::Unary>(expr);
  return unary.op == ast::UnaryOp::negate && unary.operand->kind == ExprKind::IntLiteral;
}

/// How many named types lie between `from` and `target`, one of its bases; nullopt if it is none.
std::optional<int> steps_to_base(const TypeStore& types, TypeId from, TypeId target) {
  int steps = 0;
  for (; types.kind(from) == TypeKind::named && from != target; ++steps) from = types.at(from).element;
  return from == target ? std::optional(steps) : std::nullopt;
}

Fit fit_elements(const Context& context, const ast::Expr& expr, const Type& target) {
  Fit result = Fit::exact;
  if (expr.kind == ExprKind::ArrayLiteral) {
    if (target.key != TypeStore::int_) return Fit::none;
    for (const auto& element : as<const ast::ArrayLiteral>(expr).elements)
      result = worse(result, fit(context, *element, target.element));
  } else if (expr.kind == ExprKind::MapLiteral) {
    for (const auto& [key, value] : as<const ast::MapLiteral>(expr).entries)
      result = worse(result, worse(fit(context, *key, target.key), fit(context, *value, target.element)));
  } else {
    if (target.key != TypeStore::int_) return Fit::none;
    const auto& range = as<const ast::Range>(expr);
    for (const ast::Expr* bound : {range.low.get(), range.high.get(), range.step.get()})
      if (bound != nullptr) result = worse(result, fit(context, *bound, target.element));
    if (TypeStore::is_narrow(context.store().base(target.element))) return Fit::none;
    if (context.store().at(target.element).kind == TypeKind::float_ && expr.type != TypeStore::error &&
        context.store().at(expr.type).element == TypeStore::int_)
      result = worse(result, Fit::widens);
  }
  return result;
}

void convert_elements(Context& context, ast::Expr& expr, const Type& target) {
  if (expr.kind == ExprKind::ArrayLiteral) {
    for (auto& element : as<ast::ArrayLiteral>(expr).elements) convert(context, *element, target.element);
  } else if (expr.kind == ExprKind::MapLiteral) {
    for (auto& [key, value] : as<ast::MapLiteral>(expr).entries) {
      convert(context, *key, target.key);
      convert(context, *value, target.element);
    }
  } else {
    auto& range = as<ast::Range>(expr);
    for (ast::Expr* bound : {range.low.get(), range.high.get(), range.step.get()})
      if (bound != nullptr) convert(context, *bound, target.element);
  }
}

void make_float(Context& context, ast::IntLiteral& literal) {
  literal.type = TypeStore::float_;
  const double value = static_cast<double>(literal.value);
  // 2^63 itself is no int64: comparing there as double avoids the overflow of the cast back
  if (value >= 9223372036854775808.0 || static_cast<std::int64_t>(value) != literal.value)
    context.diagnostics.report(DiagnosticKind::loses_precision, literal.span, literal.value);
}

}  // namespace

namespace {

/// What a dense array is read as: `float[]`, and of two dimensions its rows, `float[][]`.
bool is_growing_form(const TypeStore& types, TypeId target, TypeId dense) {
  if (types.rank(dense) == 1) return target == types.dense_elements(dense);
  return types.rank(dense) == 2 && types.is_array(target) && types.at(target).key == TypeStore::int_ &&
         types.at(target).element == types.dense_elements(dense);
}

/// A dense array as a growing one, or as one of wider numbers. Ints are no growing array of floats.
Fit fit_dense(const TypeStore& types, TypeId found, TypeId target) {
  if (is_growing_form(types, target, found)) return Fit::converts;
  const TypeId element = types.dense_element(found);
  if (types.rank(found) == 1 && TypeStore::is_narrow(element) && types.is_array(target))
    return types.at(target).key == TypeStore::int_ && TypeStore::widens(element, types.at(target).element) ? Fit::widens
                                                                                                           : Fit::none;
  const bool is_wider = types.rank(target) == types.rank(found) && types.is_dense(target) &&
                        TypeStore::widens(element, types.dense_element(target));
  return is_wider ? Fit::widens : Fit::none;
}

/// A number that is written down, as a number of 32 bits.
bool fits_narrow(const Context& context, const ast::Expr& expr, TypeId target) {
  if (!TypeStore::is_narrow(target) || (!is_literal_number(expr) && !is_negated_number(expr))) return false;
  const auto known = constant_value(context, expr);
  return known && narrowed(*known, target);
}

}  // namespace

Fit fit_type(const TypeStore& types, TypeId found, TypeId target) {
  if (types.is_dense(found) && found != target) return fit_dense(types, found, target);
  if (const auto steps = steps_to_base(types, found, target)) return *steps == 0 ? Fit::exact : Fit::converts;
  const TypeId base = types.base(found);
  if (base == TypeStore::updateable && target == TypeStore::float_) return Fit::converts;
  return TypeStore::widens(base, target) ? Fit::widens : Fit::none;
}

TypeId number_in(const TypeStore& types, TypeId type) {
  if (types.is_dense(type)) return types.dense_element(type);
  const TypeId base = types.base(type);
  return types.is_array(base) ? types.base(types.at(base).element) : base;
}

int conversion_cost(const TypeStore& types, Fit fit, TypeId found, TypeId target) {
  constexpr int widening = 1000, lifting = 1'000'000;
  switch (fit) {
    case Fit::exact: return 0;
    case Fit::converts: return std::max(steps_to_base(types, found, target).value_or(1), 1);
    case Fit::widens: {
      const bool is_int32 = number_in(types, found) == TypeStore::int32;
      return widening + (is_int32 && number_in(types, target) == TypeStore::float_ ? 1 : 0);  // an int is nearer
    }
    case Fit::prints: return lifting;
    case Fit::lifts: {
      const TypeId element = types.dense_element(found), to = types.base(target);
      return lifting +
             (element == to ? 0 : widening + (element == TypeStore::int32 && to == TypeStore::float_ ? 1 : 0));
    }
    case Fit::none: break;
  }
  return widening;
}

bool is_incomplete(const TypeStore& types, TypeId type) {
  const Type& at = types.at(type);
  switch (at.kind) {
    case TypeKind::error: return true;
    case TypeKind::array: return is_incomplete(types, at.key) || is_incomplete(types, at.element);
    case TypeKind::bag: return is_incomplete(types, at.element);
    case TypeKind::int_:
    case TypeKind::float_:
    case TypeKind::int32:
    case TypeKind::float32:
    case TypeKind::string:
    case TypeKind::boolean:
    case TypeKind::void_:
    case TypeKind::blob:
    case TypeKind::file:
    case TypeKind::url:
    case TypeKind::structure:
    case TypeKind::named:
    case TypeKind::updateable: return false;
  }
  return false;
}

namespace {

/// What the literal is of a growing array. A range is one of numbers of 64 bits.
Type row_of(const TypeStore& types, const ast::Expr& expr, TypeId target) {
  const TypeId element = types.dense_element(target);
  return {.kind = TypeKind::array,
          .key = TypeStore::int_,
          .element = expr.kind == ExprKind::Range ? TypeStore::wide(element) : element};
}

/// `[1.0, 2.0]`, `[0:9]`; of more dimensions literals in a literal.
Fit fit_dense_literal(const Context& context, const ast::Expr& expr, TypeId target) {
  const TypeStore& types = context.store();
  const std::uint32_t rank = types.rank(target);
  const Type row = row_of(types, expr, target);
  if (rank == 1) return expr.kind == ExprKind::MapLiteral ? Fit::none : fit_elements(context, expr, row);
  if (expr.kind != ExprKind::ArrayLiteral) return Fit::none;
  const TypeId inner = context.program.types.find_dense(row.element, rank - 1);
  Fit result = Fit::exact;
  for (const auto& element : as<ast::ArrayLiteral>(expr).elements)
    result = worse(result,
                   element->kind == ExprKind::ArrayLiteral ? fit_dense_literal(context, *element, inner) : Fit::none);
  return result;
}

void convert_dense_literal(Context& context, ast::Expr& expr, TypeId target) {
  const TypeStore& types = context.store();
  const std::uint32_t rank = types.rank(target);
  expr.type = target;
  if (rank == 1) {
    return convert_elements(context, expr, row_of(types, expr, target));
  }
  auto& rows = as<ast::ArrayLiteral>(expr).elements;
  for (auto& row : rows) {
    convert_dense_literal(context, *row, types.find_dense(types.dense_element(target), rank - 1));
    const std::size_t found = as<const ast::ArrayLiteral>(*row).elements.size();
    const std::size_t wanted = as<const ast::ArrayLiteral>(*rows.front()).elements.size();
    if (found == wanted) continue;
    context.diagnostics
        .report(DiagnosticKind::bad_dense_type, row->span,
                fmt::format("the rows of a dense array are of one length: {} and {}", wanted, found))
        .label(rows.front()->span, "the first row");
    return;
  }
}

}  // namespace

bool is_array_expression(const ast::Expr& expr) {
  return expr.kind == ExprKind::ArrayLiteral || expr.kind == ExprKind::MapLiteral || expr.kind == ExprKind::Range;
}

Fit fit(const Context& context, const ast::Expr& expr, TypeId target) {
  const TypeStore& types = context.store();
  if (expr.type == TypeStore::error || target == TypeStore::error || expr.type == target) return Fit::exact;
  const TypeId array = types.base(target);
  if (types.is_dense(array) && is_array_expression(expr)) return fit_dense_literal(context, expr, array);
  if (types.is_array(array) && is_array_expression(expr)) {
    const Fit elements = fit_elements(context, expr, types.at(array));
    return array == target ? elements : Fit::none;
  }
  if (fits_narrow(context, expr, target)) return Fit::widens;
  return fit_type(types, expr.type, target);
}

void convert(Context& context, ast::Expr& expr, TypeId target) {
  if (expr.type == TypeStore::error || target == TypeStore::error) return;
  const TypeStore& types = context.store();
  if (types.is_dense(target) && is_array_expression(expr)) return convert_dense_literal(context, expr, target);
  if (types.is_dense(expr.type) && target != expr.type) {
    if (target == TypeStore::string)
      expr.conversion = ast::Conversion::to_string;
    else if (types.is_array(target))
      expr.conversion = is_growing_form(types, target, expr.type)     ? ast::Conversion::to_growing
                        : types.at(target).element == TypeStore::int_ ? ast::Conversion::to_growing_ints
                                                                      : ast::Conversion::to_growing_floats;
    else
      expr.conversion =
          types.dense_element(target) == TypeStore::int_ ? ast::Conversion::to_int : ast::Conversion::to_float;
    return;
  }
  if (context.store().is_array(target) && is_array_expression(expr)) {
    const Type type = context.store().at(target);
    convert_elements(context, expr, type);
    expr.type = target;
    return;
  }
  const TypeId base = context.store().base(expr.type);
  if (TypeStore::is_narrow(target) && TypeStore::is_number(base) && base != target)
    expr.conversion = target == TypeStore::int32 ? ast::Conversion::to_int32 : ast::Conversion::to_float32;
  if (target == TypeStore::int_ && base == TypeStore::int32) expr.conversion = ast::Conversion::to_int;
  if (target == TypeStore::float_ && TypeStore::is_narrow(base)) expr.conversion = ast::Conversion::to_float;
  if (target != TypeStore::float_ || base != TypeStore::int_) return;
  if (expr.kind == ExprKind::IntLiteral) {
    make_float(context, as<ast::IntLiteral>(expr));
  } else if (is_negated_literal(expr)) {
    make_float(context, as<ast::IntLiteral>(*as<ast::Unary>(expr).operand));
    expr.type = TypeStore::float_;
  } else {
    expr.conversion = ast::Conversion::to_float;
  }
}

}  // namespace raddle::check_detail
