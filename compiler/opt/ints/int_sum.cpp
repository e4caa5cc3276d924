#include "compiler/opt/ints/int_sum.hpp"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "stdlib/builtins.hpp"

namespace raddle::ints {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::int64_t most = std::int64_t{1} << 61;

/// What assigns a variable of a function.
std::vector<const ir::Op*> makers_in(const ir::Function& function, ir::VarId variable) {
  std::vector<const ir::Op*> found;
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (std::ranges::find(op.results, variable) != op.results.end()) found.push_back(&op);
  return found;
}

IntSum followed(const ir::Module& module, Operand operand, const std::function<const ir::Op*(Operand)>& maker,
                SumsOf of, unsigned calls, unsigned& steps);

/// A field of what a call gives, if it is one of the call's operands and a number: in each branch that gives it.
/// @param calls  that may still be followed
std::optional<IntSum> field_of_call(const ir::Module& module, const ir::Op& call, Operand result, std::int64_t field,
                                    SumsOf of, unsigned calls, unsigned& steps) {
  const ir::Function& callee = module.functions[call.callee];
  const auto place = std::ranges::find(call.results, result.index) - call.results.begin();
  if (callee.kind != ir::FunctionKind::composite || static_cast<std::size_t>(place) >= callee.outputs.size() ||
      calls == 0)
    return std::nullopt;
  const auto maker = [&](Operand operand) -> const ir::Op* {
    const std::vector<const ir::Op*> all = makers_in(callee, operand.index);
    return all.size() == 1 ? all[0] : nullptr;
  };
  std::optional<IntSum> all;
  for (const ir::Op* const made : makers_in(callee, callee.outputs[static_cast<std::size_t>(place)])) {
    if (made->kind != OpKind::struct_make) return std::nullopt;
    const IntSum one = followed(module, made->operands[static_cast<std::size_t>(field)], maker, of, calls - 1, steps);
    if (all && all != one) return std::nullopt;
    all = one;
  }
  if (!all) return std::nullopt;
  const IntSum& found = *all;
  if (!found.base) return found;
  if (found.base->is_constant) return std::nullopt;
  const auto parameter = std::ranges::find(callee.parameters, found.base->index) - callee.parameters.begin();
  if (static_cast<std::size_t>(parameter) >= callee.parameters.size()) return std::nullopt;
  return IntSum{call.operands[static_cast<std::size_t>(parameter)], found.offset};
}

/// @param steps  that are left: what is assigned in a circle never comes to an end
IntSum followed(const ir::Module& module, Operand operand, const std::function<const ir::Op*(Operand)>& maker,
                SumsOf of, unsigned calls, unsigned& steps) {
  IntSum sum{operand, 0};
  const auto add = [&](std::int64_t term) {
    if (sum.offset + term > most || sum.offset + term < -most) return false;
    sum.offset += term;
    return true;
  };
  while (steps-- > 0) {
    if (const auto known = int_constant(module, *sum.base)) return {std::nullopt, sum.offset + *known};
    const ir::Op* const op = sum.base->is_constant ? nullptr : maker(*sum.base);
    if (op == nullptr) return sum;
    if (op->kind == OpKind::struct_get) {
      const ir::Op* const made = op->operands[0].is_constant ? nullptr : maker(op->operands[0]);
      if (made && made->kind == OpKind::struct_make) {
        sum.base = made->operands[static_cast<std::size_t>(op->number)];
        continue;
      }
      const auto found = made && made->kind == OpKind::call
                             ? field_of_call(module, *made, op->operands[0], op->number, of, calls, steps)
                             : std::nullopt;
      if (!found || !add(found->offset)) return sum;
      if (!found->base) return {std::nullopt, sum.offset};
      sum.base = found->base;
    } else if (is_called(*op, "@joint_extent")) {
      const IntSum one = followed(module, op->operands[1], maker, of, calls, steps),
                   other = followed(module, op->operands[2], maker, of, calls, steps);
      if (one != other) return sum;
      sum.base = op->operands[1];
    } else if (op->kind == OpKind::copy || is_called(*op, "@same_extent")) {
      sum.base = op->operands[0];
    } else if (is_called(*op, "@extent") || is_called(*op, "@fits_slice")) {
      sum.base = op->operands[1];
    } else if (is_called(*op, "@reshaped")) {
      sum.base = op->operands[static_cast<std::size_t>(1 + *int_constant(module, op->operands[0]))];
    } else if (is_called(*op, "@slice") && of == SumsOf::counts) {
      const IntSum low = followed(module, op->operands[0], maker, of, calls, steps),
                   high = followed(module, op->operands[1], maker, of, calls, steps);
      if ((low.base && low.base != high.base) || !add(high.offset - low.offset + 1)) return sum;
      return {low.base ? std::nullopt : high.base, sum.offset};
    } else if (op->kind == OpKind::add || op->kind == OpKind::sub || op->kind == OpKind::index_add) {
      const auto right = int_constant(module, op->operands[1]), left = int_constant(module, op->operands[0]);
      const bool is_left = op->kind != OpKind::sub && left && !right;
      if (!right && !is_left) return sum;
      if (!add(is_left ? *left : op->kind != OpKind::sub ? *right : -*right)) return sum;
      sum.base = op->operands[is_left ? 1 : 0];
    } else {
      return sum;
    }
  }
  steps = 0;
  return sum;
}

}  // namespace

bool is_called(const ir::Op& op, std::string_view name) {
  return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
}

std::optional<std::int64_t> int_constant(const ir::Module& module, Operand operand) {
  if (!operand.is_constant) return std::nullopt;
  const auto* const found = std::get_if<std::int64_t>(&module.constants[operand.index]);
  return found == nullptr || *found > most || *found < -most ? std::nullopt : std::optional(*found);
}

IntSum int_sum(const ir::Module& module, Operand operand, const std::function<const ir::Op*(Operand)>& maker, SumsOf of,
               unsigned calls) {
  unsigned steps = 1000;
  return followed(module, operand, maker, of, calls, steps);
}

}  // namespace raddle::ints
