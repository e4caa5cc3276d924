#include "compiler/ir/kernel_operator.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "stdlib/builtins.hpp"

namespace raddle::ir {

namespace {

using vm::KernelOp;
using vm::KernelType;

constexpr KernelOp no_op = KernelOp::if_;

/// By the type of the operands.
struct Operator {
  OpKind kind;
  KernelOp of_ints = no_op, of_floats = no_op, of_booleans = no_op;
  bool swaps = false;
};

constexpr Operator operators[] = {
    {OpKind::copy, KernelOp::copy, KernelOp::copy, KernelOp::copy},
    {OpKind::not_, no_op, no_op, KernelOp::not_},
    {OpKind::neg, KernelOp::neg_int, KernelOp::neg_float},
    {OpKind::int_to_float, KernelOp::int_to_float},
    {OpKind::add, KernelOp::add_int, KernelOp::add_float},
    {OpKind::sub, KernelOp::sub_int, KernelOp::sub_float},
    {OpKind::mul, KernelOp::mul_int, KernelOp::mul_float},
    {OpKind::index_add, KernelOp::index_add},
    {OpKind::index_mul, KernelOp::index_mul},
    {OpKind::div, no_op, KernelOp::div_float},
    {OpKind::pow, no_op, KernelOp::pow},
    {OpKind::idiv, KernelOp::idiv},
    {OpKind::mod, KernelOp::mod},
    {OpKind::and_, no_op, no_op, KernelOp::and_},
    {OpKind::or_, no_op, no_op, KernelOp::or_},
    {OpKind::eq, KernelOp::eq_int, KernelOp::eq_float, KernelOp::eq_boolean},
    {OpKind::ne, KernelOp::ne_int, KernelOp::ne_float, KernelOp::ne_boolean},
    {OpKind::lt, KernelOp::lt_int, KernelOp::lt_float},
    {OpKind::le, KernelOp::le_int, KernelOp::le_float},
    {OpKind::gt, KernelOp::lt_int, KernelOp::lt_float, no_op, true},
    {OpKind::ge, KernelOp::le_int, KernelOp::le_float, no_op, true},
    {OpKind::mul_add, no_op, KernelOp::mul_add},
    {OpKind::mul_sub, no_op, KernelOp::mul_sub},
    {OpKind::sub_mul, no_op, KernelOp::sub_mul},
};

}  // namespace

KernelOperator kernel_operator(OpKind kind, KernelType type) {
  const auto* const found = std::ranges::find(operators, kind, &Operator::kind);
  if (found == std::end(operators)) return {};
  const KernelOp op = type == KernelType::float_    ? found->of_floats
                      : type == KernelType::int_    ? found->of_ints
                      : type == KernelType::boolean ? found->of_booleans
                      : kind == OpKind::copy        ? KernelOp::copy
                                                    : no_op;
  return {op, found->swaps};
}

std::optional<KernelType> kernel_type(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  const bool is_array = types.is_array(base);
  if (is_array && types.base(types.at(base).key) != TypeStore::int_) return std::nullopt;
  const TypeId number = is_array ? types.base(types.at(base).element) : base;
  const auto of = [&](KernelType element) { return is_array ? vm::array_of(element) : element; };
  switch (number) {
    case TypeStore::int_: return of(KernelType::int_);
    case TypeStore::float_: return of(KernelType::float_);
    case TypeStore::boolean: return of(KernelType::boolean);
    case TypeStore::int32: return of(KernelType::int32);
    case TypeStore::float32: return of(KernelType::float32);
    default: return std::nullopt;
  }
}

KernelOp library_operator(const Module& module, const Function& function, const Op& op) {
  std::vector<KernelType> inputs;
  bool has_text = false;  // of a message; what is behind it is for that, too
  for (const Operand operand : op.operands) {
    const TypeId type = type_of(module, function, operand);
    has_text = module.types->base(type) == TypeStore::string;
    if (has_text) break;
    const auto input = kernel_type(*module.types, type);
    if (!input) return no_op;
    inputs.push_back(*input);
  }
  const KernelOp found = vm::operation_of_function(stdlib::builtins()[op.callee].name, inputs);
  return vm::has_message(vm::info(found).failure) == has_text ? found : no_op;
}

}  // namespace raddle::ir
