#include "compiler/opt/int_sum.hpp"

#include <string_view>
#include <variant>

#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::int64_t most = std::int64_t{1} << 61;

bool is_called(const ir::Op& op, std::string_view name) {
  return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
}

}  // namespace

std::optional<std::int64_t> int_constant(const ir::Module& module, Operand operand) {
  if (!operand.is_constant) return std::nullopt;
  const auto* const found = std::get_if<std::int64_t>(&module.constants[operand.index]);
  return found == nullptr || *found > most || *found < -most ? std::nullopt : std::optional(*found);
}

IntSum int_sum(const ir::Module& module, Operand operand, const std::function<const ir::Op*(Operand)>& maker,
               SumsOf of) {
  IntSum sum{operand, 0};
  const auto add = [&](std::int64_t term) {
    if (sum.offset + term > most || sum.offset + term < -most) return false;
    sum.offset += term;
    return true;
  };
  for (;;) {
    if (const auto known = int_constant(module, *sum.base)) return {std::nullopt, sum.offset + *known};
    const ir::Op* const op = sum.base->is_constant ? nullptr : maker(*sum.base);
    if (op == nullptr) return sum;
    if (op->kind == OpKind::copy || is_called(*op, "@same_extent")) {
      sum.base = op->operands[0];
    } else if (is_called(*op, "@extent") || is_called(*op, "@fits_slice")) {
      sum.base = op->operands[1];
    } else if (is_called(*op, "@reshaped")) {
      sum.base = op->operands[static_cast<std::size_t>(1 + *int_constant(module, op->operands[0]))];
    } else if (is_called(*op, "@slice") && of == SumsOf::counts) {
      const IntSum low = int_sum(module, op->operands[0], maker, of),
                   high = int_sum(module, op->operands[1], maker, of);
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
}

}  // namespace raddle::opt
