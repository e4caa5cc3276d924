// foreach, for, iterate.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ast/children.hpp"
#include "compiler/check/check_statement.hpp"
#include "compiler/check/resolve_types.hpp"

namespace raddle::check_detail {

using ast::as;

void StatementChecker::foreach_(ast::Foreach& loop) {
  check_annotations(context_, loop.annotations, AnnotationPlace::loop, loop.span);
  expressions_.annotation_values(loop.annotations);
  const TypeId type = context_.store().base(expressions_.value(*loop.iterable));
  const TypeKind kind = context_.store().kind(type);
  TypeId element = TypeStore::error;
  TypeId key = TypeStore::error;
  if (kind == TypeKind::array || kind == TypeKind::bag) {
    element = context_.store().at(type).element;
    if (kind == TypeKind::array) key = context_.store().at(type).key;
  } else if (const std::uint32_t rank = context_.store().rank(type); rank != 0) {
    element = context_.store().dense_element(type);
    if (rank > 1) element = context_.store().dense_of(element, rank - 1);
    key = TypeStore::int_;
  } else if (kind != TypeKind::error) {
    context_.diagnostics.report(DiagnosticKind::not_iterable, loop.iterable->span, context_.name(loop.iterable->type));
  }
  if (kind == TypeKind::bag && loop.key)
    context_.diagnostics.report(DiagnosticKind::bag_has_no_keys, loop.key->span, loop.key->text);
  scopes_.push();
  loop.value_variable = scopes_.declare(loop.value, element, VariableRole::loop);
  if (loop.iterable->kind == ast::ExprKind::Range && element == TypeStore::float_)
    if (const ast::Expr* quotient = quotient_of_ints(context_, *loop.iterable); quotient != nullptr)
      context_.quotients[loop.value_variable] = quotient->span;
  if (loop.key) loop.key_variable = scopes_.declare(*loop.key, key, VariableRole::loop);
  ++context_.waits;
  statements(*loop.body);
  --context_.waits;
  scopes_.pop();
}

void StatementChecker::loop_variable(ast::For::Variable& variable, const Scopes& outside) {
  TypeId type = variable.initial->type;
  if (variable.type) {
    type = resolve_type(context_, *variable.type, {});
    std::vector<ast::Dimension> none;
    if (type != TypeStore::error) extents(extents_of(*variable.type, none));
  } else {
    variable.outer = outside.find(variable.name.text);
    if (variable.outer != ast::no_variable) {
      ast::Name name;
      name.text = variable.name.text;
      name.span = variable.name.span;
      type = known_target(name);
    }
  }
  if (fit(context_, *variable.initial, type) != Fit::none) {
    convert(context_, *variable.initial, type);
  } else {
    suggest_for_value(
        context_,
        context_.diagnostics.report(DiagnosticKind::cannot_assign, variable.initial->span,
                                    context_.name(variable.initial->type), variable.name.text, context_.name(type)),
        *variable.initial, type);
  }
  if (variable.outer == ast::no_variable) {
    variable.variable = scopes_.declare(variable.name, type, VariableRole::loop);
    if (variable.type)
      context_.variable(variable.variable).fixed_extents = fixed_extents(context_, *variable.type, type);
  } else {
    variable.variable = context_.add_variable(variable.name, type, VariableRole::loop);
    scopes_.bind(variable.name.text, variable.variable);
  }
}

/// Of a `for` or `iterate`.
void StatementChecker::check_loop_in_turn(const ast::Annotations& annotations, Span span) {
  check_annotations(context_, annotations, AnnotationPlace::loop, span);
  for (const ast::Annotation& annotation : annotations)
    if (annotation.name.text == "gpu")
      context_.diagnostics.report(DiagnosticKind::not_for_gpus, mark_of(annotation),
                                  "this loop stays on the CPU: each iteration waits for the one before");
}

namespace {

/// The first place in `expr` that reads the variable; null: none.
const ast::Name* reader_in(const ast::Expr& expr, ast::VariableId variable) {
  if (expr.kind == ast::ExprKind::Name && as<ast::Name>(expr).variable == variable) return &as<ast::Name>(expr);
  const ast::Name* found = nullptr;
  ast::for_children(expr, [&](const ast::Expr& child) {
    if (found == nullptr) found = reader_in(child, variable);
  });
  return found;
}

}  // namespace

/// What a variable of the loop is at the end goes to one from outside, which so is not there when the loop begins.
void StatementChecker::check_initial_values(const ast::For& loop) {
  for (const ast::For::Variable& result : loop.variables) {
    if (result.outer == ast::no_variable) continue;
    for (const ast::For::Variable& variable : loop.variables)
      if (const ast::Name* const reader = reader_in(*variable.initial, result.outer); reader != nullptr)
        context_.diagnostics.report(DiagnosticKind::reads_end_of_loop, reader->span, result.name.text)
            .label(result.name.span, "the loop gives it its value when it ends")
            .note(&variable == &result ? "its first value is made of what is there before the loop"
                                       : "write the same first value once more: `" + variable.name.text + " = " +
                                             source_text(context_, result.initial->span) + "`");
  }
}

void StatementChecker::for_(ast::For& loop) {
  check_loop_in_turn(loop.annotations, loop.span);
  expressions_.annotation_values(loop.annotations);
  // no initial value sees a variable of the loop
  for (ast::For::Variable& variable : loop.variables) expressions_.value(*variable.initial);
  const Scopes outside = scopes_;
  scopes_.push();
  scopes_.begin_for();
  for (ast::For::Variable& variable : loop.variables) loop_variable(variable, outside);
  check_initial_values(loop);
  expressions_.condition(*loop.condition);
  check_awaited(loop);
  scopes_.push();
  ++context_.waits;
  statements(*loop.body);
  --context_.waits;
  updates(loop);
  scopes_.pop();
  scopes_.pop();
  scopes_.end_for();
}

/// `@waiton=x`: x is a variable of the loop.
void StatementChecker::check_awaited(const ast::For& loop) {
  const ast::Annotation* const awaited = find_annotation(loop.annotations, "waiton");
  if (awaited == nullptr || awaited->value == nullptr) return;
  const auto* const name =
      awaited->value->kind == ast::ExprKind::Name ? &as<const ast::Name>(*awaited->value) : nullptr;
  const auto is_it = [&](const ast::For::Variable& variable) { return variable.name.text == name->text; };
  if (name == nullptr || std::ranges::none_of(loop.variables, is_it))
    context_.diagnostics.report(DiagnosticKind::annotation_value, awaited->value->span, "waiton",
                                "takes the name of a variable of the loop");
}

void StatementChecker::updates(ast::For& loop) {
  std::vector<std::string> names;
  for (const ast::For::Variable& variable : loop.variables) names.push_back(variable.name.text);
  bool misdirected = false;
  for (ast::For::UpdateClause& clause : loop.updates) {
    expressions_.value(*clause.value);
    ast::For::Variable* updated = nullptr;
    for (ast::For::Variable& variable : loop.variables)
      if (variable.name.text == clause.name.text) updated = &variable;
    if (updated == nullptr) {
      misdirected = true;
      Diagnostic& diagnostic =
          context_.diagnostics.report(DiagnosticKind::not_a_loop_variable, clause.name.span, clause.name.text);
      if (scopes_.find(clause.name.text) != ast::no_variable)
        diagnostic.note(
            fmt::format("what is carried from iteration to iteration begins in the first part of the `for`, "
                        "as in `for ({} = ..; ..)`",
                        clause.name.text));
      else
        suggest(diagnostic, clause.name.text, names);
      continue;
    }
    if (updated->update != nullptr) {
      context_.diagnostics.report(DiagnosticKind::updated_twice, clause.name.span, clause.name.text)
          .label(updated->update->span, "first update");
      continue;
    }
    const TypeId type = context_.variable(updated->variable).type;
    if (fit(context_, *clause.value, type) != Fit::none) {
      convert(context_, *clause.value, type);
    } else {
      Diagnostic& diagnostic = context_.diagnostics
                                   .report(DiagnosticKind::cannot_assign, clause.value->span,
                                           context_.name(clause.value->type), clause.name.text, context_.name(type))
                                   .label(updated->name.span, "declared here as `" + context_.name(type) + "`");
      suggest_for_value(context_, diagnostic, *clause.value, type);
    }
    updated->update = std::move(clause.value);
  }
  if (misdirected) return;  // it was probably meant for the one that has no update
  for (const ast::For::Variable& variable : loop.variables)
    if (variable.update == nullptr)
      context_.diagnostics.report(DiagnosticKind::never_updated, variable.name.span, variable.name.text)
          .note("add `" + variable.name.text + " = ...` to the third part of the `for`");
}

void StatementChecker::iterate(ast::Iterate& loop) {
  check_loop_in_turn(loop.annotations, loop.span);
  scopes_.push();
  loop.variable = scopes_.declare(loop.counter, TypeStore::int_, VariableRole::loop);
  scopes_.push();
  ++context_.waits;
  statements(*loop.body);
  --context_.waits;
  expressions_.value_of_type(*loop.until, TypeStore::boolean);
  scopes_.pop();
  scopes_.pop();
}

}  // namespace raddle::check_detail
