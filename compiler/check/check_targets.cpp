// Assignments, appends and updates: what stands left of the sign.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/annotations.hpp"
#include "compiler/check/check_statement.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;

namespace {

/// As a user would name the target: `x`, `A[...]`, `s.f`.
std::string target_text(const ast::Expr& target) {
  if (target.kind == ExprKind::Name) return as<const ast::Name>(target).text;
  if (target.kind == ExprKind::Index) return target_text(*as<const ast::Index>(target).base) + "[...]";
  if (target.kind == ExprKind::Field) {
    const auto& field = as<const ast::Field>(target);
    return target_text(*field.base) + "." + field.name.text;
  }
  return "...";
}

/// A declaration for what is assigned an empty literal of `value_type`: `int x[][];`. Keys as far as they are known.
std::string declaration_text(const TypeStore& types, const ast::Expr& target, TypeId value_type) {
  std::string keys;
  const auto add = [&](TypeId key, bool before) {
    const std::string one = key == TypeStore::int_    ? "[]"
                            : key == TypeStore::error ? "[string]"
                                                      : "[" + types.name(key) + "]";
    keys = before ? one + keys : keys + one;
  };
  const ast::Expr* at = &target;
  for (; at->kind == ExprKind::Index; at = as<const ast::Index>(*at).base.get())
    add(as<const ast::Index>(*at).indices.front()->type, true);
  for (; types.is_array(value_type); value_type = types.at(value_type).element) add(types.at(value_type).key, false);
  return "int " + target_text(*at) + keys;
}

const ast::Name* root_of(const ast::Expr& target) {
  if (target.kind == ExprKind::Name) return &as<const ast::Name>(target);
  if (target.kind == ExprKind::Index) return root_of(*as<const ast::Index>(target).base);
  if (target.kind == ExprKind::Field) return root_of(*as<const ast::Field>(target).base);
  return nullptr;
}

/// `float p[:, :]` of the type `float[:, :]`.
std::string declared_text(const std::string& type, const std::string& name) {
  const std::size_t base = type.find('[');
  return type.substr(0, base) + " " + name + (base == std::string::npos ? "" : type.substr(base));
}

}  // namespace

void StatementChecker::report_not_assignable(const ast::Name& name) {
  const VariableId id = name.variable;
  const Variable& variable = context_.variable(id);
  const char* what = nullptr;
  switch (variable.role) {
    case VariableRole::local:
    case VariableRole::output: break;
    case VariableRole::global:
      if (scopes_.in_function())
        what = "a top-level variable, which functions can only read";
      else if (context_.is_settled(id))
        what = "of an earlier entry, which has assigned it";
      break;
    case VariableRole::constant: what = "a constant"; break;
    case VariableRole::input: what = "an input of the function"; break;
    case VariableRole::loop: what = "a loop variable"; break;
  }
  if (what == nullptr && variable.type == TypeStore::updateable) {
    if (!context_.silenced.insert(id).second) return;
    context_.diagnostics.report(DiagnosticKind::not_assignable, name.span, name.text, "an updateable")
        .label(variable.span, "declared here")
        .note("update it: `" + name.text + " <incr> := ...;`");
    return;
  }
  if (what == nullptr || !context_.silenced.insert(id).second) return;
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::not_assignable, name.span, name.text, what)
                               .label(variable.span, "declared here");
  if (variable.role == VariableRole::global && scopes_.in_function())
    diagnostic.note(variable.type == TypeStore::error
                        ? "declare it here, with its type, if it is to be a variable of the function's own"
                        : fmt::format("`{} = ...;` is a variable of the function's own",
                                      declared_text(context_.name(variable.type), name.text)));
  if (context_.is_settled(id)) diagnostic.note("all elements and fields of a variable are assigned in one entry");
}

TypeId StatementChecker::known_target(ast::Expr& target) {
  const std::size_t errors = context_.diagnostics.error_count();
  const TypeId type = place(target);
  const ast::Name* root = root_of(target);
  if (context_.diagnostics.error_count() != errors && root != nullptr && root->variable != ast::no_variable)
    context_.silenced.insert(root->variable);
  return type;
}

/// `A[0][1] = 2.0` of a dense array. @param row  `A[0]`
TypeId StatementChecker::refuse_brackets(ast::Index& index, const ast::Index& row) {
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::not_supported, index.span,
                                                       "the assignment to a part of a part of a dense array");
  std::string indices;
  for (const auto& entry : row.indices) {
    if (entry->kind == ExprKind::Slice) return index.type = TypeStore::error;
    indices += source_text(context_, entry->span) + ", ";
  }
  for (const auto& entry : index.indices)
    indices += (entry == index.indices.front() ? "" : ", ") + source_text(context_, entry->span);
  diagnostic.note("all indices stand in one pair of brackets: `" + target_text(*row.base) + "[" + indices + "]`");
  return index.type = TypeStore::error;
}

TypeId StatementChecker::place(ast::Expr& target) {
  switch (target.kind) {
    case ExprKind::Name: {
      auto& name = as<ast::Name>(target);
      if (expressions_.name(name) == TypeStore::error) return name.type = TypeStore::error;
      report_not_assignable(name);
      return name.type;
    }
    case ExprKind::Index: {
      auto& index = as<ast::Index>(target);
      TypeId base = place(*index.base);
      const ast::Name* root = root_of(index);
      const bool reported = root != nullptr && context_.silenced.contains(root->variable);
      if (reported && !context_.store().is_array(context_.store().base(base))) base = TypeStore::error;
      const auto* const row = index.base->kind == ExprKind::Index ? &as<ast::Index>(*index.base) : nullptr;
      if (row != nullptr && context_.store().is_dense(base) && context_.store().is_dense(row->base->type))
        return refuse_brackets(index, *row);
      const TypeId type = expressions_.element(index, base);
      const auto chooses = [this](const auto& entry) { return context_.store().is_dense(entry->type); };
      if (type == TypeStore::error || std::ranges::none_of(index.indices, chooses)) return type;
      context_.diagnostics
          .report(DiagnosticKind::not_supported, target.span,
                  "assigning to elements that an array of indices or of booleans chooses")
          .note("elements are assigned once; `where(condition, a, b)` of `import arrays;` makes a new array");
      return index.type = TypeStore::error;
    }
    case ExprKind::Field: {
      auto& field = as<ast::Field>(target);
      const TypeId base = place(*field.base);
      if (field.base->kind != ExprKind::Index || base == TypeStore::error) return expressions_.field(field, base);
      if (context_.silenced.insert(root_of(target)->variable).second)
        context_.diagnostics.report(DiagnosticKind::field_in_array, target.span)
            .note("make the structure first and assign it whole: `" + target_text(*field.base) + " = s;`");
      return field.type = TypeStore::error;
    }
    case ExprKind::IntLiteral:
    case ExprKind::FloatLiteral:
    case ExprKind::StringLiteral:
    case ExprKind::BoolLiteral:
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::Call:
    case ExprKind::Slice:
    case ExprKind::ArrayLiteral:
    case ExprKind::MapLiteral:
    case ExprKind::Range:
    case ExprKind::Tuple:
    case ExprKind::FileName: break;
  }
  context_.diagnostics.report(DiagnosticKind::bad_target, target.span);
  return TypeStore::error;
}

TypeId StatementChecker::declare_target(ast::Expr& target, TypeId value_type) {
  if (target.kind == ExprKind::Index) {
    auto& index = as<ast::Index>(target);
    TypeId key = TypeStore::int_;
    if (index.indices.size() == 1) {
      const TypeId found = expressions_.value(*index.indices.front());
      if (context_.store().is_scalar(found)) key = context_.store().base(found);
    }
    const TypeId array = value_type == TypeStore::error ? value_type : context_.store().array_of(key, value_type);
    const TypeId declared = declare_target(*index.base, array);
    return index.type = declared == TypeStore::error ? declared : value_type;
  }
  auto& name = as<ast::Name>(target);
  const VariableRole role = scopes_.at_top_level() ? VariableRole::global : VariableRole::local;
  name.variable = scopes_.make({name.text, name.span}, value_type, role);
  return name.type = value_type;
}

/// Nobody can assign that: a script's variable may have the name, as `E`, with a warning.
bool StatementChecker::is_constant_of_library(VariableId known) const {
  if (known == ast::no_variable) return false;
  const Variable& variable = context_.variable(known);
  return variable.role == VariableRole::constant && context_.is_of_library(variable.span);
}

TypeId StatementChecker::target(ast::Expr& target, TypeId value_type, bool& declares) {
  const ast::Name* root = root_of(target);
  const VariableId known = root == nullptr ? ast::no_variable : scopes_.find(root->text);
  const bool is_redefined =
      root == &target && scopes_.at_top_level() && known != ast::no_variable && context_.is_settled(known);
  bool is_new = root != nullptr && (known == ast::no_variable || is_redefined || is_constant_of_library(known));
  for (const ast::Expr* part = &target; is_new && part != root; part = as<const ast::Index>(*part).base.get())
    is_new = part->kind == ExprKind::Index;
  declares = is_new;
  if (!is_new) return known_target(target);
  if (value_type == TypeStore::updateable) value_type = TypeStore::float_;
  if (is_incomplete(context_.store(), value_type)) {
    // the keys of the target show how to declare it
    for (ast::Expr* part = &target; part->kind == ExprKind::Index; part = as<ast::Index>(*part).base.get())
      for (auto& key : as<ast::Index>(*part).indices) expressions_.value(*key);
  }
  if (is_incomplete(context_.store(), value_type)) {
    if (value_type != TypeStore::error)
      context_.diagnostics.report(DiagnosticKind::untyped_literal, target.span, root->text)
          .note("declare it, as in `" + declaration_text(context_.store(), target, value_type) + ";`");
    value_type = TypeStore::error;
  }
  return declare_target(target, value_type);
}

Diagnostic& StatementChecker::report_misfit(const ast::Expr& target, TypeId type, Span value, TypeId found) {
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::cannot_assign, value, context_.name(found),
                                                       target_text(target), context_.name(type));
  const ast::Name* root = root_of(target);
  if (root != nullptr && root->variable != ast::no_variable) {
    const Variable& variable = context_.variable(root->variable);
    diagnostic.label(variable.span, "declared here as `" + context_.name(variable.type) + "`");
  }
  return diagnostic;
}

void StatementChecker::fit_value(ast::Expr& value, const ast::Expr& target, TypeId type) {
  if (type == TypeStore::updateable) type = TypeStore::float_;
  // one number for all of a slice
  if (target.kind == ExprKind::Index && context_.store().is_dense(type) && !context_.store().is_dense(value.type) &&
      value.kind != ExprKind::ArrayLiteral && value.kind != ExprKind::Range)
    type = context_.store().dense_element(type);
  if (fit(context_, value, type) == Fit::none) {
    if (report_counter_of_quotient(context_, value, type)) return;
    Diagnostic& diagnostic = report_misfit(target, type, value.span, value.type);
    suggest_for_value(context_, diagnostic, value, type);
    if (target.kind == ExprKind::Name)
      suggest_array_of(context_, diagnostic, as<const ast::Name>(target).text, value, type);
    return;
  }
  convert(context_, value, type);
}

/// Of a variable that is there already.
TypeId StatementChecker::declared_type(const ast::Expr& target) const {
  if (target.kind != ExprKind::Name) return TypeStore::error;
  const VariableId known = scopes_.find(as<const ast::Name>(target).text);
  return known == ast::no_variable || is_constant_of_library(known) ? TypeStore::error : context_.variable(known).type;
}

void StatementChecker::assign(ast::Assign& assign) {
  check_annotations(context_, assign.annotations, AnnotationPlace::declaration, assign.span);
  expressions_.annotation_values(assign.annotations);
  assign.declares.assign(assign.targets.size(), false);
  if (assign.values.size() == 1 && assign.values[0]->kind == ExprKind::Tuple) {
    std::vector<ast::ExprPtr> elements = std::move(as<ast::Tuple>(*assign.values[0]).elements);
    assign.values = std::move(elements);
  }
  const bool one_call = assign.values.size() == 1 && assign.values[0]->kind == ExprKind::Call;
  if (one_call && assign.targets.size() > 1) return assign_outputs(assign, as<ast::Call>(*assign.values[0]));
  // all values first: none of them sees a variable that this statement declares
  for (std::size_t i = 0; i < assign.values.size(); ++i)
    expressions_.value_for(*assign.values[i],
                           i < assign.targets.size() ? declared_type(*assign.targets[i]) : TypeStore::error);
  const bool counts_differ = assign.values.size() != assign.targets.size();
  if (counts_differ)
    context_.diagnostics.report(DiagnosticKind::assignment_count, assign.targets.front()->span, assign.targets.size(),
                                assign.values.size());
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const TypeId found = counts_differ ? TypeStore::error : assign.values[i]->type;
    const TypeId type = one_of_targets(assign, i, found);
    if (!counts_differ) fit_value(*assign.values[i], *assign.targets[i], type);
  }
  refuse_marks(assign);
}

/// `@param x = 3;`, `@result z = y;`: both are of a declaration.
void StatementChecker::refuse_marks(const ast::Assign& assign) {
  for (const ast::Annotation& annotation : assign.annotations) {
    const std::string& mark = annotation.name.text;
    if (mark != "param" && mark != "result") continue;
    Diagnostic& diagnostic =
        context_.diagnostics.report(mark == "param" ? DiagnosticKind::bad_parameter : DiagnosticKind::bad_result,
                                    annotation.span, "stands before a declaration with a type");
    const ast::Name* name = root_of(*assign.targets.front());
    if (name == nullptr || name->variable == ast::no_variable) continue;
    const Variable& variable = context_.variable(name->variable);
    if (variable.type == TypeStore::error) continue;
    if (!assign.declares.front()) {
      diagnostic.label(variable.span, "declared here");
    } else if (name == assign.targets.front().get()) {
      diagnostic.note(fmt::format("as in `@{} {} {} = ...;`", mark, context_.name(variable.type), name->text));
    }
  }
}

void StatementChecker::assign_outputs(ast::Assign& assign, ast::Call& call) {
  expressions_.call(call);
  const std::size_t outputs = call.output_types.size();
  const bool resolved = call.callee_kind != ast::CalleeKind::unresolved;
  const bool counts_differ = outputs != assign.targets.size();
  if (resolved && counts_differ)
    context_.diagnostics.report(DiagnosticKind::output_count, call.callee.span, call.callee.text,
                                outputs == 0   ? "no output"
                                : outputs == 1 ? "1 output"
                                               : std::to_string(outputs) + " outputs",
                                std::to_string(assign.targets.size()) + " are assigned");
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const TypeId found = counts_differ ? TypeStore::error : call.output_types[i];
    const TypeId type = one_of_targets(assign, i, found);
    fit_output(*assign.targets[i], type, found);
  }
  refuse_marks(assign);
}

/// `_` among several is a value that nobody wants, unless something is declared by that name: a variable that can not
/// be named, another one each time.
TypeId StatementChecker::one_of_targets(ast::Assign& assign, std::size_t number, TypeId value_type) {
  ast::Expr& expr = *assign.targets[number];
  const bool is_wanted = assign.targets.size() == 1 || expr.kind != ExprKind::Name || as<ast::Name>(expr).text != "_" ||
                         scopes_.find("_") != ast::no_variable || is_incomplete(context_.store(), value_type);
  bool declares = true;
  if (is_wanted) {
    const TypeId type = target(expr, value_type, declares);
    assign.declares[number] = declares;
    return type;
  }
  auto& name = as<ast::Name>(expr);
  name.variable = context_.add_variable({name.text, name.span}, value_type, VariableRole::local);
  assign.declares[number] = true;
  return name.type = value_type;
}

void StatementChecker::fit_output(const ast::Expr& target, TypeId type, TypeId found) {
  if (found == TypeStore::error || type == TypeStore::error) return;
  if (fit_type(context_.store(), found, type) == Fit::none)
    suggest_conversion(context_.store(), report_misfit(target, type, target.span, found), found, type);
}

void StatementChecker::append(ast::Append& append) {
  expressions_.value(*append.value);
  const std::size_t errors = context_.diagnostics.error_count();
  const TypeId type = known_target(*append.target);
  if (type == TypeStore::error || context_.diagnostics.error_count() != errors) return;
  if (context_.store().kind(type) != TypeKind::bag) {
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::cannot_append, append.target->span, context_.name(type))
            .note("`+=` adds to a bag; variables are assigned once");
    if (append.target->kind == ExprKind::Name && (type == TypeStore::int_ || type == TypeStore::float_)) {
      const std::string& name = as<ast::Name>(*append.target).text;
      diagnostic.note("a new value has a name of its own, `next_" + name + " = " + name +
                      " + ...;`; a sum over a loop is `sum` of an array, or a variable of a `for`");
    }
    context_.silenced.insert(root_of(*append.target)->variable);
    return;
  }
  const TypeId element = context_.store().at(type).element;
  if (fit(context_, *append.value, element) != Fit::none) return convert(context_, *append.value, element);
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::wrong_type, append.value->span,
                                                       context_.name(element), context_.name(append.value->type));
  diagnostic.label(append.target->span, "is a `" + context_.name(type) + "`");
  suggest_conversion(context_.store(), diagnostic, append.value->type, element);
}

void StatementChecker::update(ast::Update& update) {
  expressions_.value_of_type(*update.value, TypeStore::float_);
  ast::Name name;
  name.text = update.target.text;
  name.span = update.target.span;
  const TypeId type = expressions_.name(name);
  update.variable = name.variable;
  if (type != TypeStore::error && type != TypeStore::updateable)
    context_.diagnostics.report(DiagnosticKind::not_updateable, update.target.span, name.text, context_.name(type))
        .label(context_.variable(name.variable).span, "declared here");
  const std::vector<std::string> modes = {"incr", "min", "scale"};
  if (std::find(modes.begin(), modes.end(), update.mode.text) != modes.end()) return;
  Diagnostic& diagnostic =
      context_.diagnostics.report(DiagnosticKind::unknown_update, update.mode.span, update.mode.text);
  suggest(diagnostic, update.mode.text, modes);
  if (diagnostic.help.empty()) diagnostic.note("there are `<incr>`, `<min>` and `<scale>`");
}

}  // namespace raddle::check_detail
