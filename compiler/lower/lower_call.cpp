#include "compiler/check/annotations.hpp"
#include "compiler/check/work_types.hpp"
#include "compiler/lower/lower_function.hpp"
#include "compiler/types/table_type.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

using ast::CalleeKind;
using ir::OpKind;

bool FunctionLowering::fills_files(const ast::Call& call) const {
  if (call.callee_kind == CalleeKind::builtin) return !stdlib::signature_of(call.callee_index).returns_existing_files();
  return call.callee_kind == CalleeKind::function;
}

FunctionLowering::Operands FunctionLowering::call(const ast::Call& call, std::vector<ir::VarId> targets) {
  targets.resize(call.output_types.size(), ir::none);
  if (call.is_lifted) return lifted_outputs(call, targets);
  const ast::Annotation* const otherwise = check_detail::find_annotation(call.annotations, "default");
  if (otherwise == nullptr) return call_at_place(call, std::move(targets));
  return {or_default(call.output_types[0], targets[0], *otherwise->value, call.span,
                     [&](ir::VarId made) { return call_at_place(call, {made})[0]; })};
}

FunctionLowering::Operands FunctionLowering::call_at_place(const ast::Call& call, std::vector<ir::VarId> targets) {
  if (const std::optional<ir::Operand> sum = small_sum(call, targets.empty() ? ir::none : targets[0])) return {*sum};
  const PlaceOfCall place = place_of(call);
  const Operands& checks = place.checks;
  if (checks.empty()) return call_callee(call, std::move(targets), {});
  // The call waits for what is checked first; its outputs belong to the region around it.
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const TypeId type = call.output_types[i];
    if (fills_files(call) && is_file(types(), type)) {
      targets[i] = file_for_output(targets[i], type, call.span);
      files_with_object_.insert(targets[i]);
    } else if (targets[i] == ir::none) {
      targets[i] = temporary(type, call.span);
    }
  }
  Operands outputs;
  const ir::RegionId region = in_region([&] { outputs = call_callee(call, targets, place.rank); });
  emit(OpKind::wait, checks, {}, call.span).regions = {region};
  return outputs;
}

FunctionLowering::Operands FunctionLowering::call_callee(const ast::Call& call, std::vector<ir::VarId> targets,
                                                         ir::Operand rank) {
  switch (call.callee_kind) {
    case CalleeKind::function: return call_script_function(call, std::move(targets), rank);
    case CalleeKind::builtin: return call_builtin(call, std::move(targets), rank);
    case CalleeKind::structure: return {construct(call, targets.empty() ? ir::none : targets[0])};
    case CalleeKind::conversion: {
      const ir::Operand operand = value(*call.resolved_arguments[0]);
      const ir::VarId target = targets.empty() ? ir::none : targets[0];
      return {emit_value(OpKind::copy, {operand}, call.type, call.span, target)};
    }
    case CalleeKind::unresolved: break;
  }
  return {};
}

// A file output of the callee is an object of the caller's: one that `target` holds already (mapped, or an output of
// this function), or a new unmapped one.
ir::VarId FunctionLowering::file_for_output(ir::VarId target, TypeId type, Span span) {
  if (target != ir::none && file_has_object(target)) return target;
  const ir::VarId file = target == ir::none ? temporary(type, span) : target;
  emit(OpKind::file_new, {}, {file}, span);
  return file;
}

bool FunctionLowering::file_has_object(ir::VarId variable) {
  for (std::uint32_t i = 0; i < function().file_output_count; ++i)
    if (function().parameters[i] == variable) return true;
  return files_with_object_.contains(variable);
}

FunctionLowering::Operands FunctionLowering::call_script_function(const ast::Call& call, std::vector<ir::VarId> targets,
                                                                  ir::Operand rank) {
  const ir::Operand priority = annotation_operand(call.annotations, "prio");
  if (is_where(call)) return {choice(call, targets[0])};
  if (const auto axis = axis_of_size(call)) return {size_of_dense(*call.resolved_arguments[0], *axis, targets[0])};
  const CheckedFunction& callee = context_.program.functions[call.callee_index];
  Operands operands, outputs;
  std::vector<ir::VarId> results;
  for (std::size_t i = 0; i < callee.outputs.size(); ++i) {
    const TypeId type = call.output_types[i];
    if (is_file(types(), type)) {
      targets[i] = file_for_output(targets[i], type, call.span);
      operands.push_back(ir::Operand::variable(targets[i]));
    } else {
      if (targets[i] == ir::none) targets[i] = temporary(type, call.span);
      results.push_back(targets[i]);
    }
    outputs.push_back(ir::Operand::variable(targets[i]));
  }
  const bool has_views = add_arguments(operands, call);
  for (const ir::Operand& operand : operands) refuse_update(operand, call.span);
  add_globals(operands, call.callee_index);
  const ir::FunctionId function = callee.is_app       ? limited_app(call, operands)
                                  : callee.is_generic ? instance(call, operands)
                                  : has_views         ? function_of_views(call.callee_index)
                                                      : function_of(context_, call.callee_index);
  const bool is_program = callee.is_app && !check_detail::is_memo(*callee.definition);
  const OpKind kind = is_program ? OpKind::call_app : OpKind::call;
  ir::Op& op = emit(kind, std::move(operands), std::move(results), call.span);
  op.callee = function;
  if (!callee.is_app) op.priority = priority;
  if (callee.uses_rank) op.rank = rank;
  if (!callee.is_app && !callee.is_generic) note_extents(call, outputs);
  return outputs;
}

/// On one machine a place matters for what uses a rank only, but a rank that does not exist is always an error.
FunctionLowering::PlaceOfCall FunctionLowering::place_of(const ast::Call& call) {
  PlaceOfCall place;
  if (call.callee_kind == CalleeKind::function) add_work_type(call, place);
  for (const ast::Annotation& annotation : call.annotations) {
    const std::string& name = annotation.name.text;
    const auto field = [&](ir::Operand location, std::int64_t number, TypeId type) {
      const ir::VarId result = temporary(type, annotation.span);
      emit(OpKind::struct_get, {location}, {result}, annotation.span).number = number;
      return ir::Operand::variable(result);
    };
    if (name == "location" || name == "soft_location") {
      const ir::Operand location = value(*annotation.value);
      const ir::Operand strictness = name == "location" ? field(location, 1, TypeStore::string) : text_constant("SOFT");
      const Operands parts = {field(location, 0, TypeStore::int_), strictness, field(location, 2, TypeStore::string)};
      place.rank = call_builtin_named("@location", parts, TypeStore::int_, annotation.span);
      place.checks.push_back(place.rank);
    } else if (name == "par" && annotation.value && call.callee_kind == CalleeKind::function &&
               !context_.program.functions[call.callee_index].is_app) {
      place.checks.push_back(call_builtin_named("@par", {value(*annotation.value)}, TypeStore::void_, annotation.span));
    }
  }
  return place;
}

void FunctionLowering::add_work_type(const ast::Call& call, PlaceOfCall& place) {
  for (const ast::Annotation& annotation : context_.program.functions[call.callee_index].definition->annotations) {
    if (annotation.name.text != "dispatch") continue;
    const std::string type = check_detail::work_type_named(ast::as<ast::Name>(*annotation.value).text);
    if (type == "WORKER" || type == "CONTROL") return;
    std::string types;
    for (const std::string& declared : check_detail::work_types(context_.program)) types += declared + " ";
    place.rank =
        call_builtin_named("@dispatch", {text_constant(type), text_constant(types)}, TypeStore::int_, call.span);
    place.checks.push_back(place.rank);
  }
}

/// Of `@ok=[0, 1]` the codes as a text.
ir::Operand FunctionLowering::limit_value(const ast::Annotation& annotation) {
  const ir::Operand given = value(*annotation.value);
  return annotation.name.text != "ok" ? given : call_builtin_named("@ok", {given}, TypeStore::string, annotation.span);
}

/// Of `@par=4` the words that start so many processes of a program.
ir::Operand FunctionLowering::launcher_words(const ast::Annotation& annotation) {
  const TypeId words = context_.program.types.array_of(TypeStore::int_, TypeStore::string);
  return call_builtin_named("@launcher", {value(*annotation.value)}, words, annotation.span);
}

ir::FunctionId FunctionLowering::limited_app(const ast::Call& call, Operands& operands) {
  LimitSet given = 0;
  for (unsigned limit = 0; limit < ir::app_limits.size(); ++limit) {
    for (const ast::Annotation& annotation : call.annotations) {
      if (annotation.name.text != ir::app_limits[limit].name) continue;
      given |= 1u << limit;
      operands.push_back(limit_value(annotation));
    }
  }
  for (const ast::Annotation& annotation : call.annotations) {
    if (annotation.name.text != "par" || !annotation.value) continue;
    given |= launcher_bit;
    operands.push_back(launcher_words(annotation));
  }
  if (given == 0) return function_of(context_, call.callee_index);
  const auto [known, fresh] = context_.limited_apps.try_emplace({call.callee_index, given}, ir::none);
  if (fresh) {
    const CheckedFunction& app = context_.program.functions[call.callee_index];
    known->second = add_function(context_, app.name, app.definition->name.span);
    lower_function(context_, call.callee_index, known->second, {.limits = given});
  }
  return known->second;
}

ir::FunctionId FunctionLowering::instance(const ast::Call& call, const Operands& operands) {
  const CheckedFunction& callee = context_.program.functions[call.callee_index];
  if (check_detail::is_memo(*callee.definition))
    not_supported(callee.definition->name.span, "`@memo` before a function that takes inputs of several types");
  std::vector<TypeId> inputs;
  for (std::size_t i = operands.size() - call.resolved_arguments.size(); i < operands.size(); ++i)
    inputs.push_back(type_of(operands[i]));
  const auto [known, fresh] = context_.instances.try_emplace({call.callee_index, inputs, call.output_types}, ir::none);
  if (!fresh) return known->second;
  known->second = add_function(context_, callee.name, callee.definition->name.span);
  FunctionLowering body(context_, known->second);
  body.add_instance_signature(*callee.definition, inputs, call.output_types);
  body.lower_foreign(*callee.definition);
  return known->second;
}

FunctionLowering::Operands FunctionLowering::call_builtin(const ast::Call& call, std::vector<ir::VarId> targets,
                                                          ir::Operand rank) {
  if (stdlib::is_made_by_lowering(stdlib::builtins()[call.callee_index])) return {array_function(call, targets[0])};
  if (is_size_of_dense(call)) return {size_of_dense(*call.resolved_arguments[0], 0, targets[0])};
  const bool fills = fills_files(call);
  Operands operands, outputs;
  std::vector<ir::VarId> results;
  for (std::size_t i = 0; i < call.output_types.size(); ++i) {
    const TypeId type = call.output_types[i];
    if (fills && is_file(types(), type)) {
      targets[i] = file_for_output(targets[i], type, call.span);
      operands.push_back(ir::Operand::variable(targets[i]));
    } else {
      if (targets[i] == ir::none) targets[i] = temporary(type, call.span);
      results.push_back(targets[i]);
    }
    outputs.push_back(ir::Operand::variable(targets[i]));
  }
  for (const ast::Expr* argument : call.resolved_arguments) operands.push_back(value(*argument));
  if (stdlib::signature_of(call.callee_index).has_process_count) {
    const ir::Operand count = annotation_operand(call.annotations, "par");
    if (count.index != ir::none) operands.back() = count;
  }
  const ir::Operand priority = annotation_operand(call.annotations, "prio");
  std::uint32_t callee = call.callee_index;
  if (stdlib::builtins()[callee].name == "write_npz") {  // elements that are not there do not tell their type
    operands.push_back(text_constant(numpy_types(types(), call.resolved_arguments[0]->type)));
    callee = builtin_named("@write_npz");
  }
  std::vector<TypeId> operand_types;
  for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
  ir::Op& op = emit(OpKind::call_builtin, std::move(operands), std::move(results), call.span);
  op.callee = callee;
  op.operand_types = std::move(operand_types);
  op.priority = priority;
  if (stdlib::uses_rank(stdlib::builtins()[call.callee_index])) op.rank = rank;
  return outputs;
}

/// `size(a)`, of one dimension: an extent, which is there before the elements are.
bool FunctionLowering::is_size_of_dense(const ast::Call& call) const {
  return stdlib::builtins()[call.callee_index].name == "size" && types().is_dense(call.resolved_arguments[0]->type);
}

/// `size(a, 1)`, where the axis is written as a number: an extent, too.
std::optional<std::size_t> FunctionLowering::axis_of_size(const ast::Call& call) const {
  if (!is_of_arrays(call) || context_.program.functions[call.callee_index].name != "size" ||
      call.resolved_arguments.size() != 2)
    return {};
  const ast::Expr* axis = call.resolved_arguments[1];
  const bool is_negative =
      axis->kind == ExprKind::Unary && as<ast::Unary>(*axis).op == ast::UnaryOp::negate;  // -1 is the last one
  if (is_negative) axis = as<ast::Unary>(*axis).operand.get();
  if (axis->kind != ExprKind::IntLiteral) return {};
  const std::int64_t rank = types().rank(types().base(call.resolved_arguments[0]->type)),
                     number = as<ast::IntLiteral>(*axis).value;
  if (number < (is_negative ? 1 : 0) || number > (is_negative ? rank : rank - 1)) return {};
  return static_cast<std::size_t>(is_negative ? rank - number : number);
}

ir::Operand FunctionLowering::size_of_dense(const ast::Expr& array, std::size_t axis, ir::VarId target) {
  const ir::Operand extent = unwidened_view(array).extents[axis];
  return target == ir::none ? extent : emit_value(OpKind::copy, {extent}, TypeStore::int_, array.span, target);
}

ir::Operand FunctionLowering::construct(const ast::Call& call, ir::VarId target) {
  Operands fields;
  for (const ast::Expr* argument : call.resolved_arguments) {
    const StructType::Field& field = types().structure(types().base(call.type)).fields[fields.size()];
    const Operands wanted = fixed_extents(field.extents);
    fields.push_back(fitted(value(*argument), wanted, "`" + field.name + "`", argument->span));
  }
  return emit_value(OpKind::struct_make, std::move(fields), call.type, call.span, target);
}

/// The value of a call's annotation; else of the statement's that is the call.
ir::Operand FunctionLowering::annotation_operand(const ast::Annotations& annotations, std::string_view name) {
  for (const ast::Annotation& annotation : annotations)
    if (annotation.name.text == name && annotation.value) return value(*annotation.value);
  return {};
}

void FunctionLowering::call_function(std::uint32_t function_index, Span span) {
  Operands operands;
  add_globals(operands, function_index);
  emit(OpKind::call, std::move(operands), {}, span).callee = function_of(context_, function_index);
}

void FunctionLowering::lower_command(const ast::FunctionDefinition& definition, LimitSet from_caller) {
  const ast::CommandLine& command = definition.command;
  ir::Command lowered;
  for (const ast::ExprPtr& word : command.words) lowered.words.push_back(value(*word));
  for (const ast::CommandLine::Redirection& redirection : command.redirections) {
    const ir::Operand file = value(*redirection.file);
    switch (redirection.stream) {
      case ast::Redirect::stdin_: lowered.stdin_file = file; break;
      case ast::Redirect::stdout_: lowered.stdout_file = file; break;
      case ast::Redirect::stderr_: lowered.stderr_file = file; break;
    }
  }
  for (unsigned limit = 0; limit < ir::app_limits.size(); ++limit) {
    if ((from_caller & 1u << limit) != 0) {
      lowered.limits[limit] = ir::Operand::variable(add_limit_parameter(ir::app_limits[limit].type));
      continue;
    }
    for (const ast::Annotation& annotation : definition.annotations)
      if (annotation.name.text == ir::app_limits[limit].name) lowered.limits[limit] = limit_value(annotation);
  }
  if ((from_caller & launcher_bit) != 0) {
    const TypeId words = context_.program.types.array_of(TypeStore::int_, TypeStore::string);
    lowered.words.insert(lowered.words.begin(), ir::Operand::variable(add_limit_parameter(words)));
  }
  function().command = std::move(lowered);
}

}  // namespace raddle::lowering
