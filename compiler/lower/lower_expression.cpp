#include <stdexcept>

#include "compiler/lower/lower_function.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

namespace {

OpKind op_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::or_: return OpKind::or_;
    case ast::BinaryOp::and_: return OpKind::and_;
    case ast::BinaryOp::eq: return OpKind::eq;
    case ast::BinaryOp::ne: return OpKind::ne;
    case ast::BinaryOp::lt: return OpKind::lt;
    case ast::BinaryOp::le: return OpKind::le;
    case ast::BinaryOp::gt: return OpKind::gt;
    case ast::BinaryOp::ge: return OpKind::ge;
    case ast::BinaryOp::add: return OpKind::add;
    case ast::BinaryOp::sub: return OpKind::sub;
    case ast::BinaryOp::mul: return OpKind::mul;
    case ast::BinaryOp::div: return OpKind::div;
    case ast::BinaryOp::idiv: return OpKind::idiv;
    case ast::BinaryOp::mod: return OpKind::mod;
    case ast::BinaryOp::pow: return OpKind::pow;
    case ast::BinaryOp::format: return OpKind::call_builtin;
  }
  return OpKind::copy;
}

}  // namespace

ir::Operand FunctionLowering::value(const ast::Expr& expr, ir::VarId target) {
  if (types().is_dense(expr.type) && expr.conversion != ast::Conversion::none) return converted_dense(expr, target);
  if (ast::number_of(expr.conversion) == TypeStore::error) return unwidened(expr, target);
  return converted(unwidened(expr, ir::none), expr.conversion, expr.span, target);
}

/// A number.
ir::Operand FunctionLowering::converted(ir::Operand operand, ast::Conversion conversion, Span span, ir::VarId target) {
  if (conversion == ast::Conversion::as_int32) operand = converted(operand, TypeStore::int32, span);
  if (conversion == ast::Conversion::as_float32) operand = converted(operand, TypeStore::float32, span);
  return converted(operand, ast::number_of(conversion), span, target);
}

/// A dense array that becomes something else.
ir::Operand FunctionLowering::converted_dense(const ast::Expr& expr, ir::VarId target) {
  if (ast::is_growing(expr.conversion)) {
    const Dense parts = ast::number_of(expr.conversion) != TypeStore::error
                            ? parts_of(dense_value(expr, ir::none).index)
                        : expr.kind == ExprKind::Name ? copied_input(variable_of(as<ast::Name>(expr).variable))
                                                      : unwidened_view(expr);
    ir::Operand elements = parts.elements;
    if (parts.extents.size() > 1) {
      const TypeId rows = context_.program.types.array_of(TypeStore::int_, type_of(elements));
      elements = call_builtin_named("@rows", {elements, parts.extents[0], parts.extents[1]}, rows, expr.span);
    }
    return target == ir::none ? elements : emit_value(OpKind::copy, {elements}, type_of(elements), expr.span, target);
  }
  if (!ast::is_text(expr.conversion)) return dense_value(expr, target);
  const char* const text_of = expr.conversion == ast::Conversion::to_shown ? "@shown_dense" : "@dense_text";
  const ir::Operand text = call_builtin_named(text_of, {unwidened(expr, ir::none)}, TypeStore::string, expr.span);
  return target == ir::none ? text : emit_value(OpKind::copy, {text}, TypeStore::string, expr.span, target);
}

/// It has no value before its elements are computed.
bool FunctionLowering::is_computed(const ast::Expr& expr) const {
  if (!types().is_dense(expr.type)) return false;
  switch (expr.kind) {
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::ArrayLiteral:
    case ExprKind::Range: return true;
    case ExprKind::Index: return types().is_dense(as<ast::Index>(expr).base->type);
    case ExprKind::Call: return as<ast::Call>(expr).is_lifted;
    default: return false;
  }
}

bool FunctionLowering::is_dense_value(const ast::Expr& expr) const {
  const bool is_converted = ast::number_of(expr.conversion) != TypeStore::error && !ast::is_growing(expr.conversion);
  return is_computed(expr) || (types().is_dense(expr.type) && is_converted);
}

ir::Operand FunctionLowering::unwidened(const ast::Expr& expr, ir::VarId target) {
  if (is_computed(expr)) return dense_value(expr, target);
  ir::Operand known;
  switch (expr.kind) {
    case ExprKind::IntLiteral: {
      const std::int64_t number = as<ast::IntLiteral>(expr).value;
      known = types().base(expr.type) == TypeStore::float_
                  ? ir::Operand::constant(context_.module.constant(static_cast<double>(number)))
                  : int_constant(number);
      break;
    }
    case ExprKind::FloatLiteral:
      known = ir::Operand::constant(context_.module.constant(as<ast::FloatLiteral>(expr).value));
      break;
    case ExprKind::StringLiteral:
      known = ir::Operand::constant(context_.module.constant(as<ast::StringLiteral>(expr).value));
      break;
    case ExprKind::BoolLiteral:
      known = ir::Operand::constant(context_.module.constant(as<ast::BoolLiteral>(expr).value));
      break;
    case ExprKind::Name: known = name(as<ast::Name>(expr)); break;
    case ExprKind::FileName: known = value(*as<ast::FileName>(expr).file); break;
    case ExprKind::Unary: return unary(as<ast::Unary>(expr), target);
    case ExprKind::Binary: return binary(as<ast::Binary>(expr), target);
    case ExprKind::Call: {
      const auto& call_expr = as<ast::Call>(expr);
      const bool has_target = target != ir::none;
      const Operands outputs = call(call_expr, has_target ? std::vector{target} : std::vector<ir::VarId>{});
      return outputs.empty() ? ir::Operand() : outputs.front();
    }
    case ExprKind::Index: return index(as<ast::Index>(expr), target);
    case ExprKind::Field: return field(as<ast::Field>(expr), target);
    case ExprKind::ArrayLiteral: {
      Operands elements;
      for (const ast::ExprPtr& element : as<ast::ArrayLiteral>(expr).elements) elements.push_back(value(*element));
      return emit_value(OpKind::array_list, std::move(elements), expr.type, expr.span, target);
    }
    case ExprKind::MapLiteral: {
      Operands entries;
      for (const auto& [entry_key, element] : as<ast::MapLiteral>(expr).entries) {
        entries.push_back(value(*entry_key));
        entries.push_back(value(*element));
      }
      return emit_value(OpKind::array_map, std::move(entries), expr.type, expr.span, target);
    }
    case ExprKind::Range: return range(as<ast::Range>(expr), target);
    case ExprKind::Tuple:
    case ExprKind::Slice: not_supported(expr.span, "a slice or tuple here"); break;
  }
  return target == ir::none ? known : emit_value(OpKind::copy, {known}, expr.type, expr.span, target);
}

ir::Operand FunctionLowering::name(const ast::Name& name) {
  if (name.is_end) return emit_value(OpKind::sub, {ends_.back(), int_constant(1)}, TypeStore::int_, name.span);
  const Variable& variable = context_.program.variables[name.variable];
  if (variable.role == VariableRole::constant && variable.constant) return value(*variable.constant);
  const ir::Operand operand = whole_input(variable_of(name.variable));
  if (types().kind(variable.type) != TypeKind::updateable) return operand;
  return emit_value(OpKind::update_get, {operand}, TypeStore::float_, name.span);
}

ir::Operand FunctionLowering::unary(const ast::Unary& unary, ir::VarId target) {
  return apply(unary, value(*unary.operand), unary.type, target);
}

ir::Operand FunctionLowering::apply(const ast::Unary& unary, ir::Operand operand, TypeId type, ir::VarId target) {
  return computed(unary.op == ast::UnaryOp::negate ? OpKind::neg : OpKind::not_, {operand}, type, unary.span, target);
}

/// Of operands that are widened: see ExpressionChecker::as_one_type().
ir::Operand FunctionLowering::computed(OpKind kind, Operands operands, TypeId type, Span span, ir::VarId target) {
  const TypeId base = types().base(type);
  if (!TypeStore::is_narrow(base)) return emit_value(kind, std::move(operands), type, span, target);
  const ir::Operand wide = emit_value(kind, std::move(operands), TypeStore::wide(base), span);
  const ir::Operand narrow = call_builtin_named(base == TypeStore::int32 ? "int32" : "@rounded32", {wide}, base, span);
  return target == ir::none ? narrow : emit_value(OpKind::copy, {narrow}, type, span, target);
}

ir::Operand FunctionLowering::binary(const ast::Binary& binary, ir::VarId target) {
  if (binary.op == ast::BinaryOp::format) return format(binary, target);
  const ir::Operand left = value(*binary.left);
  return apply(binary, left, value(*binary.right), binary.type, target);
}

ir::Operand FunctionLowering::apply(const ast::Binary& binary, ir::Operand left, ir::Operand right, TypeId type,
                                    ir::VarId target) {
  OpKind kind = op_of(binary.op);
  const bool makes_string = types().base(type) == TypeStore::string;
  if (makes_string && binary.op == ast::BinaryOp::add) kind = OpKind::concat;
  if (makes_string && binary.op == ast::BinaryOp::div) kind = OpKind::path_join;
  const Span span = binary.span;
  if (kind != OpKind::pow) return computed(kind, {left, right}, type, span, target);
  // ints are raised as floats
  const auto widened = [&](ir::Operand operand) { return converted(operand, TypeStore::float_, span); };
  const ir::Operand base = widened(left), exponent = widened(right);
  const bool is_square = exponent.is_constant && context_.module.constants[exponent.index] == ir::Constant(2.0);
  if (is_square) return computed(OpKind::mul, {base, base}, type, span, target);
  if (types().base(type) == TypeStore::float32) {
    const ir::Operand power = call_builtin_named("@pow_32", {base, exponent}, TypeStore::float32, span);
    return target == ir::none ? power : emit_value(OpKind::copy, {power}, type, span, target);
  }
  return computed(kind, {base, exponent}, type, span, target);
}

ir::Operand FunctionLowering::format(const ast::Binary& binary, ir::VarId target) {
  Operands operands{value(*binary.left)};
  if (binary.right->kind == ExprKind::Tuple) {
    for (const ast::ExprPtr& element : as<ast::Tuple>(*binary.right).elements) operands.push_back(value(*element));
  } else {
    operands.push_back(value(*binary.right));
  }
  std::vector<TypeId> operand_types;
  for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
  const ir::VarId result = target == ir::none ? temporary(TypeStore::string, binary.span) : target;
  ir::Op& op = emit(OpKind::call_builtin, std::move(operands), {result}, binary.span);
  op.callee = builtin_named("sprintf");
  op.operand_types = std::move(operand_types);
  return ir::Operand::variable(result);
}

std::uint32_t FunctionLowering::builtin_named(std::string_view name) const {
  const auto table = stdlib::builtins();
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (table[i].name == name) return i;
  throw std::logic_error("lowering: the library has no `" + std::string(name) + "`");
}

ir::Operand FunctionLowering::key(const ast::Index& index) {
  if (index.indices.size() != 1 || index.indices[0]->kind == ExprKind::Slice) {
    not_supported(index.span, "several indices or a slice of a growing array");
    return int_constant(0);
  }
  return value(*index.indices[0]);
}

ir::Operand FunctionLowering::index(const ast::Index& index, ir::VarId target) {
  if (types().is_dense(index.base->type)) return dense_index(index, target);
  const ir::Operand base = value(*index.base);
  const ir::Operand at = key(index);
  return emit_value(OpKind::array_get, {base, at}, index.type, index.span, target);
}

ir::Operand FunctionLowering::field(const ast::Field& field, ir::VarId target) {
  const ir::Operand base = value(*field.base);
  const ir::VarId result = target == ir::none ? temporary(field.type, field.span) : target;
  emit(OpKind::struct_get, {base}, {result}, field.span).number = field.index;
  return ir::Operand::variable(result);
}

FunctionLowering::Operands FunctionLowering::range_bounds(const ast::Range& range) {
  const ir::Operand low = value(*range.low);
  const ir::Operand high = value(*range.high);
  if (range.step) return {low, high, value(*range.step)};
  const bool is_float = types().base(type_of(low)) == TypeStore::float_;
  return {low, high, is_float ? ir::Operand::constant(context_.module.constant(1.0)) : int_constant(1)};
}

ir::Operand FunctionLowering::range(const ast::Range& range, ir::VarId target) {
  return emit_value(OpKind::array_range, range_bounds(range), range.type, range.span, target);
}

ir::Operand FunctionLowering::condition(const ast::Expr& expr) {
  const ir::Operand operand = value(expr);
  if (types().base(type_of(operand)) != TypeStore::int_) return operand;
  return emit_value(OpKind::ne, {operand, int_constant(0)}, TypeStore::boolean, expr.span);
}

ir::Operand FunctionLowering::converted(ir::Operand operand, TypeId wanted, Span span, ir::VarId target) {
  const TypeId to = types().base(wanted), from = types().base(type_of(operand));
  const auto given = [&](ir::Operand made) {
    return target == ir::none ? made : emit_value(OpKind::copy, {made}, type_of(made), span, target);
  };
  if (!TypeStore::is_number(from) || !TypeStore::is_number(to) || from == to) return given(operand);
  if (from == TypeStore::int_ && to == TypeStore::float_ && operand.is_constant) {
    const auto number = static_cast<double>(std::get<std::int64_t>(context_.module.constants[operand.index]));
    return given(ir::Operand::constant(context_.module.constant(number)));
  }
  const TypeId wide = TypeStore::wide(to);
  if (from == TypeStore::int32) operand = call_builtin_named("@int_of_int32", {operand}, TypeStore::int_, span);
  if (from == TypeStore::float32) operand = call_builtin_named("@float_of_float32", {operand}, TypeStore::float_, span);
  if (TypeStore::wide(from) != wide) {
    if (to == TypeStore::float_) return emit_value(OpKind::int_to_float, {operand}, TypeStore::float_, span, target);
    operand = converted(operand, wide, span);
  }
  if (TypeStore::is_narrow(to)) operand = call_builtin_named(types().name(to), {operand}, to, span);
  return given(operand);
}

}  // namespace raddle::lowering
