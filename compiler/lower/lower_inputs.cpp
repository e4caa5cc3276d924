// Inputs of functions and arguments of calls.
//
// Note [views]. A dense input comes as its parts: elements and extents, each a parameter. So functions of dense arrays
// can be leaf functions. A slice whose elements lie side by side, `a[i, :]`, `a[2:5]`, `a[lo:hi, :]`, is passed without
// a copy: as the elements of the whole array, its own extents, and the key of its first element. Keys are longer then,
// so the function is lowered once more, for calls with views: there each dense input may be one (of a whole array the
// first key is 0). What takes only whole arrays, as `toString` does, gets a copy.
#include <algorithm>
#include <utility>

#include "compiler/check/annotations.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

// ---------------------------------------------------------------- inputs

void FunctionLowering::add_input(ast::VariableId variable, bool may_be_view) {
  if (types().is_dense(context_.program.variables[variable].type))
    add_dense_input(variable, may_be_view);
  else
    add_parameter(variable);
}

void FunctionLowering::add_dense_input(ast::VariableId variable, bool may_be_view) {
  const Variable& checked = context_.program.variables[variable];
  const auto parameter = [&](std::string name, TypeId type) {
    const ir::VarId made = new_variable(std::move(name), type, checked.span, 0);
    function().parameters.push_back(made);
    return ir::Operand::variable(made);
  };
  Dense parts{parameter(checked.name, types().dense_elements(checked.type)), {}};
  for (std::uint32_t axis = 0; axis < types().rank(checked.type); ++axis)
    parts.extents.push_back(parameter("", TypeStore::int_));
  if (may_be_view) parts.first = parameter("", TypeStore::int_);
  const ir::VarId whole = new_variable(checked.name, checked.type, checked.span, 0);
  variables_[variable] = whole;
  dense_[whole] = std::move(parts);
  unpacked_.insert(whole);
}

/// The variable itself; of a dense input a structure is made where the first one is asked for.
ir::Operand FunctionLowering::whole_input(ir::VarId variable) {
  const auto input = dense_.find(variable);
  const ir::Var whole = function().variables[variable];
  if (input != dense_.end() && input->second.first.index != ir::none)
    return ir::Operand::variable(pack(copied_input(variable), whole.type, whole.span, ir::none));
  if (unpacked_.erase(variable) != 0) {
    const ir::RegionId here = std::exchange(region_, 0);
    function().regions[0].variables.push_back(variable);
    pack(dense_.at(variable), whole.type, whole.span, variable);
    region_ = here;
  }
  return ir::Operand::variable(variable);
}

/// Of a view its own elements: copied here, but before the loops around, unless they are in a region around.
FunctionLowering::Dense FunctionLowering::copied_input(ir::VarId variable) {
  const Dense parts = parts_of(variable);
  if (parts.first.index == ir::none) return parts;
  for (ir::RegionId region = region_;; region = function().regions[region].parent) {
    const auto known = copies_.find({variable, region});
    if (known != copies_.end()) return known->second;
    if (region == 0) break;
  }
  const Span span = function().variables[variable].span;
  const ir::RegionId here = std::exchange(region_, before_loops(region_));
  const Dense made = copies_[{variable, region_}] =
      fill(read_whole(parts, span), {types().at(type_of(parts.elements)).element}, span)[0];
  region_ = here;
  return made;
}

/// The region that the outermost loop around lies in. @return the region itself: there is none
ir::RegionId FunctionLowering::before_loops(ir::RegionId region) {
  ir::RegionId found = region;
  for (; region != 0; region = function().regions[region].parent)
    if (!function().regions[region].parameters.empty()) found = function().regions[region].parent;
  return found;
}

// ---------------------------------------------------------------- arguments

void FunctionLowering::add_parts(Operands& operands, const Dense& parts, bool may_be_view) {
  operands.push_back(parts.elements);
  operands.insert(operands.end(), parts.extents.begin(), parts.extents.end());
  if (may_be_view) operands.push_back(parts.first.index == ir::none ? int_constant(0) : parts.first);
}

bool FunctionLowering::add_arguments(Operands& operands, const ast::Call& call) {
  const CheckedFunction& callee = context_.program.functions[call.callee_index];
  const auto formal = [&](std::size_t i) {
    return callee.is_generic ? TypeStore::error : context_.program.variables[callee.inputs[i]].type;
  };
  const bool takes_views =
      !callee.is_app && !check_detail::is_memo(*callee.definition);  // what is kept are results of whole arrays
  std::vector<Dense> dense(call.resolved_arguments.size());
  bool has_views = false;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (!types().is_dense(formal(i))) continue;
    const ast::Expr& argument = *call.resolved_arguments[i];
    dense[i] = takes_views ? dense_view(argument) : dense_parts(argument);
    has_views = has_views || dense[i].first.index != ir::none;
  }
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const ast::Expr& argument = *call.resolved_arguments[i];
    const bool is_updateable = types().kind(formal(i)) == TypeKind::updateable;
    if (types().is_dense(formal(i)))
      add_parts(operands, dense[i], has_views);
    else if (is_updateable && argument.kind == ExprKind::Name)  // the updateable itself, not its present value
      operands.push_back(ir::Operand::variable(variable_of(as<ast::Name>(argument).variable)));
    else
      operands.push_back(value(argument));
  }
  return has_views;
}

void FunctionLowering::add_globals(Operands& operands, std::uint32_t function) {
  for (const ast::VariableId global : context_.globals_read[function]) {
    const ir::VarId variable = variable_of(global);
    if (types().is_dense(context_.program.variables[global].type))
      add_parts(operands, parts_of(variable), false);
    else
      operands.push_back(ir::Operand::variable(variable));
  }
}

ir::FunctionId FunctionLowering::function_of_views(std::uint32_t function) {
  const auto [known, fresh] = context_.functions_of_views.try_emplace(function, ir::none);
  if (fresh) {
    const CheckedFunction& checked = context_.program.functions[function];
    known->second = add_function(context_, checked.name, checked.definition->name.span);
    lower_function(context_, function, known->second, {.has_views = true});
  }
  return known->second;
}

// ---------------------------------------------------------------- views

FunctionLowering::Dense FunctionLowering::dense_parts(const ast::Expr& expr) {
  if (expr.conversion == ast::Conversion::none && expr.kind == ExprKind::Name)
    return copied_input(variable_of(as<ast::Name>(expr).variable));
  return parts_of(value(expr).index);
}

FunctionLowering::Dense FunctionLowering::dense_view(const ast::Expr& expr) {
  if (expr.conversion != ast::Conversion::none) return parts_of(value(expr).index);
  if (expr.kind == ExprKind::Index && types().is_dense(as<ast::Index>(expr).base->type))
    if (std::optional<Dense> view = view_of_slice(as<ast::Index>(expr))) return *view;
  return unwidened_view(expr);
}

FunctionLowering::Dense FunctionLowering::unwidened_view(const ast::Expr& expr) {
  if (expr.kind == ExprKind::Name) return parts_of(variable_of(as<ast::Name>(expr).variable));
  return parts_of(unwidened(expr, ir::none).index);
}

/// Single indices, then a range without a step, then whole dimensions: those elements lie side by side.
std::optional<FunctionLowering::Dense> FunctionLowering::view_of_slice(const ast::Index& index) {
  if (choice_in(index) != check_detail::Choice::none) return std::nullopt;
  bool has_range = false;
  for (const ast::ExprPtr& entry : index.indices) {
    const bool is_range = entry->kind == ExprKind::Slice;
    const auto* const slice = is_range ? &as<ast::Slice>(*entry) : nullptr;
    if (slice != nullptr && slice->step) return std::nullopt;
    if (has_range && (slice == nullptr || slice->low || slice->high)) return std::nullopt;
    has_range = has_range || is_range;
  }
  const Dense base = dense_view(*index.base);
  const std::vector<Selection> chosen = selections(index, base.extents);
  Operands firsts;
  for (const Selection& each : chosen) firsts.push_back(each.first);
  return Dense{base.elements, extents_of(chosen), key_of(firsts, base, index.span)};
}

}  // namespace raddle::lowering
