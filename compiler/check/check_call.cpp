// Calls of functions, builtins and constructors of types.
#include <algorithm>
#include <optional>
#include <variant>

#include "compiler/check/call_help.hpp"
#include "compiler/check/check_expression.hpp"
#include "compiler/check/check_format.hpp"
#include "compiler/check/constant_value.hpp"
#include "compiler/check/convert.hpp"
#include "compiler/check/look_alikes.hpp"
#include "compiler/check/resolve_overloads.hpp"
#include "stdlib/builtins.hpp"
#include "stdlib/native/parse_number.hpp"
#include "compiler/diagnostics/foreign_names.hpp"
#include "compiler/types/table_type.hpp"

namespace raddle::check_detail {

void ExpressionChecker::annotation_values(const ast::Annotations& annotations) {
  for (const ast::Annotation& annotation : annotations) {
    if (annotation.value == nullptr) continue;
    const std::string& name = annotation.name.text;
    const TypeId type = annotation_value_type(name);
    if (type != TypeStore::error) {
      value_of_type(*annotation.value, type);
    } else if (name == "location" || name == "soft_location") {
      value_of_type(*annotation.value, context_.types.at("location").type);
    } else if (name == "ok") {
      value_of_type(*annotation.value, context_.store().array_of(TypeStore::int_, TypeStore::int_));
    }
  }
}

/// Annotations that only calls of some functions can have.
void ExpressionChecker::check_callee(const ast::Call& call) {
  const ast::FunctionDefinition* definition = call.callee_kind == ast::CalleeKind::function
                                                  ? context_.program.functions[call.callee_index].definition
                                                  : nullptr;
  for (const ast::Annotation& annotation : call.annotations) {
    const std::string& name = annotation.name.text;
    if (is_for_apps(name) && (definition == nullptr || definition->body_kind != ast::BodyKind::command))
      context_.diagnostics.report(DiagnosticKind::not_an_app, mark_of(annotation), name, call.callee.text);
    const bool is_parallel = definition != nullptr ? find_annotation(definition->annotations, "par") != nullptr
                                                   : call.callee_kind == ast::CalleeKind::builtin &&
                                                         stdlib::signature_of(call.callee_index).has_process_count;
    if (name == "par" && !is_parallel)
      context_.diagnostics.report(DiagnosticKind::not_parallel, mark_of(annotation), call.callee.text);
  }
  const bool uses_rank = definition == nullptr ? call.callee_kind == ast::CalleeKind::builtin &&
                                                     stdlib::uses_rank(stdlib::builtins()[call.callee_index])
                                               : definition->body_kind == ast::BodyKind::tcl;
  if (definition != nullptr || uses_rank)
    context_.calls.push_back({.caller = context_.function, .callee = definition, .uses_rank = uses_rank});
}

namespace {

bool prints(const ast::Call& call) {
  return call.callee_kind == ast::CalleeKind::builtin &&
         stdlib::builtins()[call.callee_index].effect == stdlib::BuiltinEffect::prints;
}

bool is_builtin(const ast::Call& call, std::string_view name) {
  return call.callee_kind == ast::CalleeKind::builtin && stdlib::builtins()[call.callee_index].name == name;
}

/// `write_csv` and `write_npz`: the type of the input, which is any that can stand in lines, or a structure of arrays.
void check_written(Context& context, const ast::Call& call) {
  const bool is_table = is_builtin(call, "write_csv"), is_archive = is_builtin(call, "write_npz");
  if (!is_table && !is_archive) return;
  const ast::Expr& table = *call.resolved_arguments.front();
  if (table.type == TypeStore::error) return;
  if (is_archive && numpy_types(context.store(), table.type).empty())
    context.diagnostics
        .report(DiagnosticKind::wrong_argument_type, table.span, 1, call.callee.text, "structure of dense arrays",
                context.name(table.type))
        .note("as in `type data { float x[:]; int labels[:]; } file f<\"a.npz\"> = write_npz(data(x, labels));`");
  if (is_archive || is_written_as_table(context.store(), table.type)) return;
  context.diagnostics
      .report(DiagnosticKind::wrong_argument_type, table.span, 1, call.callee.text, "table", context.name(table.type))
      .note(
          "a table is a dense array of one or two dimensions, an array of structures, a structure of arrays, or an "
          "array of numbers and texts");
}

bool is_made_by_lowering(const ast::Call& call) {
  return call.callee_kind == ast::CalleeKind::builtin &&
         stdlib::is_made_by_lowering(stdlib::builtins()[call.callee_index]);
}

}  // namespace

namespace {

/// Int literals are floats where only then the result is what is wanted of it: of `(T o[]) f(T i)` with `float x[] =
/// f(0)`.
/// @param match  of the call as it stands
void take_literals_as_floats(Context& context, ast::Call& call, TypeId wanted, std::optional<Match>& match) {
  const auto fits = [&](const Match& found) {
    return found.outputs.size() == 1 && fit_type(context.store(), found.outputs[0], wanted) != Fit::none;
  };
  if (!match || wanted == TypeStore::error || match->outputs.size() != 1 || fits(*match)) return;
  std::vector<ast::Expr*> literals;
  for (ast::Call::Argument& argument : call.arguments)
    if (argument.value->kind == ast::ExprKind::IntLiteral) literals.push_back(argument.value.get());
  for (ast::Expr* const literal : literals) convert(context, *literal, TypeStore::float_);
  auto as_floats = check_detail::match(context, *match->signature, call);
  if (Match* const found = std::get_if<Match>(&as_floats); found != nullptr && !literals.empty() && fits(*found))
    match = std::move(*found);
  else
    for (ast::Expr* const literal : literals) literal->type = TypeStore::int_;
}

}  // namespace

/// `@default=VALUE`: takes the place of the output.
void ExpressionChecker::check_default(ast::Call& call) {
  for (ast::Annotation& annotation : call.annotations) {
    if (annotation.name.text != "default" || annotation.value == nullptr) continue;
    const bool is_known = call.callee_kind != ast::CalleeKind::unresolved;
    const bool has_one = call.output_types.size() == 1 && call.type != TypeStore::void_;
    if (has_one) {
      value_of_type(*annotation.value, call.is_lifted ? context_.store().dense_element(call.type) : call.type);
    } else {
      value(*annotation.value);
      if (is_known)
        context_.diagnostics
            .report(DiagnosticKind::annotation_value, mark_of(annotation), "default",
                    "takes the place of one value, and `" + call.callee.text + "` has " +
                        (call.output_types.size() > 1 ? std::to_string(call.output_types.size()) + " outputs" : "none"))
            .note("`try { ... } else { ... }` does something else where a block fails");
    }
  }
}

void ExpressionChecker::call(ast::Call& call) {
  resolve_call(call);
  check_default(call);
  keep_narrow(call);
}

void ExpressionChecker::resolve_call(ast::Call& call) {
  check_annotations(context_, call.annotations, AnnotationPlace::call, call.span);
  annotation_values(call.annotations);
  const TypeId wanted = std::exchange(wanted_, TypeStore::error);
  for (ast::Call::Argument& argument : call.arguments)
    if (argument.value->kind != ast::ExprKind::Tuple) value(*argument.value);
  call.type = TypeStore::error;
  const auto type = context_.types.find(call.callee.text);
  const bool names_own_type = type != context_.types.end() && !type->second.is_alias && type->second.span.end != 0 &&
                              !context_.is_of_library(type->second.span) && !context_.is_of_library(call.callee.span);
  const auto candidates = names_own_type ? context_.callables.end() : context_.callables.find(call.callee.text);
  for (ast::Call::Argument& argument : call.arguments) {
    if (argument.value->kind != ast::ExprKind::Tuple) continue;
    value(*argument.value);
    if (candidates == context_.callables.end()) continue;
    if (const std::string spread = spread_call(context_, candidates->second, call); !spread.empty())
      context_.diagnostics.latest().note("write `" + spread + "`");
  }
  if (candidates == context_.callables.end()) {
    if (type == context_.types.end()) return unknown_function(call);
    return construct(call, type->second.type);
  }
  std::optional<Match> match = resolve_overload(context_, candidates->second, call);
  take_literals_as_floats(context_, call, wanted, match);
  if (!match) return;
  if (match->signature->deprecated)
    context_.diagnostics.report(DiagnosticKind::deprecated_call, call.callee.span, call.callee.text)
        .label(match->signature->span, "defined here");
  for (const MatchedArgument& matched : match->arguments) {
    if (matched.argument != nullptr) {
      // an empty literal that nothing gives a type to: any will do
      const bool is_lifted = match->rank != 0 && context_.store().is_dense(matched.argument->type) &&
                             context_.store().is_scalar(matched.type) && matched.type != TypeStore::string;
      if (is_lifted) {
        const TypeId element = context_.store().dense_element(matched.argument->type);
        if (TypeStore::widens(element, matched.type))
          matched.argument->conversion =
              matched.type == TypeStore::int_ ? ast::Conversion::to_int : ast::Conversion::to_float;
        call.resolved_arguments.push_back(matched.argument);
        continue;
      }
      const bool untyped = is_incomplete(context_.store(), matched.type) && matched.argument->type != TypeStore::error;
      const TypeId empty = context_.store().array_of(TypeStore::int_, TypeStore::int_);
      convert(context_, *matched.argument, untyped ? empty : matched.type);
    }
    call.resolved_arguments.push_back(matched.argument != nullptr ? matched.argument : matched.default_value);
  }
  call.is_lifted = match->rank != 0;
  const auto refused = std::ranges::find_if(
      call.annotations, [](const ast::Annotation& annotation) { return annotation.name.text != "default"; });
  if (call.is_lifted && refused != call.annotations.end())
    context_.diagnostics.report(DiagnosticKind::not_supported, refused->span,
                                "`@" + refused->name.text + "` before a call that is done for each element");
  call.callee_kind = match->signature->kind;
  call.callee_index = match->signature->index;
  check_callee(call);
  if (prints(call))
    for (const ast::Call::Argument& argument : call.arguments)
      if (argument.value->conversion == ast::Conversion::to_string)
        argument.value->conversion = ast::Conversion::to_shown;
  call.output_types = std::move(match->outputs);
  call.type = call.output_types.empty() ? TypeStore::void_ : call.output_types.front();
  if (is_made_by_lowering(call)) return array_result(call, wanted);
  check_written(context_, call);
  check_outputs_are_known(call, *match->signature);
  report_look_alike(context_, call);
  if (call.callee_kind == ast::CalleeKind::builtin) known_arguments(call);
}

/// Type variables get their meaning from arguments only.
void ExpressionChecker::check_outputs_are_known(const ast::Call& call, const Signature& signature) {
  const auto is_wrong = [](const ast::Expr* argument) {
    return argument != nullptr && argument->type == TypeStore::error;
  };
  const bool is_known = std::ranges::none_of(call.output_types, [](TypeId type) { return type == TypeStore::error; });
  if (is_known || std::ranges::any_of(call.resolved_arguments, is_wrong)) return;
  for (const TypePattern& output : signature.outputs)
    if (output.kind == TypePattern::Kind::concrete && output.type == TypeStore::error) return;  // reported there
  context_.diagnostics.report(DiagnosticKind::not_supported, call.span, "a type variable that no argument tells of");
}

/// What can be told from the arguments of library functions before the script runs.
void ExpressionChecker::known_arguments(const ast::Call& call) {
  const std::string& name = call.callee.text;
  if (name == "printf" || name == "sprintf") {
    std::vector<ast::Expr*> values;
    for (std::size_t i = 1; i < call.arguments.size(); ++i) values.push_back(call.arguments[i].value.get());
    check_format(context_, *call.arguments.front().value, values);
  } else if (name == "assert") {
    const auto holds = constant_value(context_, *call.arguments.front().value);
    if (holds && !std::get<bool>(*holds))
      context_.diagnostics.report(DiagnosticKind::assertion_false, call.arguments.front().value->span);
  } else if (name == "argv") {
    const ast::Expr& name_read = *call.arguments.front().value;
    const auto read = constant_value(context_, name_read);
    if (read && std::holds_alternative<std::string>(*read))
      context_.arguments_read.emplace_back(std::get<std::string>(*read), name_read.span);
  } else if (name == "input" || name == "glob" || name == "file_exists") {
    context_.paths_looked_at.push_back({.path = call.resolved_arguments.front(),
                                        .call = name,
                                        .span = call.span,
                                        .is_in_wait = context_.waits != 0,
                                        .function = context_.function});
  } else if (name == "assertEqual" || name == "assertLT" || name == "assertLTE") {
    known_comparison(call);
  }
}

void check_arguments_read(Context& context) {
  for (const auto& [name, span] : context.arguments_read) {
    context.program.arguments_read.push_back(name);
    for (const ScriptParameter& parameter : context.program.parameters) {
      const Variable& variable = context.variable(parameter.variable);
      if (variable.name == name)
        context.diagnostics.report(DiagnosticKind::argument_is_parameter, span, name)
            .label(variable.span, "read this variable");
    }
  }
}

namespace {

/// Strings that look like numbers are compared as numbers.
std::optional<ConstantValue> as_compared(std::optional<ConstantValue> value) {
  if (!value || !std::holds_alternative<std::string>(*value)) return value;
  const std::optional<double> number = stdlib::native::read_float(std::get<std::string>(*value));
  return number ? ConstantValue(*number) : value;
}

}  // namespace

/// `assertEqual(1, 2, "..")` and the like.
void ExpressionChecker::known_comparison(const ast::Call& call) {
  const ast::Expr& left = *call.resolved_arguments[0];
  const ast::Expr& right = *call.resolved_arguments[1];
  const auto a = as_compared(constant_value(context_, left));
  const auto b = as_compared(constant_value(context_, right));
  if (!a || !b || a->index() != b->index()) return;
  const std::string& name = call.callee.text;
  const bool fails = name == "assertLT" ? !(*a < *b) : name == "assertLTE" ? !(*a <= *b) : *a != *b;
  if (fails)
    context_.diagnostics.report(DiagnosticKind::assertion_false, {left.span.file, left.span.begin, right.span.end});
}

void ExpressionChecker::unknown_function(const ast::Call& call) {
  const std::string& name = call.callee.text;
  if (const VariableId variable = scopes_.find(name); variable != ast::no_variable) {
    const Variable& found = context_.variable(variable);
    context_.diagnostics.report(DiagnosticKind::not_a_function, call.callee.span, name, context_.name(found.type))
        .label(found.span, "declared here");
    return;
  }
  if (context_.options.is_module_missing || !scopes_.first_report(name + "()")) return;
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::unknown_function, call.callee.span, name);
  if (const auto hidden = context_.not_imported.find(name); hidden != context_.not_imported.end()) {
    diagnostic.note("add " + imports_text(hidden->second));
    return;
  }
  if (const std::string_view help = help_for_foreign_name(name, NameUse::function); !help.empty()) {
    diagnostic.note(std::string(help));
    return;
  }
  if (!context_.looks_for_near_names()) return;
  std::vector<std::string> candidates(context_.left_out.begin(), context_.left_out.end());
  for (const auto& [known, overloads] : context_.callables) candidates.push_back(known);
  for (const auto& [known, type] : context_.types)
    if (!type.is_alias) candidates.push_back(known);
  std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) {
    diagnostic.note("did you mean `" + nearest + "`?");
    return;
  }
  candidates.clear();
  for (const auto& [known, module] : context_.not_imported) candidates.push_back(known);
  nearest = nearest_name(name, candidates);
  if (!nearest.empty())
    diagnostic.note("did you mean `" + nearest + "` of " + imports_text(context_.not_imported.at(nearest)) + "?");
}

void ExpressionChecker::construct(ast::Call& call, TypeId type) {
  if (type == TypeStore::error) return;
  const Type made = context_.store().at(type);
  Signature constructor{.name = call.callee.text, .inputs = {}, .outputs = {}};
  constructor.span = context_.types.at(call.callee.text).span;
  if (made.kind == TypeKind::structure) {
    for (const StructType::Field& field : context_.store().structure(type).fields)
      constructor.inputs.push_back({.alternatives = {{.type = field.type}}, .name = field.name});
    call.callee_kind = ast::CalleeKind::structure;
  } else if (made.kind == TypeKind::named) {
    constructor.inputs.push_back({.alternatives = {{.type = context_.store().base(type)}}, .name = ""});
    call.callee_kind = ast::CalleeKind::conversion;
  } else {
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::type_as_function, call.callee.span, call.callee.text);
    if (type == TypeStore::float_)
      diagnostic.note("an `int` becomes a `float` by itself where one is needed; `string2float(...)` reads one");
    if (type == TypeStore::int_)
      diagnostic.note("`toInt(...)` makes an `int` of a `float`, `string2int(...)` of a `string`");
    if (type == TypeStore::string) diagnostic.note("`toString(...)` makes a string of a number or a boolean");
    return;
  }
  const std::optional<Match> match = resolve_overload(context_, {constructor}, call);
  if (match) {
    for (const MatchedArgument& matched : match->arguments) {
      convert(context_, *matched.argument, matched.type);
      call.resolved_arguments.push_back(matched.argument);
    }
  }
  // also after a wrong argument: what the call makes is known
  call.output_types = {type};
  call.type = type;
}

}  // namespace raddle::check_detail
