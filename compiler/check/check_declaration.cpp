// Declarations of variables, and @param and @result.
#include <algorithm>
#include <cctype>
#include <optional>

#include "compiler/check/check_statement.hpp"

#include <algorithm>

#include "compiler/check/constant_value.hpp"
#include "compiler/check/resolve_types.hpp"

namespace raddle::check_detail {
namespace {

bool is_literal(const ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::IntLiteral:
    case ast::ExprKind::FloatLiteral:
    case ast::ExprKind::StringLiteral:
    case ast::ExprKind::BoolLiteral: return true;
    case ast::ExprKind::Unary: {
      const auto& unary = ast::as<const ast::Unary>(expr);
      return unary.op == ast::UnaryOp::negate && is_literal(*unary.operand);
    }
    case ast::ExprKind::Name:
    case ast::ExprKind::Binary:
    case ast::ExprKind::Call:
    case ast::ExprKind::Index:
    case ast::ExprKind::Slice:
    case ast::ExprKind::Field:
    case ast::ExprKind::ArrayLiteral:
    case ast::ExprKind::MapLiteral:
    case ast::ExprKind::Range:
    case ast::ExprKind::Tuple:
    case ast::ExprKind::FileName: return false;
  }
  return false;
}

/// `https://host/name`
bool is_url(const std::string& path) {
  const std::size_t scheme = path.find("://");
  return scheme != std::string::npos && scheme > 0 && std::ranges::all_of(path.substr(0, scheme), [](char each) {
           return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '+' || each == '-' || each == '.';
         });
}

/// `init_updateable(x)`
bool makes_updateable(const ast::Expr& expr) {
  return expr.kind == ast::ExprKind::Call && ast::as<const ast::Call>(expr).callee_kind == ast::CalleeKind::builtin &&
         expr.type == TypeStore::updateable;
}

/// `float a[0, 3];`
bool has_extent_0(const Context& context, TypeId type, const ast::Declaration& declaration,
                  const ast::Declarator& declarator) {
  if (!context.store().is_dense(type)) return false;
  const ast::Dimension* const dimension = extents_of(declaration.type, declarator.dimensions);
  return dimension != nullptr && std::ranges::any_of(dimension->entries, [](const auto& entry) {
           return entry->kind == ast::ExprKind::IntLiteral && ast::as<const ast::IntLiteral>(*entry).value == 0;
         });
}

}  // namespace

void StatementChecker::declaration(ast::Declaration& declaration) {
  check_annotations(context_, declaration.annotations, AnnotationPlace::declaration, declaration.span);
  expressions_.annotation_values(declaration.annotations);
  bool type_reported = false;
  for (ast::Declarator& each : declaration.declarators) {
    // an unknown type is reported once, not for each name of the list
    if (type_reported && each.dimensions.empty()) {
      if (each.value != nullptr) expressions_.value(*each.value);
      each.variable = scopes_.declare(each.name, TypeStore::error, VariableRole::local);
      continue;
    }
    declarator(declaration, each);
    type_reported = context_.variable(each.variable).type == TypeStore::error;
  }
}

/// `file f[0] <"a.txt"> = ...;` where `f` is an array that was declared: meant as an element of it.
bool StatementChecker::refuse_element(ast::Declarator& declarator) {
  const VariableId known = scopes_.find(declarator.name.text);
  if (declarator.dimensions.empty() || known == ast::no_variable || context_.is_of_earlier_piece(known)) return false;
  const auto& entries = declarator.dimensions.front().entries;
  const bool is_index = entries.size() == 1 && (entries[0]->kind == ast::ExprKind::IntLiteral ||
                                                entries[0]->kind == ast::ExprKind::StringLiteral);
  if (!is_index || !context_.store().is_array(context_.store().base(context_.variable(known).type))) return false;
  if (declarator.mapping != nullptr) expressions_.value(*declarator.mapping);
  if (declarator.value != nullptr) expressions_.value(*declarator.value);
  const std::size_t reported = context_.diagnostics.all().size();
  const VariableRole role = scopes_.at_top_level() ? VariableRole::global : VariableRole::local;
  declarator.variable = scopes_.declare(declarator.name, TypeStore::error, role);
  if (context_.diagnostics.all().size() == reported) return true;
  const std::string& name = declarator.name.text;
  context_.diagnostics.latest().note(
      declarator.mapping == nullptr
          ? "an element is assigned without a type: `" + name + "[0] = ...;`"
          : "a file with a name is a variable, then an element: `file one <...> = ...; " + name + "[0] = one;`");
  return true;
}

void StatementChecker::declarator(ast::Declaration& declaration, ast::Declarator& declarator) {
  if (refuse_element(declarator)) return;
  const TypeId type = resolve_type(context_, declaration.type, declarator.dimensions);
  if (type != TypeStore::error) extents(extents_of(declaration.type, declarator.dimensions));
  const bool bad_mapping = declarator.mapping != nullptr && !mapping(declarator, type);
  // before the name is visible: a variable can not be computed from itself
  if (declarator.value != nullptr) {
    const bool is_parameter = find_annotation(declaration.annotations, "param") != nullptr;
    initial_value(*declarator.value, declarator.name, type, is_parameter);
  }
  const VariableRole role = scopes_.at_top_level() ? VariableRole::global : VariableRole::local;
  declarator.variable = scopes_.declare(declarator.name, type, role);
  context_.variable(declarator.variable).has_no_elements = has_extent_0(context_, type, declaration, declarator);
  context_.variable(declarator.variable).fixed_extents = fixed_extents(context_, declaration.type, type);
  if (bad_mapping) context_.silenced.insert(declarator.variable);
  if (type == TypeStore::updateable) updateable(declarator);
  if (context_.options.piece != nullptr) return;  // a session has no command line, and shows what it is asked for
  if (find_annotation(declaration.annotations, "param") != nullptr) parameter(declaration, declarator);
  if (find_annotation(declaration.annotations, "result") != nullptr) result(declaration, declarator);
}

void StatementChecker::extents(ast::Dimension* dimension) {
  if (dimension == nullptr || !has_extents(context_, *dimension)) return;
  dimension->is_of_extents = true;
  for (auto& entry : dimension->entries)
    if (!is_open(*entry)) expressions_.value_of_type(*entry, TypeStore::int_);
}

void StatementChecker::initial_value(ast::Expr& value, const ast::Identifier& name, TypeId type, bool is_parameter) {
  const TypeId found = expressions_.value_for(value, type);
  const TypeId target = type == TypeStore::updateable && !makes_updateable(value) ? TypeStore::float_ : type;
  if (fit(context_, value, target) != Fit::none) {
    convert(context_, value, target);
    return;
  }
  if (report_counter_of_quotient(context_, value, target)) return;
  Diagnostic& diagnostic =
      context_.diagnostics
          .report(DiagnosticKind::cannot_assign, value.span, context_.name(found), name.text, context_.name(type))
          .label(name.span, "declared here as `" + context_.name(type) + "`");
  if (!is_parameter) {
    suggest_for_value(context_, diagnostic, value, target);
    return suggest_array_of(context_, diagnostic, name.text, value, target);
  }
  if (suggest_literal(context_, diagnostic, value, target)) return;
  if (context_.store().is_scalar(target) && context_.store().kind(target) != TypeKind::named)
    diagnostic.note("the default value of a `@param` is a literal, as in `@param " + context_.name(type) + " " +
                    name.text + " = " + example_of(type) + ";`");
}

bool StatementChecker::mapping(ast::Declarator& declarator, TypeId type) {
  expressions_.value_of_type(*declarator.mapping, TypeStore::string);
  context_.maps_files_in_functions = context_.maps_files_in_functions || context_.function != nullptr;
  const TypeId base = context_.store().base(type);
  if (base == TypeStore::file || base == TypeStore::url || base == TypeStore::error) {
    const std::optional<ConstantValue> known = constant_value(context_, *declarator.mapping);
    const auto* path = known ? std::get_if<std::string>(&*known) : nullptr;
    if (path == nullptr) return true;
    if (base == TypeStore::file && is_url(*path)) {
      context_.diagnostics.report(DiagnosticKind::path_is_url, declarator.mapping->span, declarator.name.text, *path)
          .note("as `url " + declarator.name.text + " <...>` it is a name for programs that go there by themselves");
      return false;
    }
    if (!path->empty()) return true;
    context_.diagnostics.report(DiagnosticKind::empty_path, declarator.mapping->span, declarator.name.text)
        .note("without a mapping, as in `file " + declarator.name.text + " = ...;`, it is a temporary file");
    return false;
  }
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::cannot_map, declarator.mapping->span,
                                                       declarator.name.text, context_.name(type));
  if (context_.store().is_array(base))
    diagnostic.note("declare a mapped file for each element and assign it to the element");
  return false;
}

void StatementChecker::updateable(const ast::Declarator& declarator) {
  if (declarator.value != nullptr && (is_literal(*declarator.value) || makes_updateable(*declarator.value))) return;
  if (context_.is_of_earlier_piece(declarator.variable)) return;
  const Span at = declarator.value == nullptr ? declarator.name.span : declarator.value->span;
  context_.silenced.insert(declarator.variable);
  if (declarator.value != nullptr && declarator.value->type == TypeStore::error) return;
  context_.diagnostics.report(DiagnosticKind::updateable_initial, at, declarator.name.text)
      .note("as in `updateable_float total = 0.0;`, or `init_updateable(x)` for a value that is computed");
}

void StatementChecker::parameter(const ast::Declaration& declaration, const ast::Declarator& declarator) {
  const ast::Annotation& annotation = *find_annotation(declaration.annotations, "param");
  const Variable& variable = context_.variable(declarator.variable);
  const char* fault = nullptr;
  Span at = annotation.span;
  if (!scopes_.at_top_level()) {
    fault = "stands at top level";
  } else if (variable.type == TypeStore::error) {
    return;
  } else if (context_.store().kind(variable.type) == TypeKind::named || !context_.store().is_scalar(variable.type)) {
    fault = "is of type `int`, `float`, `int32`, `float32`, `string` or `boolean`";
    at = declarator.dimensions.empty() ? declaration.type.span : declarator.name.span;
  } else if (declarator.value == nullptr || !is_literal(*declarator.value)) {
    fault = "has a literal as its default value";
    at = declarator.value == nullptr ? declarator.name.span : declarator.value->span;
  }
  if (fault != nullptr) {
    Diagnostic& report = context_.diagnostics.report(DiagnosticKind::bad_parameter, at, fault);
    if (at.begin == declarator.name.span.begin && declarator.value == nullptr)
      report.note("a run that does not set it takes the default: `@param " + context_.name(variable.type) + " " +
                  declarator.name.text + " = " + example_of(variable.type) + ";`");
    if (!context_.store().is_scalar(variable.type) && variable.type != TypeStore::error)
      report.note(
          "an array comes from a file that a parameter names, `@param string path = \"table.csv\";`, or each of "
          "its elements is a parameter");
    context_.silenced.insert(declarator.variable);
    return;
  }
  context_.program.parameters.push_back({declarator.variable, declarator.value.get(), declaration.comment});
}

void StatementChecker::result(const ast::Declaration& declaration, const ast::Declarator& declarator) {
  const ast::Annotation& annotation = *find_annotation(declaration.annotations, "result");
  if (!scopes_.at_top_level()) {
    context_.diagnostics.report(DiagnosticKind::bad_result, annotation.span, "stands at top level");
    return;
  }
  const TypeId type = context_.variable(declarator.variable).type;
  if (type != TypeStore::error && type != TypeStore::updateable && !context_.store().is_scalar(type)) {
    context_.diagnostics
        .report(DiagnosticKind::bad_result, declaration.type.span,
                "is of type `int`, `float`, `int32`, `float32`, `string`, `boolean` or `updateable_float`")
        .note("a result is one value for each run: an element, a sum, a mean; whole arrays are written to files");
    return;
  }
  context_.program.results.push_back({declarator.variable});
}

}  // namespace raddle::check_detail
