// Dense arrays: where their elements and extents are, elements by their indices.
//
// Note [dense]. A dense array is a structure of the growing array of its elements, in row-major order, and its extents
// (Note [dense types] in compiler/types/type_store.hpp). So the key of an element is computed here, and what comes
// after sees arrays with int keys and ints: launches, their promises, lanes and machine code need to know nothing of
// dimensions. The array is made by `array_new` with the extents as operands: it says which element is missing when it
// closes, and names elements by all their indices.
#include <algorithm>
#include <utility>

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

/// As it is written; "" where that is long, or in the library, whose names say nothing to a user.
std::string FunctionLowering::short_text(Span span) const {
  constexpr std::size_t longest = 40;
  const SourceBuffer& source = context_.module.sources->at(span.file);
  const std::size_t size = span.end - span.begin;
  return source.is_of_library() || size > longest ? "" : source.text().substr(span.begin, size);
}

FunctionLowering::Operands FunctionLowering::place_of_index(const ast::Index& index, std::size_t axis,
                                                            const Operands& extents) {
  Operands place = {text_constant(short_text(index.base->span))};
  if (extents.size() == 1) return {place[0], int_constant(0)};
  place.push_back(int_constant(static_cast<std::int64_t>(axis) + 1));
  place.insert(place.end(), extents.begin(), extents.end());
  return place;
}

ir::Operand FunctionLowering::index_check(ir::Operand at, const Operands& extents, const ast::Index& index,
                                          std::size_t axis) {
  const Operands place = place_of_index(index, axis, extents);
  Operands operands = {at, extents[axis]};
  operands.insert(operands.end(), place.begin(), place.end());
  return call_builtin_named("@index", std::move(operands), TypeStore::int_, index.indices[axis]->span);
}

ir::Operand FunctionLowering::checked_index(const ast::Index& index, std::size_t axis, const Operands& extents) {
  return index_check(bracketed(*index.indices[axis], extents[axis]), extents, index, axis);
}

ir::Operand FunctionLowering::dense_key(const ast::Index& index, const Dense& of) {
  Operands indices;
  for (std::size_t axis = 0; axis < index.indices.size(); ++axis)
    indices.push_back(checked_index(index, axis, of.extents));
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
  not_supported(target.span, "the assignment of single elements to dense arrays that are elements or fields")
      .note(
          "fill an array of its own and assign that, as in `float part[2]; part[0] = 1.0; part[1] = 2.0; t[i] = "
          "part;`");
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

/// The axis whose extent is what is left: of a call with extents behind its first argument. Their number: none.
std::size_t open_axis(const ast::Call& call) {
  std::size_t axis = 0;
  while (axis + 1 < call.resolved_arguments.size() && !is_minus_one(*call.resolved_arguments[axis + 1])) ++axis;
  return axis;
}

}  // namespace

ir::Operand FunctionLowering::array_function(const ast::Call& call, ir::VarId target) {
  const std::string_view name = stdlib::builtins()[call.callee_index].name;
  Dense made;
  if (!types().is_dense(call.type)) return records_from_file(call, target);
  if (name == "dense" && call.resolved_arguments.size() > 1) {
    made = read_from_blob(call);
  } else if (name == "dense") {
    const ir::Operand elements = value(*call.resolved_arguments[0]);
    const ir::Operand count = call_builtin_named("@dense_keys", {elements}, TypeStore::int_, call.span);
    // what reads elements only is to fail with the keys, too
    made = {call_builtin_named("@fitting", {elements, count}, type_of(elements), call.span), {count}};
  } else {
    made = name == "reshape" || name == "flatten" ? reshaped(call) : read_from_file(call);
  }
  return ir::Operand::variable(pack(made, call.type, call.span, target));
}

/// `dense(b, n, m)`
FunctionLowering::Dense FunctionLowering::read_from_blob(const ast::Call& call) {
  Operands operands = {value(*call.resolved_arguments[0]), int_constant(static_cast<std::int64_t>(open_axis(call)))};
  for (std::size_t i = 1; i < call.resolved_arguments.size(); ++i)
    operands.push_back(value(*call.resolved_arguments[i]));
  return read_by("@dense", call, std::move(operands));
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
  const std::size_t open = open_axis(call);
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

}  // namespace raddle::lowering
