#include "compiler/opt/rewrite/known_values.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/opt/rewrite/fold_operation.hpp"

namespace raddle::opt {

using ir::OpKind;

KnownValues::KnownValues(const ir::Module& module, const ir::Function& function, IsOpen is_open)
    : module_(module), function_(function), is_open_(std::move(is_open)) {
  for (const ir::Var& variable : function.variables) {
    const std::uint32_t rank = module.types->rank(module.types->base(variable.type));
    cells_.emplace_back(std::max(rank, 1U));
  }
  const auto varies = [this](ir::VarId variable) { meet(variable, all(variable, Cell::State::varying)); };
  std::ranges::for_each(function.parameters, varies);
  while (has_changed_) {
    has_changed_ = false;
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops) {
        follow(op);
        if (op.kind == OpKind::loop) continue;  // its parameters are followed
        for (const ir::RegionId nested : op.regions) std::ranges::for_each(function.regions[nested].parameters, varies);
      }
  }
}

const ir::Constant* KnownValues::of(ir::Operand operand) const {
  if (operand.is_constant) return &module_.constants[operand.index];
  if (operand.index >= cells_.size()) return nullptr;
  const Cells& cells = cells_[operand.index];
  const bool is_dense = module_.types->is_dense(module_.types->base(function_.variables[operand.index].type));
  return !is_dense && cells[0].state == Cell::State::known ? &cells[0].value : nullptr;
}

std::optional<std::int64_t> KnownValues::number(ir::Operand operand) const {
  const ir::Constant* const value = of(operand);
  if (value == nullptr || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

std::optional<std::vector<std::int64_t>> KnownValues::extents(ir::VarId dense) const {
  std::vector<std::int64_t> found;
  if (dense >= cells_.size()) return std::nullopt;
  for (const Cell& cell : cells_[dense]) {
    if (cell.state != Cell::State::known) return std::nullopt;
    found.push_back(std::get<std::int64_t>(cell.value));
  }
  return found;
}

std::optional<std::int64_t> KnownValues::element_count(ir::VarId dense) const {
  const auto found = extents(dense);
  if (!found) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t extent : *found)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

bool KnownValues::may_be_known(ir::VarId dense) const {
  return dense < cells_.size() &&
         std::ranges::none_of(cells_[dense], [](const Cell& cell) { return cell.state == Cell::State::varying; });
}

KnownValues::Cells KnownValues::all(ir::VarId variable, Cell::State state) const {
  return Cells(cells_[variable].size(), Cell{.state = state});
}

KnownValues::Cells KnownValues::cells_of(ir::Operand operand) const {
  if (!operand.is_constant) return cells_[operand.index];
  return {cell_of(module_.constants[operand.index])};
}

/// Of ints and booleans: floats that are equal may differ, and texts are many.
KnownValues::Cell KnownValues::cell_of(const ir::Constant& value) {
  const bool is_followed = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<bool>(value);
  return is_followed ? Cell{.state = Cell::State::known, .value = value} : Cell{.state = Cell::State::varying};
}

/// What is known only ever becomes less.
void KnownValues::meet(ir::VarId variable, const Cells& with) {
  Cells& cells = cells_[variable];
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell before = cells[i];
    if (before.state == Cell::State::open)
      cells[i] = with[i];
    else if (with[i].state != Cell::State::open && with[i] != before)
      cells[i] = {.state = Cell::State::varying};
    has_changed_ |= cells[i] != before;
  }
}

KnownValues::Cell KnownValues::result_of(const ir::Op& op) const {
  std::vector<const ir::Constant*> operands;
  bool is_open = false;
  for (const ir::Operand& operand : op.operands) {
    if (operand.is_constant) {
      operands.push_back(&module_.constants[operand.index]);
      continue;
    }
    const Cells& cells = cells_[operand.index];
    const TypeId type = module_.types->base(function_.variables[operand.index].type);
    if (cells[0].state == Cell::State::varying || !module_.types->is_scalar(type))
      return {.state = Cell::State::varying};
    is_open |= cells[0].state == Cell::State::open;
    operands.push_back(&cells[0].value);
  }
  if (is_open) return {};
  const auto value = fold_operation(module_, function_, op, operands);
  return value ? cell_of(*value) : Cell{.state = Cell::State::varying};
}

void KnownValues::follow(const ir::Op& op) {
  const auto give_all = [&](Cell::State state) {
    for (const ir::VarId result : op.results) meet(result, all(result, state));
  };
  switch (op.kind) {
    case OpKind::loop: {
      const std::vector<ir::VarId>& carried = function_.regions[op.regions[0]].parameters;
      for (std::size_t i = 0; i < carried.size(); ++i) {
        meet(carried[i], cells_of(op.operands[i]));
        meet(carried[i], cells_of(op.nexts[i]));
        if (!op.results.empty()) meet(op.results[i], cells_[carried[i]]);
      }
      return;
    }
    case OpKind::copy: return meet(op.results[0], cells_of(op.operands[0]));
    case OpKind::struct_make: {
      const ir::VarId made = op.results[0];
      if (!module_.types->is_dense(module_.types->base(function_.variables[made].type)))
        return give_all(Cell::State::varying);
      Cells extents;
      for (const ir::Operand& extent : std::span(op.operands).subspan(1)) extents.push_back(cells_of(extent)[0]);
      return meet(made, extents);
    }
    case OpKind::struct_get: {
      const ir::VarId of = op.operands[0].index;
      const bool is_extent =
          op.number > 0 && module_.types->is_dense(module_.types->base(function_.variables[of].type));
      if (!is_extent) return give_all(Cell::State::varying);
      return meet(op.results[0], {cells_[of][static_cast<std::size_t>(op.number) - 1]});
    }
    case OpKind::call: return give_all(is_open_(op) ? Cell::State::open : Cell::State::varying);
    default:
      if (op.results.size() == 1 && cells_[op.results[0]].size() == 1 &&
          module_.types->is_scalar(module_.types->base(function_.variables[op.results[0]].type)))
        return meet(op.results[0], {result_of(op)});
      return give_all(Cell::State::varying);
  }
}

}  // namespace raddle::opt
