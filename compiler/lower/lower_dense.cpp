// Dense arrays: where their elements and extents are, elements by their indices, declarations.
//
// Note [dense]. A dense array is a structure of the growing array of its elements, in row-major order, and its extents
// (Note [dense types] in compiler/types/type_store.hpp). So the key of an element is computed here, and what comes
// after sees arrays with int keys and ints: launches, their promises, lanes and machine code need to know nothing of
// dimensions. The array is made by `array_new` with the extents as operands: it says which element is missing when it
// closes, and names elements by all their indices.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/resolve_types.hpp"
#include "compiler/ir/written_name.hpp"
#include "compiler/lower/lower_function.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

// ---------------------------------------------------------------- parts

/// Where the variable is declared, so that all that see it see them.
FunctionLowering::Dense& FunctionLowering::parts_of(ir::VarId variable) {
  const auto known = dense_.find(variable);
  if (known != dense_.end()) return known->second;
  const ir::Var of = function().variables[variable];
  const std::uint32_t rank = types().rank(of.type);
  const ir::RegionId here = std::exchange(region_, of.region);
  Dense parts;
  for (std::uint32_t part = 0; part <= rank; ++part) {
    const TypeId type = part == 0 ? types().dense_elements(of.type) : TypeStore::int_;
    const ir::VarId made = local(part == 0 ? of.name : "", type, of.span, of.region);
    emit(OpKind::struct_get, {ir::Operand::variable(variable)}, {made}, of.span).number = part;
    if (part == 0)
      parts.elements = ir::Operand::variable(made);
    else
      parts.extents.push_back(ir::Operand::variable(made));
  }
  region_ = here;
  return dense_[variable] = std::move(parts);
}

FunctionLowering::Operands FunctionLowering::elements_of(Operands operands) {
  for (ir::Operand& operand : operands)
    if (types().is_dense(type_of(operand))) operand = parts_of(operand.index).elements;
  return operands;
}

ir::VarId FunctionLowering::pack(const Dense& parts, TypeId type, Span span, ir::VarId target) {
  Operands fields = {parts.elements};
  fields.insert(fields.end(), parts.extents.begin(), parts.extents.end());
  const ir::VarId packed = target == ir::none ? temporary(type, span) : target;
  emit(OpKind::struct_make, std::move(fields), {packed}, span);
  if (is_declared_here(packed)) dense_.try_emplace(packed, parts);
  return packed;
}

ir::VarId FunctionLowering::new_elements(std::string name, TypeId element, const Operands& extents, Span span) {
  const TypeId type = context_.program.types.array_of(TypeStore::int_, element);
  const ir::VarId elements = local(std::move(name), type, span, region_);
  emit(OpKind::array_new, extents, {elements}, span);
  return elements;
}

// ---------------------------------------------------------------- elements

ir::Operand FunctionLowering::call_builtin_named(std::string_view name, Operands operands, TypeId type, Span span) {
  std::vector<TypeId> operand_types;
  for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
  const ir::VarId result = temporary(type, span);
  ir::Op& op = emit(OpKind::call_builtin, std::move(operands), {result}, span);
  op.callee = builtin_named(name);
  op.operand_types = std::move(operand_types);
  return ir::Operand::variable(result);
}

ir::Operand FunctionLowering::text_constant(std::string text) {
  return ir::Operand::constant(context_.module.constant(std::move(text)));
}

ir::Operand FunctionLowering::key_of(const Operands& indices, const Dense& of, Span span) {
  ir::Operand number = indices[0];
  for (std::size_t axis = 1; axis < indices.size(); ++axis) {
    const ir::Operand row = emit_value(OpKind::index_mul, {number, of.extents[axis]}, TypeStore::int_, span);
    number = emit_value(OpKind::index_add, {row, indices[axis]}, TypeStore::int_, span);
  }
  return key_of_number(number, of, span);
}

/// @param number  in row-major order
ir::Operand FunctionLowering::key_of_number(ir::Operand number, const Dense& of, Span span) {
  if (of.first.index == ir::none) return number;
  return emit_value(OpKind::index_add, {of.first, number}, TypeStore::int_, span);
}

ir::Operand FunctionLowering::bracketed(const ast::Expr& expr, ir::Operand extent) {
  ends_.push_back(extent);
  const ir::Operand operand = value(expr);
  ends_.pop_back();
  return operand;
}

FunctionLowering::Operands FunctionLowering::place_of_index(const ast::Index& index, std::size_t axis) {
  constexpr std::size_t longest = 40;
  const SourceBuffer& source = context_.module.sources->at(index.span.file);
  std::string name;  // "": the library's names say nothing to a user
  const Span base = index.base->span;
  if (!source.is_of_library()) name = source.text().substr(base.begin, base.end - base.begin);
  if (name.size() > longest) name.clear();
  const bool is_only = types().rank(index.base->type) == 1;
  return {text_constant(std::move(name)), int_constant(is_only ? 0 : static_cast<std::int64_t>(axis) + 1)};
}

ir::Operand FunctionLowering::index_check(ir::Operand at, ir::Operand extent, const ast::Index& index,
                                          std::size_t axis) {
  const Operands place = place_of_index(index, axis);
  Operands operands = {at, extent};
  operands.insert(operands.end(), place.begin(), place.end());
  return call_builtin_named("@index", std::move(operands), TypeStore::int_, index.indices[axis]->span);
}

ir::Operand FunctionLowering::checked_index(const ast::Index& index, std::size_t axis, ir::Operand extent) {
  return index_check(bracketed(*index.indices[axis], extent), extent, index, axis);
}

ir::Operand FunctionLowering::dense_key(const ast::Index& index, const Dense& of) {
  Operands indices;
  for (std::size_t axis = 0; axis < index.indices.size(); ++axis)
    indices.push_back(checked_index(index, axis, of.extents[axis]));
  return key_of(indices, of, index.span);
}

ir::Operand FunctionLowering::dense_index(const ast::Index& index, ir::VarId target) {
  const Dense of = dense_view(*index.base);
  const ir::Operand key = dense_key(index, of);
  return emit_value(OpKind::array_get, {of.elements, key}, index.type, index.span, target);
}

/// `A[i, j] = x`, `A[1:n-2, :] = B`
void FunctionLowering::store_dense(const ast::Index& target, ir::Operand source) {
  const Dense into = dense_target(target);
  if (into.elements.index == ir::none) return;
  const ir::Operand at = dense_key(target, into);
  emit(OpKind::array_insert,
       {into.elements, at, converted(source, types().dense_element(target.base->type), target.span)}, {}, target.span);
}

FunctionLowering::Dense FunctionLowering::dense_target(const ast::Index& target) {
  if (target.base->kind == ExprKind::Name) {
    const ast::VariableId variable = as<ast::Name>(*target.base).variable;
    Dense parts = parts_of(variable_of(variable));
    if (const auto held = held_parts_.find(variable); held != held_parts_.end()) parts.elements = held->second;
    return parts;
  }
  not_supported(target.span, "the assignment of single elements to dense arrays that are elements or fields");
  return {};
}

// ---------------------------------------------------------------- functions of the module arrays

namespace {

/// `-1`, as it is written
bool is_minus_one(const ast::Expr& expr) {
  if (expr.kind == ExprKind::IntLiteral) return as<ast::IntLiteral>(expr).value == -1;
  if (expr.kind != ExprKind::Unary || as<ast::Unary>(expr).op != ast::UnaryOp::negate) return false;
  const ast::Expr& operand = *as<ast::Unary>(expr).operand;
  return operand.kind == ExprKind::IntLiteral && as<ast::IntLiteral>(operand).value == 1;
}

}  // namespace

ir::Operand FunctionLowering::array_function(const ast::Call& call, ir::VarId target) {
  const std::string_view name = stdlib::builtins()[call.callee_index].name;
  Dense made;
  if (!types().is_dense(call.type)) return records_from_file(call, target);
  if (name == "dense") {
    const ir::Operand elements = value(*call.resolved_arguments[0]);
    made = {elements, {call_builtin_named("@dense_keys", {elements}, TypeStore::int_, call.span)}};
  } else {
    made = name == "reshape" || name == "flatten" ? reshaped(call) : read_from_file(call);
  }
  return ir::Operand::variable(pack(made, call.type, call.span, target));
}

FunctionLowering::Dense FunctionLowering::reshaped(const ast::Call& call) {
  const Dense from = dense_parts(*call.resolved_arguments[0]);
  Dense made{from.elements, {}};
  for (std::size_t i = 1; i < call.resolved_arguments.size(); ++i)
    made.extents.push_back(value(*call.resolved_arguments[i]));
  if (made.extents.empty()) return {from.elements, {product(from.extents, call.span)}};
  Operands shapes = {int_constant(static_cast<std::int64_t>(from.extents.size()))};
  shapes.insert(shapes.end(), from.extents.begin(), from.extents.end());
  shapes.insert(shapes.end(), made.extents.begin(), made.extents.end());
  std::size_t open = 0;  // the axis whose extent is what is left
  while (open < made.extents.size() && !is_minus_one(*call.resolved_arguments[open + 1])) ++open;
  const bool is_open = open < made.extents.size();
  const ir::Operand checked =
      call_builtin_named(is_open ? "@open_extent" : "@reshaped", std::move(shapes), TypeStore::int_, call.span);
  if (!is_open) checked_extents_[checked.index] = made.extents[0];
  made.extents[is_open ? open : 0] = checked;
  Operands fitting = {from.elements};
  fitting.insert(fitting.end(), made.extents.begin(), made.extents.end());
  made.elements = call_builtin_named("@fitting", std::move(fitting), type_of(from.elements), call.span);
  return made;
}

// ---------------------------------------------------------------- declarations

void FunctionLowering::declare_extents(ast::VariableId variable, const ast::Dimension* dimension) {
  if (dimension == nullptr) return;
  Operands extents;
  for (const ast::ExprPtr& entry : dimension->entries)
    extents.push_back(check_detail::is_open(*entry) ? ir::Operand() : value(*entry));
  declared_extents_[variable_of(variable)] = std::move(extents);
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
    const std::string name =
        is_of_library(definition.name.span)
            ? fmt::format("argument {} of `{}`", &input - definition.inputs.data() + 1, definition.name.text)
            : fmt::format("`{}`", input.name.text);
    Operands wanted(entries.size());
    for (std::size_t axis = 0; axis < entries.size(); ++axis)
      if (!check_detail::is_open(*entries[axis]) && input.extents[axis] == ast::no_variable)
        wanted[axis] = value(*entries[axis]);
    for (std::size_t axis = 0; axis < entries.size(); ++axis) {
      const ir::Operand found = extents[axis];
      extents[axis] = checked_extent(name, axis, wanted, extents, entries[axis]->span);
      if (extents[axis] != found) checks.push_back(extents[axis]);
    }
  });
  for (const ast::Formal& output : definition.outputs) declare_extents(output.variable, extents_of_formal(output));
  return checks;
}

const ast::Dimension* FunctionLowering::extents_of_formal(const ast::Formal& formal) const {
  return types().is_dense(formal.resolved_type) ? check_detail::extents_of(formal.type, formal.dimensions) : nullptr;
}

/// @param name  of whose it is, for the message. The extent along `axis`, once it is known to be the wanted one: keys
/// are made of that.
/// @param found  as far as it is checked: where an extent before this one is another, that is told, and no more.
ir::Operand FunctionLowering::checked_extent(const std::string& name, std::size_t axis, const Operands& wanted,
                                             const Operands& found, Span span) {
  if (wanted[axis].index == ir::none || is_same_extent(wanted[axis], found[axis])) return found[axis];
  Operands operands = {wanted[axis], found[axis], text_constant(name)};
  for (const ir::Operand extent : wanted) operands.push_back(extent.index == ir::none ? int_constant(-1) : extent);
  operands.insert(operands.end(), found.begin(), found.end());
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
      if (argument.index == ir::none || extent.is_constant || is_same_extent(extent, argument)) continue;
      if (argument.is_constant)
        extent = argument;  // then all that has to do with it can be computed when compiling
      else
        checked_extents_[extent.index] = argument;
    }
  }
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

bool FunctionLowering::has_declared_extents(ir::VarId variable) const {
  const auto declared = declared_extents_.find(variable);
  return declared != declared_extents_.end() &&
         std::ranges::any_of(declared->second, [](ir::Operand extent) { return extent.index != ir::none; });
}

/// What is assigned as a whole has the extents of the declaration, or nothing that reads it is done.
void FunctionLowering::initialise_declared(ir::VarId variable, const ast::Expr& expr) {
  if (is_dense_value(expr)) {
    dense_value(expr, variable);
    return;
  }
  store_declared(variable, dense_parts(expr), expr.span);
}

void FunctionLowering::store_declared(ir::VarId variable, const Dense& found, Span span) {
  pack(fitting(variable, found, span), function().variables[variable].type, span, variable);
}

/// The array, once it is known to have the extents that stand in the declaration of the variable.
FunctionLowering::Dense FunctionLowering::fitting(ir::VarId variable, const Dense& found, Span span) {
  Dense made{found.elements, declared_extents(variable, found.extents, span)};
  Operands operands = {found.elements};
  for (std::size_t axis = 0; axis < found.extents.size(); ++axis)
    if (made.extents[axis] != found.extents[axis]) operands.push_back(made.extents[axis]);
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

}  // namespace raddle::lowering
