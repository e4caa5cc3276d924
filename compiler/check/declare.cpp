#include "compiler/check/declare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/annotations.hpp"
#include "compiler/check/check_foreign.hpp"
#include "compiler/check/convert.hpp"
#include "compiler/check/resolve_types.hpp"
#include "compiler/check/work_types.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;

/// Gives a literal (or a negated one) its type. @return false if it is none
bool type_literal(ast::Expr& expr) {
  switch (expr.kind) {
    case ast::ExprKind::IntLiteral: expr.type = TypeStore::int_; return true;
    case ast::ExprKind::FloatLiteral: expr.type = TypeStore::float_; return true;
    case ast::ExprKind::StringLiteral: expr.type = TypeStore::string; return true;
    case ast::ExprKind::BoolLiteral: expr.type = TypeStore::boolean; return true;
    case ast::ExprKind::Unary: {
      auto& unary = as<ast::Unary>(expr);
      const ast::ExprKind operand = unary.operand->kind;
      const bool number = operand == ast::ExprKind::IntLiteral || operand == ast::ExprKind::FloatLiteral;
      if (unary.op != ast::UnaryOp::negate || !number || !type_literal(*unary.operand)) return false;
      expr.type = unary.operand->type;
      return true;
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

/// A constant: a literal; as a default value also a `global const` by its name (its literal then stands for it).
/// A literal of its base type stands for a value of a named type: there is no literal of the named one.
void check_constant(Context& context, ast::Expr& value, const std::string& name, TypeId type, bool is_default) {
  if (is_default && value.kind == ast::ExprKind::Name) {
    auto& written = as<ast::Name>(value);
    const auto found = context.globals.find(written.text);
    if (found != context.globals.end() && context.variable(found->second).role == VariableRole::constant) {
      written.variable = found->second;
      value.type = context.variable(found->second).type;
    }
  }
  if (value.type == TypeStore::error && !type_literal(value)) {
    context.diagnostics.report(DiagnosticKind::not_constant, value.span,
                               is_default ? "a default value must be a literal or a `global const`"
                                          : "the value of a `global const` must be a literal");
    return;
  }
  const bool is_literal = value.kind != ast::ExprKind::Name;
  const TypeId wanted = is_literal && type != TypeStore::error ? context.store().base(type) : type;
  if (fit(context, value, wanted) == Fit::none) {
    Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::cannot_assign, value.span,
                                                        context.name(value.type), name, context.name(type));
    // not a conversion, which would be a call
    if (context.store().is_scalar(type) && !suggest_literal(context, diagnostic, value, type))
      diagnostic.note(fmt::format("{} is a literal of its type, as in `{} {} = {}`",
                                  is_default ? "a default value" : "a constant", context.name(type), name,
                                  example_of(context.store().base(type))));
    return;
  }
  convert(context, value, wanted);
}

bool is_polymorphic(const std::vector<TypePattern>& alternatives) {
  return alternatives.size() != 1 || alternatives.front().kind != TypePattern::Kind::concrete;
}

/// Gives each formal its type and variable. @return  what each accepts
std::vector<FormalPattern> declare_formals(Context& context, const ast::FunctionDefinition& function,
                                           std::vector<ast::Formal>& formals, VariableRole role,
                                           std::vector<VariableId>& variables) {
  std::vector<FormalPattern> patterns;
  for (ast::Formal& formal : formals) {
    std::vector<TypePattern> alternatives = resolve_formal(context, function.type_parameters, formal);
    if (role == VariableRole::output && alternatives.size() > 1)
      context.diagnostics.report(DiagnosticKind::misplaced_union, formal.type.span);
    if (role == VariableRole::output && formal.varargs)
      context.diagnostics.report(DiagnosticKind::varargs_output, formal.span, formal.name.text);
    // the error type of a polymorphic formal keeps its body, where it has one, silent
    const bool is_open = formal.varargs || is_polymorphic(alternatives);
    formal.resolved_type = is_open ? TypeStore::error : alternatives.front().type;
    if (role == VariableRole::output && formal.resolved_type == TypeStore::updateable) {
      context.diagnostics.report(DiagnosticKind::misplaced_updateable, formal.span, "an output");
      formal.resolved_type = TypeStore::error;
    }
    formal.variable = context.add_variable(formal.name, formal.resolved_type, role);
    context.variable(formal.variable).fixed_extents = fixed_extents(context, formal.type, formal.resolved_type);
    variables.push_back(formal.variable);
    patterns.push_back({std::move(alternatives), formal.name.text, formal.default_value.get()});
  }
  return patterns;
}

/// Where a body is not Tcl, types must be known; and varargs come last.
void check_polymorphism(Context& context, const ast::FunctionDefinition& function) {
  const char* what = nullptr;
  const char* help = "write one function for each type, all of one name";
  Span at = function.name.span;
  for (const ast::Formal& input : function.inputs) {
    if (input.varargs && &input != &function.inputs.back() && function.body_kind == ast::BodyKind::tcl)
      context.diagnostics.report(DiagnosticKind::varargs_not_last, input.name.span, input.name.text);
    if (!input.varargs && input.type.alternatives.empty()) continue;
    what = input.varargs ? "a variable number of inputs" : "inputs of several types";
    if (input.varargs) help = "take an array: it has any number of elements";
    at = input.span;
  }
  if (!function.type_parameters.empty()) {
    what = "type variables";
    at = function.type_parameters.front().span;
  }
  if (what == nullptr || function.body_kind == ast::BodyKind::tcl) return;
  context.diagnostics.report(DiagnosticKind::polymorphic_body, at, function.name.text, what).note(help);
}

void check_defaults(Context& context, ast::FunctionDefinition& function) {
  const ast::Formal* optional = nullptr;
  for (ast::Formal& formal : function.inputs) {
    if (formal.default_value != nullptr) {
      optional = &formal;
      check_constant(context, *formal.default_value, formal.name.text, formal.resolved_type, true);
    } else if (optional != nullptr) {
      context.diagnostics.report(DiagnosticKind::required_after_optional, formal.name.span, formal.name.text)
          .label(optional->span, "has a default value");
    }
  }
  for (const ast::Formal& output : function.outputs)
    if (output.default_value != nullptr)
      context.diagnostics.report(DiagnosticKind::output_default, output.default_value->span);
}

Signature signature_of(const ast::FunctionDefinition& function, std::uint32_t index) {
  Signature signature{.name = function.name.text, .index = index, .inputs = {}, .outputs = {}};
  signature.span = function.name.span;
  signature.deprecated = find_annotation(function.annotations, "deprecated") != nullptr;
  signature.varargs = !function.inputs.empty() && function.inputs.back().varargs;
  return signature;
}

bool has_defaults(const Signature& signature) {
  return std::ranges::any_of(signature.inputs, [](const FormalPattern& f) { return f.default_value != nullptr; });
}

bool has_unions_or_variables(const Signature& signature) {
  return std::ranges::any_of(signature.inputs, [](const FormalPattern& f) { return is_polymorphic(f.alternatives); });
}

bool same_inputs(const Signature& a, const Signature& b) {
  return std::ranges::equal(a.inputs, b.inputs, [](const FormalPattern& x, const FormalPattern& y) {
    return x.alternatives == y.alternatives;
  });
}

/// Overloads must differ in their inputs and agree in the number of outputs; none has optional or polymorphic inputs.
void check_overload(Context& context, const Signature& added) {
  for (const Signature& other : context.callables[added.name]) {
    if (context.is_of_library(added.span) != context.is_of_library(other.span)) continue;
    const char* why = nullptr;
    if (same_inputs(added, other)) {
      context.diagnostics.report(DiagnosticKind::redefined, added.span, added.name)
          .label(other.span, "first defined here");
      return;
    }
    if (added.outputs.size() != other.outputs.size()) why = "have the same number of outputs";
    if (has_defaults(added) || has_defaults(other)) why = "not have optional inputs";
    if (has_unions_or_variables(added) || has_unions_or_variables(other))
      why = "not have type variables or inputs of several types";
    if (why == nullptr) continue;
    context.diagnostics.report(DiagnosticKind::bad_overload, added.span, added.name, why)
        .label(other.span, "other overload");
    return;
  }
}

void check_main(Context& context, const ast::FunctionDefinition& function, std::uint32_t index) {
  if (!function.inputs.empty() || !function.outputs.empty())
    context.diagnostics.report(DiagnosticKind::main_with_formals, function.name.span);
  if (context.program.main_function) {
    const CheckedFunction& first = context.program.functions[*context.program.main_function];
    context.diagnostics.report(DiagnosticKind::redefined, function.name.span, "main")
        .label(first.definition->name.span, "first defined here");
    return;
  }
  context.program.main_function = index;
}

void check_dispatch(Context& context, const ast::FunctionDefinition& function) {
  const ast::Annotation* dispatch = find_annotation(function.annotations, "dispatch");
  if (dispatch == nullptr || dispatch->value == nullptr) return;
  if (dispatch->value->kind != ast::ExprKind::Name) {
    context.diagnostics.report(DiagnosticKind::annotation_value, dispatch->value->span, "dispatch", "takes a name");
    return;
  }
  const std::string& name = as<ast::Name>(*dispatch->value).text;
  const std::string type = work_type_named(name);
  const std::vector<std::string> declared = work_types(context.program);
  if (type == "WORKER" || type == "CONTROL" || std::ranges::find(declared, type) != declared.end()) return;
  if (type == "COASTER") {
    context.diagnostics.report(DiagnosticKind::not_supported, dispatch->value->span, "the app executor `COASTER`");
    return;
  }
  if (context.options.is_module_missing) return;
  context.diagnostics.report(DiagnosticKind::unknown_work_type, dispatch->value->span, name)
      .note("it is `WORKER`, `CONTROL`, or declared with `pragma worktypedef " + name + ";`");
}

void refuse_app_annotations(Context& context, const ast::FunctionDefinition& function) {
  for (const ast::Annotation& annotation : function.annotations)
    if (is_for_apps(annotation.name.text) || annotation.name.text == "prio")
      context.diagnostics.report(DiagnosticKind::not_an_app, mark_of(annotation), annotation.name.text,
                                 function.name.text);
}

bool is_generic(const ast::FunctionDefinition& function) {
  return !function.type_parameters.empty() || std::ranges::any_of(function.inputs, [](const ast::Formal& input) {
    return input.varargs || !input.type.alternatives.empty();
  });
}

/// An AppKernel has no body in the script, either.
void refuse_gpu(Context& context, const ast::FunctionDefinition& function) {
  const ast::Annotation* gpu = find_annotation(function.annotations, "gpu");
  const bool is_kernel = find_annotation(function.annotations, "kernel") != nullptr;
  if (gpu == nullptr || function.body_kind == ast::BodyKind::block || is_kernel) return;
  const char* const what = function.body_kind == ast::BodyKind::command                 ? "an app"
                           : function.body_kind == ast::BodyKind::tcl                   ? "a function in Tcl"
                           : find_annotation(function.annotations, "python") != nullptr ? "a function in Python"
                           : find_annotation(function.annotations, "r") != nullptr      ? "a function in R"
                                                                                   : "a function of a shared library";
  context.diagnostics.report(DiagnosticKind::misplaced_annotation, mark_of(*gpu), "gpu",
                             std::string(what) + ", which runs on the CPU");
}

bool is_type_of_library(const Context& context, const TypeEntry& type) {
  return type.span.end == 0 || context.is_of_library(type.span);
}

void declare_function(Context& context, ast::FunctionDefinition& function) {
  check_annotations(context, function.annotations, AnnotationPlace::definition, function.span);
  const auto index = static_cast<std::uint32_t>(context.program.functions.size());
  CheckedFunction& checked = context.program.functions.emplace_back();
  checked.definition = &function;
  checked.name = function.name.text;
  checked.is_app = function.body_kind == ast::BodyKind::command;
  checked.is_generic = function.body_kind == ast::BodyKind::tcl && is_generic(function);
  if (!checked.is_app) refuse_app_annotations(context, function);
  check_polymorphism(context, function);
  Signature signature = signature_of(function, index);
  for (FormalPattern& output :
       declare_formals(context, function, function.outputs, VariableRole::output, checked.outputs))
    signature.outputs.push_back(std::move(output.alternatives.front()));
  signature.inputs = declare_formals(context, function, function.inputs, VariableRole::input, checked.inputs);
  check_foreign(context, function);
  refuse_gpu(context, function);
  check_dispatch(context, function);
  if (function.is_main) check_main(context, function, index);
  const auto type = context.types.find(function.name.text);
  const bool is_type = type != context.types.end() && !type->second.is_alias;
  if (is_type && context.is_of_library(function.name.span) == is_type_of_library(context, type->second))
    context.diagnostics.report(DiagnosticKind::redefined, function.name.span, function.name.text)
        .label(type->second.span, "a type of this name is defined here");
  if (!function.is_main) check_overload(context, signature);
  context.callables[function.name.text].push_back(std::move(signature));
}

}  // namespace

void declare_functions(Context& context) {
  for (const auto& module : context.program.modules)
    for (const auto& function : module->functions) declare_function(context, *function);
}

void declare_constants(Context& context) {
  for (const auto& module : context.program.modules) {
    for (const auto& constant : module->constants) {
      TypeId type = resolve_type(context, constant->type, {});
      if (type == TypeStore::updateable) {
        context.diagnostics.report(DiagnosticKind::misplaced_updateable, constant->type.span, "a constant");
        type = TypeStore::error;
      }
      check_constant(context, *constant->value, constant->name.text, type, false);
      const auto other = context.globals.find(constant->name.text);
      const bool is_of_library = context.is_of_library(constant->name.span);
      if (other != context.globals.end() &&
          context.is_of_library(context.variable(other->second).span) != is_of_library)
        context.globals_of_library.emplace(constant->name.text, other->second);
      else if (other != context.globals.end())
        context.diagnostics.report(DiagnosticKind::redeclared, constant->name.span, constant->name.text)
            .label(context.variable(other->second).span, "first declared here");
      const auto callable = context.callables.find(constant->name.text);
      if (callable != context.callables.end() && std::ranges::any_of(callable->second, [&](const Signature& each) {
            return each.kind == ast::CalleeKind::function && context.is_of_library(each.span) == is_of_library;
          }))
        context.diagnostics.report(DiagnosticKind::name_is_function, constant->name.span, constant->name.text);
      constant->variable = context.add_variable(constant->name, type, VariableRole::constant);
      context.variable(constant->variable).constant = constant->value.get();
      context.globals[constant->name.text] = constant->variable;
    }
  }
}

void check_default_values(Context& context) {
  for (const auto& module : context.program.modules)
    for (const auto& function : module->functions) check_defaults(context, *function);
}

void check_pragmas(Context& context) {
  const std::vector<std::string> known = {"worktypedef", "appexecdef"};
  for (const auto& module : context.program.modules) {
    for (const ast::Pragma& pragma : module->pragmas) {
      const bool has_name = pragma.arguments.size() == 1 && pragma.arguments[0]->kind == ast::ExprKind::Name;
      if (pragma.name.text == "appexecdef") {
        context.diagnostics.report(DiagnosticKind::not_supported, pragma.span, "app executors of the script's own");
      } else if (pragma.name.text == "worktypedef") {
        if (!has_name)
          context.diagnostics.report(DiagnosticKind::bad_pragma, pragma.span, "worktypedef", "takes one name");
      } else {
        suggest(context.diagnostics.report(DiagnosticKind::unknown_pragma, pragma.name.span, pragma.name.text),
                pragma.name.text, known);
      }
    }
  }
}

}  // namespace raddle::check_detail
