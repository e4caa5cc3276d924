#include <algorithm>

#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

void FunctionLowering::assign(const ast::Assign& assign) {
  outputs_.clear();
  if (assign.values.size() == 1 && assign.targets.size() > 1) {
    assign_outputs(assign, as<ast::Call>(*assign.values[0]));
    return;
  }
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const bool declares = i < assign.declares.size() && assign.declares[i];
    assign_one(*assign.targets[i], *assign.values[i], declares);
  }
}

// `a, b[0] = f(x)`: plain variables of the right type take the outputs themselves.
void FunctionLowering::assign_outputs(const ast::Assign& assign, const ast::Call& call_expr) {
  std::vector<ir::VarId> targets;
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const ast::Expr& target = *assign.targets[i];
    if (i < assign.declares.size() && assign.declares[i]) declare_auto(target);
    ir::VarId variable = ir::none;
    if (target.kind == ExprKind::Name) {
      variable = variable_of(as<ast::Name>(target).variable);
      const bool widens =
          TypeStore::widens(types().base(call_expr.output_types[i]), types().base(function().variables[variable].type));
      const bool copies_file = is_file(types(), call_expr.output_types[i]) && !fills_files(call_expr);
      if (widens || copies_file || has_declared_extents(variable)) variable = ir::none;
    }
    targets.push_back(variable);
  }
  const Operands outputs = call(call_expr, targets);
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const ast::Expr& target = *assign.targets[i];
    if (is_slice(target))
      store_slice(as<ast::Index>(target), [&] { return read_whole(parts_of(outputs[i].index), target.span); });
    else if (targets[i] == ir::none)
      store(target, outputs[i]);
    outputs_.push_back(targets[i] == ir::none ? outputs[i] : ir::Operand::variable(targets[i]));
  }
}

void FunctionLowering::assign_one(const ast::Expr& target, const ast::Expr& value_expr, bool declares) {
  if (declares) declare_auto(target);
  if (target.kind == ExprKind::Name) {
    const ir::VarId variable = variable_of(as<ast::Name>(target).variable);
    initialise(variable, value_expr);
    outputs_.push_back(ir::Operand::variable(variable));
    return;
  }
  if (is_slice(target)) return store_slice(as<ast::Index>(target), [&] { return lifted(value_expr); });
  const ir::Operand result = value(value_expr);
  store(target, result);
  outputs_.push_back(result);
}

void FunctionLowering::initialise(ir::VarId variable, const ast::Expr& expr) {
  if (has_declared_extents(variable)) {
    initialise_declared(variable, expr);
    return;
  }
  const TypeId type = function().variables[variable].type;
  const bool fills = expr.kind == ExprKind::Call && fills_files(as<ast::Call>(expr));
  if (!is_file(types(), type) || fills) {
    value(expr, variable);
    return;
  }
  // a file that is there already: a copy to a mapped one or an output, another name of the same file otherwise
  const ir::Operand source = value(expr);
  store_whole(variable, source, expr.span);
}

void FunctionLowering::store(const ast::Expr& target, ir::Operand source) {
  if (target.kind == ExprKind::Name) {
    store_whole(variable_of(as<ast::Name>(target).variable), source, target.span);
  } else if (target.kind == ExprKind::Index) {
    const auto& index = as<ast::Index>(target);
    if (types().is_dense(index.base->type)) return store_dense(index, source);
    const ir::Operand into = container(*index.base);
    const ir::Operand at = key(index);
    const ir::Operand element = converted(source, types().at(type_of(into)).element, target.span);
    emit(OpKind::array_insert, {into, at, fitted(element, target, target.span)}, {}, target.span);
  } else {
    const auto& field = as<ast::Field>(target);
    const ir::Operand into = container(*field.base);
    const TypeId type = types().structure(types().base(type_of(into))).fields[field.index].type;
    const ir::Operand fits = fitted(converted(source, type, target.span), target, target.span);
    emit(OpKind::struct_set, {into, fits}, {}, target.span).number = field.index;
  }
}

void FunctionLowering::store_whole(ir::VarId variable, ir::Operand source, Span span) {
  const TypeId type = function().variables[variable].type;
  if (is_file(types(), type) && file_has_object(variable)) {
    emit(OpKind::file_assign, {ir::Operand::variable(variable), source}, {}, span);
    return;
  }
  if (has_declared_extents(variable) && types().is_dense(type))
    return store_declared(variable, parts_of(source.index), span);
  if (TypeStore::widens(types().base(type_of(source)), types().base(type)))
    converted(source, type, span, variable);
  else
    emit(OpKind::copy, {source}, {variable}, span);
  if (has_declared_extents(variable)) check_elements(variable, span);
}

ir::Operand FunctionLowering::container(const ast::Expr& expr) {
  if (expr.kind == ExprKind::Name) {
    const ast::VariableId variable = as<ast::Name>(expr).variable;
    const auto held = held_parts_.find(variable);
    return held != held_parts_.end() ? held->second : ir::Operand::variable(variable_of(variable));
  }
  if (expr.kind == ExprKind::Index) {
    const auto& index = as<ast::Index>(expr);
    const ir::Operand into = container(*index.base);
    const ir::Operand at = key(index);
    const bool is_bag = types().kind(types().base(expr.type)) == TypeKind::bag;
    return emit_value(is_bag ? OpKind::bag_row : OpKind::array_row, {into, at}, expr.type, expr.span);
  }
  // a field: the container made with its structure
  std::vector<std::uint32_t> path;
  const ast::Expr* at = &expr;
  while (at->kind == ExprKind::Field) {
    path.push_back(as<ast::Field>(*at).index);
    at = as<ast::Field>(*at).base.get();
  }
  std::ranges::reverse(path);
  if (at->kind == ExprKind::Name) {
    const auto found = containers_.find({as<ast::Name>(*at).variable, path});
    if (found != containers_.end() && found->second != ir::none) return ir::Operand::variable(found->second);
  }
  return value(expr);
}

void FunctionLowering::declare_auto(const ast::Expr& target) {
  const ast::Expr* at = &target;
  while (at->kind == ExprKind::Index) at = as<ast::Index>(*at).base.get();
  const ast::VariableId variable = as<ast::Name>(*at).variable;
  const ir::VarId var = declare(variable);
  if (context_.program.variables[variable].written_by_element) create_container(variable, var);
}

}  // namespace raddle::lowering
