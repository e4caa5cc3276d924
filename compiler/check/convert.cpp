#include "compiler/check/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;

Fit worse(Fit a, Fit b) { return std::max(a, b); }

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
    if (context.store().at(target.element).kind == TypeKind::float_ && expr.type != TypeStore::error &&
        context.store().at(expr.type).element == TypeStore::int_)
      result = worse(result, Fit::widens);
  }
  return result;
}

bool is_array_expression(const ast::Expr& expr) {
  return expr.kind == ExprKind::ArrayLiteral || expr.kind == ExprKind::MapLiteral || expr.kind == ExprKind::Range;
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

/// A dense array as a growing one of the same elements, or as one of floats.
Fit fit_dense(const TypeStore& types, TypeId found, TypeId target) {
  if (types.rank(found) == 1 && target == types.dense_elements(found)) return Fit::converts;
  const bool is_wider = types.rank(target) == types.rank(found) && types.is_dense(target) &&
                        types.dense_element(target) == TypeStore::float_ &&
                        types.dense_element(found) == TypeStore::int_;
  return is_wider ? Fit::widens : Fit::none;
}

}  // namespace

Fit fit_type(const TypeStore& types, TypeId found, TypeId target) {
  if (types.is_dense(found) && found != target) return fit_dense(types, found, target);
  if (const auto steps = steps_to_base(types, found, target)) return *steps == 0 ? Fit::exact : Fit::converts;
  if (target != TypeStore::float_) return Fit::none;
  const TypeId base = types.base(found);
  if (base == TypeStore::updateable) return Fit::converts;
  return base == TypeStore::int_ ? Fit::widens : Fit::none;
}

int conversion_cost(const TypeStore& types, Fit fit, TypeId found, TypeId target) {
  constexpr int widening = 1000, lifting = 1'000'000;
  switch (fit) {
    case Fit::exact: return 0;
    case Fit::converts: return std::max(steps_to_base(types, found, target).value_or(1), 1);
    case Fit::widens: return widening;
    case Fit::prints: return lifting;
    case Fit::lifts: return lifting + (types.dense_element(found) == types.base(target) ? 0 : widening);
    case Fit::none: break;
  }
  return widening;
}

std::string source_text(const Context& context, Span span) {
  std::string text = context.sources.at(span.file).text().substr(span.begin, span.end - span.begin);
  const bool is_short = text.size() <= 60 && text.find('\n') == std::string::npos;
  return is_short ? text : "...";
}

namespace {

/// All of the text is a number, as literals are written.
bool is_number(const std::string& text, bool is_whole) {
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  const auto is_digit = [](char sign) { return sign >= '0' && sign <= '9'; };
  if (digits.empty() || !is_digit(digits.front()) || !is_digit(digits.back())) return false;
  const auto is_read = [&text](auto number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  };
  return is_whole ? is_read(std::int64_t{0}) : is_read(0.0);
}

/// `"3"` as an `int` is `3`; empty for what is no literal, or none of that type.
std::string as_literal_of(const Context& context, const ast::Expr& value, TypeId target) {
  const bool is_digits = value.kind == ExprKind::IntLiteral || value.kind == ExprKind::FloatLiteral;
  if (target == TypeStore::string && (is_digits || value.kind == ExprKind::BoolLiteral))
    return "\"" + source_text(context, value.span) + "\"";
  if (value.kind != ExprKind::StringLiteral) return {};
  const std::string& text = as<const ast::StringLiteral>(value).value;
  if (target == TypeStore::boolean) return text == "true" || text == "false" ? text : "";
  const bool is_int = target == TypeStore::int_;
  return (is_int || target == TypeStore::float_) && is_number(text, is_int) ? text : "";
}

}  // namespace

bool suggest_literal(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target) {
  const std::string literal = as_literal_of(context, value, context.store().base(target));
  if (literal.empty()) return false;
  diagnostic.note(fmt::format("as `{}` it is written `{}`", context.name(context.store().base(target)), literal));
  return true;
}

namespace {

constexpr const char* quotient_help = "`/` makes a `float` of two `int`s; `%/` divides without a fraction";

/// The first part of `value` for which `holds`, where that part decides whether the whole is an `int` or a `float`.
const ast::Expr* deciding_part(const ast::Expr& value, const std::function<bool(const ast::Expr&)>& holds) {
  if (holds(value)) return &value;
  const auto either = [&](const ast::Expr* first, const ast::Expr* second) {
    const ast::Expr* found = first == nullptr ? nullptr : deciding_part(*first, holds);
    return found != nullptr || second == nullptr ? found : deciding_part(*second, holds);
  };
  if (value.kind == ExprKind::Unary) return deciding_part(*as<const ast::Unary>(value).operand, holds);
  if (value.kind == ExprKind::Binary) {
    const auto& binary = as<const ast::Binary>(value);
    const bool keeps_ints =
        binary.op == ast::BinaryOp::add || binary.op == ast::BinaryOp::sub || binary.op == ast::BinaryOp::mul;
    return keeps_ints ? either(binary.left.get(), binary.right.get()) : nullptr;
  }
  if (value.kind != ExprKind::Range) return nullptr;
  const auto& range = as<const ast::Range>(value);
  const ast::Expr* found = either(range.low.get(), range.high.get());
  return found != nullptr ? found : either(range.step.get(), nullptr);
}

}  // namespace

const ast::Expr* quotient_of_ints(const Context& context, const ast::Expr& value) {
  const TypeStore& types = context.program.types;
  const auto is_int = [&](const ast::Expr& operand) {
    return operand.kind == ExprKind::IntLiteral || types.base(operand.type) == TypeStore::int_;
  };
  return deciding_part(value, [&](const ast::Expr& part) {
    if (part.kind != ExprKind::Binary) return false;
    const auto& binary = as<const ast::Binary>(part);
    return binary.op == ast::BinaryOp::div && is_int(*binary.left) && is_int(*binary.right);
  });
}

bool suggest_quotient(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target) {
  const TypeStore& types = context.program.types;
  TypeId wanted = types.base(target);
  if (types.is_array(wanted)) wanted = types.base(types.at(wanted).element);
  if (wanted != TypeStore::int_ || quotient_of_ints(context, value) == nullptr) return false;
  diagnostic.note(quotient_help);
  return true;
}

bool report_counter_of_quotient(Context& context, const ast::Expr& value, TypeId target) {
  if (context.store().base(target) != TypeStore::int_) return false;
  const ast::Expr* counter = deciding_part(value, [&](const ast::Expr& part) {
    return part.kind == ExprKind::Name && context.quotients.contains(as<const ast::Name>(part).variable);
  });
  if (counter == nullptr) return false;
  const ast::VariableId variable = as<const ast::Name>(*counter).variable;
  if (context.variable(variable).type == TypeStore::error) return true;  // reported already
  context.variable(variable).type = TypeStore::error;
  context.diagnostics
      .report(DiagnosticKind::wrong_type, context.quotients.at(variable), context.name(TypeStore::int_),
              context.name(TypeStore::float_))
      .label(value.span, "is to be an `int`")
      .note(quotient_help);
  return true;
}

void suggest_for_value(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target) {
  const TypeStore& types = context.program.types;
  if (suggest_quotient(context, diagnostic, value, target)) return;
  if (types.kind(target) != TypeKind::named && suggest_literal(context, diagnostic, value, target)) return;
  suggest_conversion(types, diagnostic, value.type, target);
}

void suggest_conversion(const TypeStore& types, Diagnostic& diagnostic, TypeId found, TypeId target) {
  struct Way {
    TypeId found, target;
    const char* help;
  };
  static constexpr Way ways[] = {
      {TypeStore::float_, TypeStore::int_,
       "`toInt(...)` makes an `int` of it, toward zero; beyond 2^53 a `float` is rounded"},
      {TypeStore::updateable, TypeStore::int_, "`toInt(...)` makes an `int` of its present value, toward zero"},
      {TypeStore::string, TypeStore::int_, "`string2int(...)` reads an `int`"},
      {TypeStore::boolean, TypeStore::int_, "`bool2int(...)` makes 1 or 0 of it"},
      {TypeStore::string, TypeStore::float_, "`string2float(...)` reads a `float`"},
      {TypeStore::string, TypeStore::boolean, "`string2boolean(...)` reads a `boolean`"},
      {TypeStore::int_, TypeStore::boolean, "compare it with 0, as in `n != 0`"},
      {TypeStore::int_, TypeStore::string, "`toString(...)` makes a `string` of it"},
      {TypeStore::float_, TypeStore::string, "`toString(...)` makes a `string` of it"},
      {TypeStore::boolean, TypeStore::string, "`toString(...)` makes a `string` of it"},
      {TypeStore::file, TypeStore::string, "`filename(...)` is its name, `read(...)` what is in it"},
      {TypeStore::url, TypeStore::string, "`urlname(...)` is its name"},
      {TypeStore::string, TypeStore::file, "`input(...)` makes a file of the name of one that exists"},
      {TypeStore::string, TypeStore::url, "`input_url(...)` makes a url of its name"},
  };
  if (types.kind(target) == TypeKind::named && fit_type(types, found, types.at(target).element) != Fit::none) {
    diagnostic.note("`" + types.name(target) + "(...)` makes a `" + types.name(target) + "` of it");
    return;
  }
  for (const Way& way : ways)
    if (way.found == types.base(found) && way.target == target) diagnostic.note(way.help);
}

const char* example_of(TypeId type) {
  if (type == TypeStore::int_) return "1";
  if (type == TypeStore::float_) return "1.0";
  return type == TypeStore::string ? "\"text\"" : "false";
}

bool is_incomplete(const TypeStore& types, TypeId type) {
  const Type& at = types.at(type);
  switch (at.kind) {
    case TypeKind::error: return true;
    case TypeKind::array: return is_incomplete(types, at.key) || is_incomplete(types, at.element);
    case TypeKind::bag: return is_incomplete(types, at.element);
    case TypeKind::int_:
    case TypeKind::float_:
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

/// `[1.0, 2.0]`, `[0:9]`; of more dimensions literals in a literal.
Fit fit_dense_literal(const Context& context, const ast::Expr& expr, TypeId target) {
  const TypeStore& types = context.store();
  const std::uint32_t rank = types.rank(target);
  const Type row = {.kind = TypeKind::array, .key = TypeStore::int_, .element = types.dense_element(target)};
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
    const Type row = {.kind = TypeKind::array, .key = TypeStore::int_, .element = types.dense_element(target)};
    return convert_elements(context, expr, row);
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

Fit fit(const Context& context, const ast::Expr& expr, TypeId target) {
  const TypeStore& types = context.store();
  if (expr.type == TypeStore::error || target == TypeStore::error || expr.type == target) return Fit::exact;
  const TypeId array = types.base(target);
  if (types.is_dense(array) && is_array_expression(expr)) return fit_dense_literal(context, expr, array);
  if (types.is_array(array) && is_array_expression(expr)) {
    const Fit elements = fit_elements(context, expr, types.at(array));
    return array == target ? elements : Fit::none;
  }
  return fit_type(types, expr.type, target);
}

void convert(Context& context, ast::Expr& expr, TypeId target) {
  if (expr.type == TypeStore::error || target == TypeStore::error) return;
  const TypeStore& types = context.store();
  if (types.is_dense(target) && is_array_expression(expr)) return convert_dense_literal(context, expr, target);
  if (types.is_dense(expr.type) && target != expr.type) {
    expr.conversion = target == TypeStore::string ? ast::Conversion::to_string
                      : types.is_array(target)    ? ast::Conversion::to_growing
                                                  : ast::Conversion::to_float;
    return;
  }
  if (context.store().is_array(target) && is_array_expression(expr)) {
    const Type type = context.store().at(target);
    convert_elements(context, expr, type);
    expr.type = target;
    return;
  }
  if (target != TypeStore::float_ || context.store().base(expr.type) != TypeStore::int_) return;
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
