#include "compiler/opt/rewrite/loop_shapes.hpp"

#include <algorithm>

#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

bool is_key_operation(OpKind kind) {
  return kind == OpKind::index_add || kind == OpKind::index_mul || kind == OpKind::add || kind == OpKind::sub ||
         kind == OpKind::mul;
}

}  // namespace

const ir::Op* LoopShapes::maker_of(Operand operand) {
  if (operand.is_constant) return nullptr;
  if (makers_.empty()) find_makers();
  return makers_[operand.index];
}

void LoopShapes::find_makers() {
  const std::vector<std::uint32_t> assignments = count_assignments(function_);
  makers_.assign(function_.variables.size(), nullptr);
  for (ir::RegionId region = 0; region < function_.regions.size(); ++region)
    for (const ir::Op& op : function_.regions[region].ops)
      for (const ir::VarId id : op.results)
        if (assignments[id] == 1 && function_.variables[id].region == region) makers_[id] = &op;
}

bool LoopShapes::is_builtin(const ir::Op& op, std::string_view name) const {
  return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
}

std::optional<std::int64_t> LoopShapes::number(Operand operand) const { return ints::int_constant(module_, operand); }

ints::IntSum LoopShapes::sum_of(Operand operand) {
  return ints::int_sum(
      module_, operand, [this](Operand of) { return maker_of(of); }, ints::SumsOf::counts);
}

const ir::Op* LoopShapes::loop_within(ir::RegionId body) const {
  const ir::Op* found = nullptr;
  for (const ir::Op& op : function_.regions[body].ops) {
    if (op.kind == OpKind::foreach_range && !found)
      found = &op;
    else if (!op.regions.empty() || !can_not_fail(module_, function_, op))
      return nullptr;
  }
  return found;
}

bool LoopShapes::is_from_outside(Operand operand, const LoopBodies& bodies) const {
  return operand.is_constant || std::ranges::find(bodies, function_.variables[operand.index].region) == bodies.end();
}

bool LoopShapes::is_same_key(Operand one, Operand other, const LoopBodies& bodies, const LoopBodies& other_bodies) {
  if (one.is_constant || other.is_constant) return one == other;
  for (std::size_t level = 0; level < bodies.size(); ++level) {
    const ir::VarId point = function_.regions[bodies[level]].parameters[0];
    const ir::VarId other_point = function_.regions[other_bodies[level]].parameters[0];
    if (one.index == point || other.index == other_point) return one.index == point && other.index == other_point;
  }
  if (is_from_outside(one, bodies) || is_from_outside(other, other_bodies)) return one == other;
  const ir::Op *const made = maker_of(one), *const other_made = maker_of(other);
  return made && other_made && made->kind == other_made->kind && is_key_operation(made->kind) &&
         std::ranges::equal(made->operands, other_made->operands,
                            [&](Operand a, Operand b) { return is_same_key(a, b, bodies, other_bodies); });
}

Operand LoopShapes::without_waits(Operand operand) {
  for (;;) {
    const ir::Op* const sum = maker_of(operand);
    const ir::Op* const waits = sum && sum->kind == OpKind::index_add ? maker_of(sum->operands[1]) : nullptr;
    if (!waits || waits->kind != OpKind::index_mul || number(waits->operands[1]) != 0) return operand;
    operand = sum->operands[0];
  }
}

bool LoopShapes::goes_over_product(const ir::Op& loop, std::span<const Operand> extents) {
  if (number(loop.operands[0]) != 0 || number(loop.operands[2]) != 1) return false;
  if (const std::optional<std::int64_t> last = number(loop.operands[1])) {
    const std::optional<std::int64_t> product = product_of(extents);
    return product && *product - 1 == *last;
  }
  const ir::Op* const last = maker_of(without_waits(loop.operands[1]));
  if (!last || last->operands.size() != 2) return false;
  const std::optional<std::int64_t> offset = number(last->operands[1]);
  const bool is_one_less =
      (last->kind == OpKind::index_add && offset == -1) || (last->kind == OpKind::sub && offset == 1);
  return (is_one_less && is_product(last->operands[0], extents)) ||
         (extents.size() == 1 &&
          goes_over_rows(loop, Operand::variable(function_.regions[loop.regions[0]].parameters[0]), extents));
}

/// @return  none: not all are known, or it is no int64
std::optional<std::int64_t> LoopShapes::product_of(std::span<const Operand> extents) const {
  std::int64_t product = 1;
  for (const Operand extent : extents) {
    const std::optional<std::int64_t> factor = number(extent);
    if (!factor || __builtin_mul_overflow(product, *factor, &product)) return std::nullopt;
  }
  return product;
}

bool LoopShapes::is_product(Operand count, std::span<const Operand> extents) {
  if (extents.size() == 1) return is_same_int(extents[0], count);
  const ir::Op* const product = maker_of(count);
  return product && product->kind == OpKind::mul && is_same_int(extents.back(), product->operands[1]) &&
         is_product(product->operands[0], extents.first(extents.size() - 1));
}

bool LoopShapes::goes_over_rows(const ir::Op& outermost, Operand key, std::span<const Operand> extents) {
  std::vector<ir::VarId> points;
  for (const ir::Op* loop = &outermost; loop; loop = loop_within(loop->regions[0])) {
    if (points.size() == extents.size() || number(loop->operands[0]) != 0 || number(loop->operands[2]) != 1)
      return false;
    ints::IntSum end = sum_of(without_waits(loop->operands[1]));
    ++end.offset;
    if (end != sum_of(extents[points.size()])) return false;
    points.push_back(function_.regions[loop->regions[0]].parameters[0]);
  }
  return points.size() == extents.size() && is_row_major(key, points, extents);
}

bool LoopShapes::is_row_major(Operand key, std::span<const ir::VarId> points, std::span<const Operand> extents) {
  if (points.size() == 1) return key == Operand::variable(points[0]);
  const ir::Op* const sum = maker_of(key);
  if (!sum || sum->kind != OpKind::index_add || sum->operands[1] != Operand::variable(points.back())) return false;
  const ir::Op* const row = maker_of(sum->operands[0]);
  return row && row->kind == OpKind::index_mul && is_same_int(row->operands[1], extents.back()) &&
         is_row_major(row->operands[0], points.first(points.size() - 1), extents.first(extents.size() - 1));
}

}  // namespace raddle::opt
