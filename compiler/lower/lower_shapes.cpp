// Extents that are declared: of variables, formals, fields, and of the dense arrays that other arrays hold. What is
// assigned there has them, or the script has failed.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/resolve_types.hpp"
#include "compiler/ir/written_name.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

FunctionLowering::Operands FunctionLowering::written_extents(ast::VariableId variable,
                                                             const ast::Dimension* dimension) {
  if (dimension == nullptr || !dimension->is_of_extents)
    return fixed_extents(context_.program.variables[variable].fixed_extents);
  Operands extents;
  for (const ast::ExprPtr& entry : dimension->entries)
    extents.push_back(check_detail::is_open(*entry) ? ir::Operand() : value(*entry));
  return extents;
}

FunctionLowering::Operands FunctionLowering::fixed_extents(const std::vector<std::int64_t>& fixed) {
  Operands extents;
  for (const std::int64_t extent : fixed) extents.push_back(extent == -1 ? ir::Operand() : int_constant(extent));
  return extents;
}

void FunctionLowering::declare_extents(ast::VariableId variable, const ast::Dimension* dimension) {
  Operands extents = written_extents(variable, dimension);
  if (!extents.empty()) declared_extents_[variable_of(variable)] = std::move(extents);
}

/// `to` is made in place of `from`.
void FunctionLowering::take_extents(ir::VarId from, ir::VarId to) {
  if (const auto declared = declared_extents_.find(from); declared != declared_extents_.end())
    declared_extents_[to] = Operands(declared->second);
}

void FunctionLowering::create_dense(ast::VariableId variable, ir::VarId var) {
  const Variable& checked = context_.program.variables[variable];
  const auto declared = declared_extents_.find(var);
  const bool is_known = declared != declared_extents_.end() &&
                        std::ranges::none_of(declared->second, [](ir::Operand one) { return one.index == ir::none; });
  if (!is_known) {
    context_.diagnostics
        .report(DiagnosticKind::bad_dense_type, checked.span,
                "`" + checked.name + "` is assigned in parts, so its extents are to be known where it is declared")
        .note("as in `float " + checked.name + "[n];`");
    return;
  }
  const std::string subject = is_of_library(checked.span) ? ir::result_text(function()) : "`" + checked.name + "`";
  Dense parts;
  for (const ir::Operand wanted : declared->second) {
    parts.extents.push_back(
        call_builtin_named("@extent", {text_constant(subject), wanted}, TypeStore::int_, checked.span));
    checked_extents_[parts.extents.back().index] = wanted;
  }
  parts.elements = ir::Operand::variable(
      new_elements(checked.name, types().dense_element(checked.type), parts.extents, checked.span));
  dense_[var] = parts;
  pack(parts, checked.type, checked.span, var);
  call_builtin_named("@complete", {parts.elements}, TypeStore::void_, checked.span);
}

std::string FunctionLowering::name_of_input(const ast::FunctionDefinition& definition, const ast::Formal& input,
                                            bool says_function) const {
  if (!is_of_library(definition.name.span)) return fmt::format("`{}`", input.name.text);
  const auto number = &input - definition.inputs.data() + 1;
  return fmt::format("argument {}", number) + (says_function ? fmt::format(" of `{}`", definition.name.text) : "");
}

/// The input before that has given an extent its name.
FunctionLowering::SharedExtent FunctionLowering::shared_extent(const ast::FunctionDefinition& definition,
                                                               const ast::Formal& input, const ast::Expr& entry) {
  if (entry.kind != ExprKind::Name) return {};
  const auto& name = as<ast::Name>(entry);
  const auto has_named = [&](const ast::Formal& each) {
    return std::ranges::find(each.extents, name.variable) != each.extents.end();
  };
  const auto other = std::ranges::find_if(definition.inputs, has_named);
  if (name.variable == ast::no_variable || other == definition.inputs.end()) return {};
  SharedExtent shared;
  if (!is_of_library(definition.name.span)) shared.extent = name.text;
  if (&*other == &input) return shared;
  shared.other = name_of_input(definition, *other, false);
  shared.shape = parts_of(variable_of(other->variable)).extents;
  return shared;
}

FunctionLowering::Operands FunctionLowering::bind_extents(const ast::FunctionDefinition& definition) {
  Operands checks;
  const auto visit_inputs = [&](const auto& visit) {
    for (const ast::Formal& input : definition.inputs)
      if (const ast::Dimension* const dimension = extents_of_formal(input); dimension != nullptr)
        visit(input, dimension->entries, parts_of(variable_of(input.variable)).extents);
  };
  visit_inputs([&](const ast::Formal& input, const auto& entries, const Operands& found) {
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
      if (input.extents[axis] == ast::no_variable) continue;
      variables_[input.extents[axis]] = found[axis].index;
      function().variables[found[axis].index].name = context_.program.variables[input.extents[axis]].name;
    }
  });
  // of the library's names a user knows only those of functions
  visit_inputs([&](const ast::Formal& input, const auto& entries, Operands& extents) {
    const std::string name = name_of_input(definition, input, true);
    Operands wanted(entries.size());
    for (std::size_t axis = 0; axis < entries.size(); ++axis)
      if (!check_detail::is_open(*entries[axis]) && input.extents[axis] == ast::no_variable)
        wanted[axis] = value(*entries[axis]);
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
      const ir::Operand found = extents[axis];
      const SharedExtent shared = shared_extent(definition, input, *entries[axis]);
      extents[axis] = checked_extent(name, axis, wanted, extents, entries[axis]->span, shared);
      if (extents[axis] != found) checks.push_back(extents[axis]);
    }
  });
  for (const ast::Formal& output : definition.outputs)
    declare_extents(output.variable, check_detail::extents_of(output.type, output.dimensions));
  for (const ast::Formal& input : definition.inputs) check_held_arrays(input, checks);
  return checks;
}

/// Of inputs that hold dense arrays, and of those whose extents stand in the definition of their type.
void FunctionLowering::check_held_arrays(const ast::Formal& input, Operands& checks) {
  if (input.resolved_type == TypeStore::error || input.variable == ast::no_variable) return;
  const Operands wanted = written_extents(input.variable, check_detail::extents_of(input.type, input.dimensions));
  const std::string name = fmt::format("`{}`", input.name.text);
  if (!types().is_dense(input.resolved_type))
    return check_elements(ir::Operand::variable(variable_of(input.variable)), wanted, name, input.span);
  if (extents_of_formal(input) != nullptr || wanted.empty()) return;
  Operands& extents = parts_of(variable_of(input.variable)).extents;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const ir::Operand found = extents[axis];
    extents[axis] = checked_extent(name, axis, wanted, extents, input.span);
    if (extents[axis] != found) checks.push_back(extents[axis]);
  }
}

const ast::Dimension* FunctionLowering::extents_of_formal(const ast::Formal& formal) const {
  return types().is_dense(formal.resolved_type) ? check_detail::extents_of(formal.type, formal.dimensions) : nullptr;
}

/// @param name  of whose it is, for the message. The extent along `axis`, once it is known to be the wanted one: keys
/// are made of that.
/// @param shared  which other array has it, too
/// @param found  as far as it is checked: where an extent before this one is another, that is told, and no more.
ir::Operand FunctionLowering::checked_extent(const std::string& name, std::size_t axis, const Operands& wanted,
                                             const Operands& found, Span span, const SharedExtent& shared) {
  if (wanted[axis].index == ir::none || is_same_extent(wanted[axis], found[axis])) return found[axis];
  Operands operands = {wanted[axis], found[axis], text_constant(name)};
  for (const std::string* const text : {&shared.other, &shared.extent}) operands.push_back(text_constant(*text));
  operands.push_back(int_constant(static_cast<std::int64_t>(found.size())));
  for (const ir::Operand extent : wanted) operands.push_back(extent.index == ir::none ? int_constant(-1) : extent);
  operands.insert(operands.end(), found.begin(), found.end());
  operands.insert(operands.end(), shared.shape.begin(), shared.shape.end());
  const ir::Operand checked = call_builtin_named("@same_extent", std::move(operands), TypeStore::int_, span);
  checked_extents_[checked.index] = wanted[axis];
  return checked;
}

/// What an extent has been checked to be, as far as that can be followed.
ir::Operand FunctionLowering::known_extent(ir::Operand extent) const {
  for (;;) {
    const auto checked = extent.is_constant ? checked_extents_.end() : checked_extents_.find(extent.index);
    if (checked == checked_extents_.end()) return extent;
    extent = checked->second;
  }
}

bool FunctionLowering::is_same_extent(ir::Operand left, ir::Operand right) const {
  return known_extent(left) == known_extent(right);
}

/// Outputs as in `(float y[n, 1]) f(float x[n])` are as long as the argument, or as is written: the callee has checked
/// it.
void FunctionLowering::note_extents(const ast::Call& call, const Operands& outputs) {
  const CheckedFunction& callee = context_.program.functions[call.callee_index];
  const ast::FunctionDefinition& definition = *callee.definition;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    // of a variable from outside of a branch each branch may make something else
    if (outputs[i].is_constant || !is_declared_here(outputs[i].index)) continue;
    const ast::Dimension* const dimension = extents_of_formal(definition.outputs[i]);
    for (std::size_t axis = 0; dimension != nullptr && axis < dimension->entries.size(); ++axis) {
      const ast::Expr& entry = *dimension->entries[axis];
      ir::Operand argument;
      if (entry.kind == ExprKind::Name) argument = argument_of(call, as<ast::Name>(entry).variable);
      if (entry.kind == ExprKind::IntLiteral) argument = int_constant(as<ast::IntLiteral>(entry).value);
      ir::Operand& extent = parts_of(outputs[i].index).extents[axis];
      if (argument.index != ir::none) note_extent(extent, argument);
    }
  }
}

void FunctionLowering::note_extent(ir::Operand& extent, ir::Operand known) {
  if (extent.is_constant || is_same_extent(extent, known)) return;
  if (known.is_constant)
    extent = known;  // then all that has to do with it can be computed when compiling
  else
    checked_extents_[extent.index] = known;
}

/// What an input of the callee is here, or an extent of one that it names; none: that is not known.
ir::Operand FunctionLowering::argument_of(const ast::Call& call, ast::VariableId of_callee) {
  const std::vector<ast::Formal>& inputs = context_.program.functions[call.callee_index].definition->inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ast::Expr& argument = *call.resolved_arguments[i];
    if (argument.kind == ExprKind::Name && as<ast::Name>(argument).is_end) continue;
    const auto extent = std::ranges::find(inputs[i].extents, of_callee);
    const bool is_extent = of_callee != ast::no_variable && extent != inputs[i].extents.end();
    if (inputs[i].variable == of_callee && argument.kind == ExprKind::IntLiteral)
      return int_constant(as<ast::IntLiteral>(argument).value);
    if (argument.kind != ExprKind::Name || (inputs[i].variable != of_callee && !is_extent)) continue;
    const ir::VarId variable = variable_of(as<ast::Name>(argument).variable);
    if (!is_extent) return ir::Operand::variable(variable);
    if (types().is_dense(argument.type))
      return parts_of(variable).extents[static_cast<std::size_t>(extent - inputs[i].extents.begin())];
  }
  return {};
}

const FunctionLowering::Operands& FunctionLowering::extents_declared_for(ir::VarId variable) const {
  static const Operands none;
  const auto declared = declared_extents_.find(variable);
  return declared == declared_extents_.end() ? none : declared->second;
}

bool FunctionLowering::has_declared_extents(ir::VarId variable) const {
  return std::ranges::any_of(extents_declared_for(variable),
                             [](ir::Operand extent) { return extent.index != ir::none; });
}

/// What is assigned as a whole has the extents of the declaration, or nothing that reads it is done.
void FunctionLowering::initialise_declared(ir::VarId variable, const ast::Expr& expr) {
  if (is_dense_value(expr)) {
    dense_value(expr, variable);
    return;
  }
  if (types().is_dense(expr.type)) return store_declared(variable, dense_parts(expr), expr.span);
  value(expr, variable);
  check_elements(variable, expr.span);
}

void FunctionLowering::store_declared(ir::VarId variable, const Dense& found, Span span) {
  pack(fitting(variable, found, span), function().variables[variable].type, span, variable);
}

FunctionLowering::Dense FunctionLowering::fitting(ir::VarId variable, const Dense& found, Span span) {
  const std::string name = function().variables[variable].name;
  const Dense made = fitting(fmt::format("`{}`", name), declared_extents_.at(variable), found, span);
  if (made.elements != found.elements) function().variables[made.elements.index].name = name;
  return made;
}

/// The array, once it is known to have these extents.
FunctionLowering::Dense FunctionLowering::fitting(const std::string& name, const Operands& wanted, const Dense& found,
                                                  Span span) {
  Dense made{found.elements, found.extents};
  Operands operands = {found.elements};
  for (std::size_t axis = 0; axis < found.extents.size(); ++axis) {
    made.extents[axis] = checked_extent(name, axis, wanted, made.extents, span);
    if (made.extents[axis] != found.extents[axis]) operands.push_back(made.extents[axis]);
  }
  if (operands.size() > 1)
    made.elements = call_builtin_named("@fitting", std::move(operands), type_of(found.elements), span);
  return made;
}

FunctionLowering::Operands FunctionLowering::declared_extents(ir::VarId variable, const Operands& found, Span span) {
  const std::string name = fmt::format("`{}`", function().variables[variable].name);
  Operands made = found;
  for (std::size_t axis = 0; axis < found.size(); ++axis)
    made[axis] = checked_extent(name, axis, declared_extents_.at(variable), made, span);
  return made;
}

// ---------------------------------------------------------------- what holds dense arrays

/// The extents that the dense arrays in a variable, in a field or in an element of such are to have; empty: none are
/// declared.
FunctionLowering::Operands FunctionLowering::extents_inside(const ast::Expr& place) {
  const ast::Expr* at = &place;
  while (at->kind == ExprKind::Index) at = as<ast::Index>(*at).base.get();
  if (at->kind == ExprKind::Field) {
    const auto& field = as<ast::Field>(*at);
    return fixed_extents(types().structure(types().base(field.base->type)).fields[field.index].extents);
  }
  return extents_declared_for(variable_of(as<ast::Name>(*at).variable));
}

/// What is assigned to a place, or put into it: itself, once it is known to fit.
ir::Operand FunctionLowering::fitted(ir::Operand source, const ast::Expr& place, Span span) {
  const std::string name = short_text(place.span);
  return fitted(source, extents_inside(place), name.empty() ? "the array" : fmt::format("`{}`", name), span);
}

ir::Operand FunctionLowering::fitted(ir::Operand source, const Operands& wanted, const std::string& name, Span span) {
  if (wanted.empty()) return source;
  const TypeId type = type_of(source);
  if (!types().is_dense(type)) {
    check_elements(source, wanted, name, span);
    return source;
  }
  const Dense found = parts_of(source.index);
  const Dense made = fitting(name, wanted, found, span);
  return made.elements == found.elements ? source : ir::Operand::variable(pack(made, type, span, ir::none));
}

void FunctionLowering::check_elements(ir::VarId variable, Span span) {
  const std::string name = fmt::format("`{}`", function().variables[variable].name);
  check_elements(ir::Operand::variable(variable), extents_declared_for(variable), name, span);
}

/// When the array or bag is closed. What reads its elements does not wait for that: it may be what closes it.
void FunctionLowering::check_elements(ir::Operand whole, const Operands& wanted, const std::string& name, Span span) {
  if (std::ranges::all_of(wanted, [](ir::Operand extent) { return extent.index == ir::none; })) return;
  const Type type = types().at(types().base(type_of(whole)));
  const TypeId key_type = type.kind == TypeKind::bag ? TypeStore::int_ : type.key;
  const ir::RegionId region = in_region([&] {
    const ir::VarId element = new_variable("", type.element, span, region_);
    const ir::VarId key = new_variable("", key_type, span, region_);
    function().regions[region_].parameters = {element, key};
    if (!types().is_dense(type.element)) return check_elements(ir::Operand::variable(element), wanted, name, span);
    Operands found = parts_of(element).extents;
    for (std::size_t axis = 0; axis < found.size(); ++axis)
      found[axis] = checked_extent("an element of " + name, axis, wanted, found, span);
  });
  emit(OpKind::foreach_array, {whole}, {}, span).regions = {region};
}

}  // namespace raddle::lowering
