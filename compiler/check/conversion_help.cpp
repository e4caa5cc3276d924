// What helps where a value is not of the type that is wanted.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <string_view>
#include <system_error>

#include "compiler/check/call_help.hpp"
#include "compiler/check/convert.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;

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

/// How many arrays are in each other; 0: it is no growing array.
static std::size_t depth_of(const TypeStore& types, TypeId type) {
  std::size_t depth = 0;
  for (; types.is_array(types.base(type)); type = types.at(types.base(type)).element) ++depth;
  return depth;
}

void suggest_for_value(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target) {
  const TypeStore& types = context.program.types;
  if (suggest_quotient(context, diagnostic, value, target)) return;
  if (types.kind(target) != TypeKind::named && suggest_literal(context, diagnostic, value, target)) return;
  suggest_conversion(types, diagnostic, value.type, target);
  if (!types.is_dense(types.base(target))) return;
  const auto rank_of = [&](TypeId dense) { return types.structure(types.base(dense)).fields.size() - 1; };
  const std::size_t rank = rank_of(target), found = depth_of(types, value.type);
  if (types.is_dense(types.base(value.type))) {
    if (const std::size_t own = rank_of(value.type); own < rank)
      diagnostic.note(fmt::format("it has {} dimension{}, and {} are wanted{}", own, own == 1 ? "" : "s", rank,
                                  value.kind == ast::ExprKind::Call ? ""
                                  : rank == 2                       ? ": `broadcast(x, n, m)` repeats it"
                                                                    : ": `broadcast(x, n, m, ..)` repeats it"));
  } else if (found != 0 && found != rank) {
    diagnostic.note(fmt::format("it has {} dimension{}, and {} are wanted{}", found, found == 1 ? "" : "s", rank,
                                found == 1 && rank == 2 ? ": `row(x)` is one for all rows" : ""));
  } else if (const std::string help = dense_help(context, value); !help.empty()) {
    diagnostic.note("a growing array becomes no dense one by itself: " + help);
  }
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
  if (types.is_dense(found) && types.rank(found) > 1 && types.is_array(target) &&
      types.is_array(types.at(target).element))
    diagnostic.note("each row of it can be an array: `foreach i in [0 : n - 1] { rows[i] = a[i, :]; }`; or write `" +
                    types.name(found) + "` in place of `" + types.name(target) + "`");
  const bool are_arrays = types.is_dense(types.base(found)) && types.is_dense(types.base(target));
  if (are_arrays && types.dense_element(types.base(found)) == TypeStore::float_ &&
      types.dense_element(types.base(target)) == TypeStore::int_)
    diagnostic.note("declare it as `float`; `float2int(...)` makes ints of the elements, toward zero");
  if (are_arrays && types.dense_element(types.base(found)) == TypeStore::boolean &&
      TypeStore::is_number(types.dense_element(types.base(target))))
    diagnostic.note("`bool2int(...)` makes 1 or 0 of each element");
  const TypeId narrow = number_in(types, target);
  if (TypeStore::is_narrow(narrow) && TypeStore::is_number(number_in(types, found)) && !types.is_array(found))
    diagnostic.note("`" + types.name(narrow) + "(...)` makes " + (narrow == TypeStore::int32 ? "an `" : "a `") +
                    types.name(narrow) + "` of it, if it fits");
  for (const Way& way : ways)
    if (way.found == types.base(found) && way.target == target) diagnostic.note(way.help);
}

const char* example_of(TypeId type) {
  if (TypeStore::is_int(type)) return "1";
  if (TypeStore::is_number(type)) return "1.0";
  return type == TypeStore::string ? "\"text\"" : "false";
}

}  // namespace raddle::check_detail
