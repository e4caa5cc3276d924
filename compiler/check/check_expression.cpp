#include "compiler/check/check_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "compiler/check/call_help.hpp"
#include "compiler/check/value_text.hpp"
#include "compiler/diagnostics/foreign_names.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;

/// Calls `visit` for what `statement` declares in the block that it is in.
template <typename Visit>
void visit_declarators(const ast::Stmt& statement, const Visit& visit) {
  if (statement.kind == ast::StmtKind::Chain)
    for (const auto& link : as<const ast::Chain>(statement).links) visit_declarators(*link, visit);
  if (statement.kind != ast::StmtKind::Declaration) return;
  for (const ast::Declarator& declarator : as<const ast::Declaration>(statement).declarators) visit(declarator);
}

/// The value of `3`, `-0.5`; not of constants, which others may give.
std::optional<double> written_number(const Context& context, const ast::Expr& expr) {
  const ast::Expr& digits = expr.kind == ExprKind::Unary ? *as<const ast::Unary>(expr).operand : expr;
  if (digits.kind != ExprKind::IntLiteral && digits.kind != ExprKind::FloatLiteral) return std::nullopt;
  const auto value = constant_value(context, expr);
  if (!value) return std::nullopt;
  const auto* whole = std::get_if<std::int64_t>(&*value);
  return whole == nullptr ? std::get<double>(*value) : static_cast<double>(*whole);
}

}  // namespace

TypeId ExpressionChecker::value(ast::Expr& expr) {
  if (expr.kind != ExprKind::Call) return expr.type = infer(expr);
  auto& written = as<ast::Call>(expr);
  call(written);
  if (written.callee_kind == ast::CalleeKind::unresolved || written.output_types.size() == 1) return expr.type;
  context_.diagnostics.report(
      DiagnosticKind::output_count, expr.span, written.callee.text,
      written.output_types.empty() ? "no output" : std::to_string(written.output_types.size()) + " outputs",
      "one value is needed here");
  return expr.type = TypeStore::error;
}

void ExpressionChecker::value_of_type(ast::Expr& expr, TypeId target) {
  const TypeId found = value(expr);
  if (fit(context_, expr, target) != Fit::none) {
    convert(context_, expr, target);
    return;
  }
  context_.diagnostics.report(DiagnosticKind::wrong_type, expr.span, context_.name(target), context_.name(found));
}

void ExpressionChecker::condition(ast::Expr& expr) {
  const TypeId found = context_.store().base(value(expr));
  if (found == TypeStore::int32) return convert(context_, expr, TypeStore::int_);
  if (found == TypeStore::boolean || found == TypeStore::int_ || found == TypeStore::error) return;
  Diagnostic& diagnostic =
      context_.diagnostics.report(DiagnosticKind::bad_condition, expr.span, context_.name(expr.type));
  if (context_.store().is_dense(found)) diagnostic.note("a condition is one boolean: `all(...)` or `any(...)`");
}

TypeId ExpressionChecker::infer(ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::IntLiteral: return TypeStore::int_;
    case ExprKind::FloatLiteral: return TypeStore::float_;
    case ExprKind::StringLiteral: return TypeStore::string;
    case ExprKind::BoolLiteral: return TypeStore::boolean;
    case ExprKind::Name: return name(as<ast::Name>(expr));
    case ExprKind::Unary: return unary(as<ast::Unary>(expr));
    case ExprKind::Binary: return binary(as<ast::Binary>(expr));
    case ExprKind::Call: return value(expr);
    case ExprKind::Index: return index(as<ast::Index>(expr));
    case ExprKind::Field: {
      auto& written = as<ast::Field>(expr);
      return field(written, value(*written.base));
    }
    case ExprKind::ArrayLiteral: return array_literal(as<ast::ArrayLiteral>(expr));
    case ExprKind::MapLiteral: return map_literal(as<ast::MapLiteral>(expr));
    case ExprKind::Range: return range(as<ast::Range>(expr));
    case ExprKind::FileName: return file_name(as<ast::FileName>(expr));
    case ExprKind::Slice:
      context_.diagnostics.report(DiagnosticKind::not_supported, expr.span, "slices of arrays");
      return TypeStore::error;
    case ExprKind::Tuple:
      for (auto& element : as<ast::Tuple>(expr).elements) value(*element);
      context_.diagnostics.report(DiagnosticKind::misplaced_tuple, expr.span);
      return TypeStore::error;
  }
  return TypeStore::error;
}

TypeId ExpressionChecker::name(ast::Name& name) {
  name.variable = scopes_.find(name.text);
  if (name.variable != ast::no_variable) return name.type = context_.variable(name.variable).type;
  if (brackets_ > 0 && name.text == "end") {
    name.is_end = true;
    return name.type = TypeStore::int_;
  }
  if (scopes_.first_report(name.text)) unknown_variable(name);
  return TypeStore::error;
}

const std::vector<const ast::Declarator*>& ExpressionChecker::EnclosingBlock::declared_as(const std::string& name) {
  if (!declared) {
    declared.emplace();
    for (const auto& statement : block->statements)
      visit_declarators(*statement, [this](const ast::Declarator& one) { (*declared)[one.name.text].push_back(&one); });
  }
  static const std::vector<const ast::Declarator*> none;
  const auto found = declared->find(name);
  return found == declared->end() ? none : found->second;
}

void ExpressionChecker::unknown_variable(const ast::Name& name) {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    for (const ast::Declarator* later : block->declared_as(name.text)) {
      const bool in_its_value = later->value != nullptr && later->value->span.begin <= name.span.begin &&
                                name.span.end <= later->value->span.end;
      if (later->name.span.end < name.span.begin && !in_its_value) continue;
      context_.diagnostics.report(DiagnosticKind::not_yet_declared, name.span, name.text)
          .label(later->name.span, "declared here");
      return;
    }
  }
  if (const auto function = context_.callables.find(name.text); function != context_.callables.end()) {
    const std::string_view instead = help_for_foreign_name(name.text, NameUse::variable);
    context_.diagnostics.report(DiagnosticKind::function_as_variable, name.span, name.text)
        .note(instead.empty() ? "call it: `" + name.text + "(...)`" : std::string(instead));
    return;
  }
  if (context_.options.is_module_missing) return;
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::unknown_variable, name.span, name.text);
  if (const VariableId ended = scopes_.find_ended(name.text); ended != ast::no_variable) {
    context_.silenced.insert(ended);
    const Variable& variable = context_.variable(ended);
    diagnostic.label(variable.span, "declared here, it ends with its block");
    const TypeStore& types = context_.store();
    if (scopes_.was_in_for(ended) && !types.is_array(variable.type) && !types.is_dense(variable.type))
      diagnostic.note(
          fmt::format("`for` gives out the last values of its variables that are declared before it: "
                      "`{0} {1};`, then `for ({1} = ..., ...; ...; {1} = ...) {{ ... }}`",
                      context_.name(variable.type), variable.name));
    else if (variable.role == VariableRole::local)
      diagnostic.note("declare it before that block, and assign it there");
    return;
  }
  const std::string_view help = help_for_foreign_name(name.text, NameUse::variable);
  if (!help.empty())
    diagnostic.note(std::string(help));
  else if (context_.looks_for_near_names())
    suggest(diagnostic, name.text, scopes_.names());
}

std::optional<TypeId> ExpressionChecker::common_type(const std::vector<ast::Expr*>& elements) {
  // the first complete type decides, unless a later element shows that it must be float
  TypeId common = TypeStore::error;
  const ast::Expr* decided_by = nullptr;
  for (ast::Expr* element : elements) {
    if (is_incomplete(context_.store(), element->type)) continue;
    const TypeId type = element->type == TypeStore::updateable ? TypeStore::float_ : element->type;
    if (decided_by == nullptr || fit(context_, *element, common) == Fit::none) {
      bool fits_all = true;
      for (const ast::Expr* other : elements) {
        fits_all = fits_all && fit(context_, *other, type) != Fit::none;
        if (other == element) break;
      }
      if (decided_by != nullptr && !fits_all) {
        context_.diagnostics
            .report(DiagnosticKind::mixed_elements, element->span, context_.name(common), context_.name(element->type))
            .label(decided_by->span, "this is `" + context_.name(common) + "`");
        return std::nullopt;
      }
      common = type;
      decided_by = element;
    }
  }
  if (decided_by == nullptr && !elements.empty()) return elements.front()->type;
  for (ast::Expr* element : elements) convert(context_, *element, common);
  return common;
}

TypeId ExpressionChecker::array_literal(ast::ArrayLiteral& literal) {
  std::vector<ast::Expr*> elements;
  for (auto& element : literal.elements) {
    value(*element);
    elements.push_back(element.get());
  }
  const std::optional<TypeId> element = common_type(elements);
  return element ? context_.store().array_of(TypeStore::int_, *element) : TypeStore::error;
}

TypeId ExpressionChecker::map_literal(ast::MapLiteral& literal) {
  std::vector<ast::Expr*> keys;
  std::vector<ast::Expr*> elements;
  for (auto& [key, element] : literal.entries) {
    const TypeId type = value(*key);
    value(*element);
    if (type != TypeStore::error && !context_.store().is_scalar(type)) {
      context_.diagnostics.report(DiagnosticKind::bad_key_type, key->span, context_.name(type));
      key->type = TypeStore::error;
    }
    keys.push_back(key.get());
    elements.push_back(element.get());
  }
  const std::optional<TypeId> key = common_type(keys);
  const std::optional<TypeId> element = common_type(elements);
  if (key) report_repeated_keys(keys);
  return key && element ? context_.store().array_of(*key, *element) : TypeStore::error;
}

void ExpressionChecker::report_repeated_keys(const std::vector<ast::Expr*>& keys) {
  std::unordered_map<std::string, const ast::Expr*> seen;
  for (const ast::Expr* key : keys) {
    const auto known = constant_value(context_, *key);
    if (!known) continue;
    const auto [first, is_new] = seen.try_emplace(text_of(*known), key);
    if (!is_new)
      context_.diagnostics.report(DiagnosticKind::repeated_key, key->span, first->first)
          .label(first->second->span, "first given here");
  }
}

TypeId ExpressionChecker::range(ast::Range& range) {
  TypeId type = TypeStore::int_;
  bool failed = false;
  for (ast::Expr* bound : {range.low.get(), range.high.get(), range.step.get()}) {
    if (bound == nullptr) continue;
    value(*bound);
    const TypeId number = number_type(*bound);
    failed = failed || bound->type == TypeStore::error;
    if (number == TypeStore::error && bound->type != TypeStore::error) {
      context_.diagnostics.report(DiagnosticKind::bad_range, bound->span, context_.name(bound->type));
      failed = true;
    }
    if (TypeStore::wide(number) == TypeStore::float_) type = TypeStore::float_;
  }
  if (failed) return TypeStore::error;
  for (ast::Expr* bound : {range.low.get(), range.high.get(), range.step.get()})
    if (bound != nullptr) convert(context_, *bound, type);
  check_step_and_bounds(range);
  return context_.store().array_of(TypeStore::int_, type);
}

/// A step that would end at the last bound, but for the rounding of its numbers.
void ExpressionChecker::warn_of_missed_end(const ast::Range& range, double low, double high, double step) {
  constexpr double nearly = 1e-9;
  const double end = low + std::round((high - low) / step) * step;
  if (!(end > high) || !(end - high <= nearly * std::max(1.0, std::abs(high)))) return;
  context_.diagnostics
      .report(DiagnosticKind::range_misses_end, range.span, source_text(context_, range.high->span),
              fmt::format("{}", end))
      .note("a bound a little above it takes the last value in; or count in ints, and multiply");
}

void ExpressionChecker::check_step_and_bounds(const ast::Range& range) {
  const auto known_step = range.step == nullptr ? std::nullopt : constant_value(context_, *range.step);
  if (known_step == ConstantValue(std::int64_t{0}) || known_step == ConstantValue(0.0)) {
    context_.diagnostics.report(DiagnosticKind::zero_step, range.step->span);
    return;
  }
  const auto low = written_number(context_, *range.low);
  const auto high = written_number(context_, *range.high);
  double step = 0;  // not written as a number
  if (range.step != nullptr)
    if (const auto number = written_number(context_, *range.step)) step = *number;
  const char* why = nullptr;
  if (low && high && *low > *high && step >= 0 && (range.step == nullptr || step > 0))
    why = "its first bound is above its last";
  if (low && high && *low < *high && step < 0) why = "its step is negative, and its first bound below its last";
  if (why == nullptr && low && high && step != 0) warn_of_missed_end(range, *low, *high, step);
  if (why == nullptr) return;
  context_.diagnostics.report(DiagnosticKind::empty_range, range.span, why)
      .note("a range goes up, or down if its step is negative: `[5:1:-1]`");
}

TypeId ExpressionChecker::index(ast::Index& index) {
  const TypeId base = value(*index.base);
  return element(index, base);
}

TypeId ExpressionChecker::element(ast::Index& index, TypeId array) {
  const TypeId base = context_.store().base(array);
  if (context_.store().is_dense(base)) return dense_element(index, base);
  if (base == TypeStore::string) return part_of_string(index);
  const bool is_slice = index.indices.size() == 1 && index.indices.front()->kind == ExprKind::Slice;
  if (base == TypeStore::error || index.indices.size() != 1 || is_slice) {
    for (auto& key : index.indices)
      if (key->kind != ExprKind::Slice) value(*key);
    if (base != TypeStore::error) {
      Diagnostic& diagnostic = context_.diagnostics.report(
          DiagnosticKind::not_supported, index.span,
          is_slice ? "slices of growing arrays" : "several indices of a growing array in one `[...]`");
      if (is_slice) diagnostic.note("`slice(array, first, last)` of `import arrays;` has these elements");
      const bool has_rows = context_.store().is_array(context_.store().at(base).element);
      const std::string help = is_slice || has_rows ? dense_help(context_, *index.base) : "";
      diagnostic.note("a dense array has " + std::string(is_slice ? "slices" : "several indices and slices") +
                      (help.empty() ? ", as in `float A[n, m];`: `A[i, j]`, `A[1:n-2, :]`" : ": " + help));
    }
    return index.type = TypeStore::error;
  }
  ast::Expr& key = *index.indices.front();
  const TypeId found = value(key);
  if (!context_.store().is_array(base)) {
    context_.diagnostics.report(DiagnosticKind::not_an_array, index.base->span, context_.name(array));
    return index.type = TypeStore::error;
  }
  const Type type = context_.store().at(base);
  if (fit(context_, key, type.key) == Fit::none) {
    if (!report_counter_of_quotient(context_, key, type.key))
      suggest_quotient(context_,
                       context_.diagnostics.report(DiagnosticKind::wrong_key_type, key.span, context_.name(array),
                                                   context_.name(type.key), context_.name(found)),
                       key, type.key);
  } else {
    convert(context_, key, type.key);
  }
  return index.type = type.element;
}

/// `s[0:3]`, `s[0]`
TypeId ExpressionChecker::part_of_string(ast::Index& index) {
  context_.diagnostics.report(DiagnosticKind::not_an_array, index.base->span, context_.name(TypeStore::string))
      .note(fmt::format("`substring({}, start, length)` is a part of it, after `import string;`",
                        source_text(context_, index.base->span)));
  return index.type = TypeStore::error;
}

/// `A.T`, `A.shape`, `s.length`: what a value has elsewhere is a function of it here.
std::string ExpressionChecker::help_for_field(const ast::Field& field) const {
  const std::string& name = field.name.text;
  const TypeId base = context_.store().base(field.base->type);
  if (base == TypeStore::int_ || base == TypeStore::float_ || base == TypeStore::boolean) return "";
  const TypeId row = context_.store().is_array(base) ? context_.store().base(context_.store().at(base).element) : base;
  if (row != base && !context_.store().is_dense(row) && context_.store().kind(row) == TypeKind::structure)
    return "its elements have fields, `" + source_text(context_, field.base->span) + "[i]." + name +
           "`; a whole column is a field of a structure of arrays, as in `type columns { float " + name + "[:]; }`";
  if (const std::string_view help = help_for_foreign_name(name, NameUse::member); !help.empty())
    return std::string(help);
  const std::string call = "write `" + name + "(" + source_text(context_, field.base->span) + ")`";
  const auto known = context_.callables.find(name);
  if (known != context_.callables.end() && takes_alone(context_, known->second, *field.base)) return call;
  const auto hidden = context_.not_imported.find(name);
  if (hidden == context_.not_imported.end()) return std::string(help_for_foreign_name(name, NameUse::function));
  // what stands in other modules has not been read: nobody knows what it takes
  const bool is_of_arrays = std::ranges::any_of(hidden->second, [](const std::string& module) {
    return module == "arrays" || module == "stats" || module == "math";
  });
  return context_.store().is_dense(base) && is_of_arrays ? call + ", after `import arrays;`" : "";
}

TypeId ExpressionChecker::field(ast::Field& field, TypeId base) {
  const TypeId type = context_.store().base(base);
  if (type == TypeStore::error) return field.type = TypeStore::error;
  if (context_.store().kind(type) != TypeKind::structure || context_.store().is_dense(type)) {
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::no_fields, field.name.span, context_.name(base), field.name.text);
    if (std::string help = help_for_field(field); !help.empty()) diagnostic.note(std::move(help));
    return field.type = TypeStore::error;
  }
  const StructType& structure = context_.store().structure(type);
  const auto found = std::ranges::find(structure.fields, field.name.text, &StructType::Field::name);
  if (found != structure.fields.end()) {
    field.index = static_cast<std::uint32_t>(found - structure.fields.begin());
    return field.type = found->type;
  }
  Diagnostic& diagnostic =
      context_.diagnostics.report(DiagnosticKind::unknown_field, field.name.span, structure.name, field.name.text);
  std::vector<std::string> names;
  for (const StructType::Field& known : structure.fields) names.push_back(known.name);
  suggest(diagnostic, field.name.text, names);
  return field.type = TypeStore::error;
}

TypeId ExpressionChecker::file_name(ast::FileName& name) {
  const TypeId type = value(*name.file);
  const TypeId base = context_.store().base(type);
  if (base == TypeStore::file || base == TypeStore::url || base == TypeStore::error) return type;
  context_.diagnostics.report(DiagnosticKind::wrong_type, name.file->span, "file", context_.name(type));
  return TypeStore::error;
}

}  // namespace raddle::check_detail
