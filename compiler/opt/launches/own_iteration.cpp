#include "compiler/opt/launches/own_iteration.hpp"

#include <algorithm>

#include "compiler/ir/kernel_operator.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

const ir::Op* OwnIteration::maker_of(ir::VarId array) const {
  const auto makes = [&](const ir::Op& op) { return op.kind == OpKind::array_new && op.results[0] == array; };
  const auto found = std::ranges::find_if(ops(), makes);
  return found == ops().end() ? nullptr : &*found;
}

bool OwnIteration::is_dense(ir::VarId array) const {
  const ir::Op* const made = maker_of(array);
  const auto type = ir::kernel_type(*module_.types, function_.variables[array].type);
  return made && !made->operands.empty() && type && vm::is_array(*type);
}

bool OwnIteration::find_writers(std::set<ir::VarId> arrays, std::optional<std::size_t> loop) {
  arrays_ = std::move(arrays);
  if (loop) {
    writing_.insert(*loop);
    for (const ir::VarId array : writers_.held_by(ops()[*loop])) arrays_.insert(array);
  }
  for (bool grows = !arrays_.empty(); grows;) {
    grows = false;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      const std::vector<ir::VarId> held = writers_.held_by(ops()[i]);
      if (std::ranges::none_of(held, [&](ir::VarId array) { return arrays_.contains(array); })) continue;
      grows |= writing_.insert(i).second;
      for (const ir::VarId array : held) grows |= arrays_.insert(array).second;
    }
  }
  return std::ranges::all_of(arrays_, [&](ir::VarId array) { return is_dense(array); });
}

bool OwnIteration::can_be_one() {
  for (const std::size_t i : writing_)
    for (const ir::VarId id : variables_assigned(function_, ops()[i]))
      if (!is_inside(i, id)) assigned_.insert(id);
  const auto is_own = [&](ir::VarId id) { return function_.variables[id].region == region_; };
  return std::ranges::all_of(assigned_, is_own) && find_results() && knows_all_inputs();
}

bool OwnIteration::find_results() {
  std::set<ir::VarId> read(function_.outputs.begin(), function_.outputs.end());
  for (std::size_t i = 0; i < ops().size(); ++i)
    if (!writing_.contains(i))
      for (const ir::VarId id : variables_read(function_, ops()[i])) read.insert(id);
  return std::ranges::all_of(assigned_, [&](ir::VarId id) {
    if (!read.contains(id) && !is_read_around(id)) return true;
    const auto gives = [&](std::size_t i) { return std::ranges::find(ops()[i].results, id) != ops()[i].results.end(); };
    const auto giver = std::ranges::find_if(writing_, gives);
    if (giver == writing_.end()) return false;
    results_[id] = *giver;
    return can_be_stored(id);
  });
}

/// A number, or a dense array of numbers that a loop carries: it has the extents that it began with.
bool OwnIteration::can_be_stored(ir::VarId result) const {
  const TypeId type = module_.types->base(function_.variables[result].type);
  if (type == TypeStore::int_ || type == TypeStore::float_ || type == TypeStore::boolean) return true;
  const ir::Op& loop = ops()[results_.at(result)];
  if (!module_.types->is_dense(type) || loop.kind != OpKind::loop) return false;
  const auto place = static_cast<std::size_t>(std::ranges::find(loop.results, result) - loop.results.begin());
  const Operand first = loop.operands[place];
  return !first.is_constant && !assigned_.contains(first.index) &&
         ir::kernel_type(*module_.types, module_.types->dense_elements(type)).has_value();
}

/// As a condition of the loop that the region is the body of, or its next value.
bool OwnIteration::is_read_around(ir::VarId variable) const {
  bool found = false;
  for (const ir::Region& each : function_.regions)
    for (const ir::Op& op : each.ops)
      if (std::ranges::find(op.regions, region_) != op.regions.end())
        visit_operands(op, [&](const Operand& operand) { found = found || operand == Operand::variable(variable); });
  return found;
}

bool OwnIteration::is_inside(std::size_t op, ir::VarId id) const {
  bool found = false;
  visit_nested(function_, ops()[op], [&](const ir::Op& inner) {
    for (const ir::RegionId nested : inner.regions) found = found || function_.variables[id].region == nested;
  });
  return found;
}

/// They would wait for themselves if what they read depends on what they give.
bool OwnIteration::knows_all_inputs() const {
  const auto is_given = [&](ir::VarId id) { return arrays_.contains(id) || assigned_.contains(id); };
  std::set<ir::VarId> dependent = arrays_;
  dependent.insert(assigned_.begin(), assigned_.end());
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      const auto is_dependent = [&](ir::VarId id) { return dependent.contains(id); };
      if (writing_.contains(i) || !std::ranges::any_of(variables_read(function_, ops()[i]), is_dependent)) continue;
      for (const ir::VarId id : variables_assigned(function_, ops()[i])) grows |= dependent.insert(id).second;
      for (const ir::VarId id : writers_.held_by(ops()[i])) grows |= dependent.insert(id).second;
    }
  }
  const auto is_extent = [&](Operand extent) { return extent.is_constant || !dependent.contains(extent.index); };
  return std::ranges::all_of(arrays_,
                             [&](ir::VarId id) { return std::ranges::all_of(maker_of(id)->operands, is_extent); }) &&
         std::ranges::all_of(writing_, [&](std::size_t i) {
           return std::ranges::all_of(variables_read(function_, ops()[i]),
                                      [&](ir::VarId id) { return is_given(id) || !dependent.contains(id); });
         });
}

std::size_t most_tries(const ir::Function& function) {
  constexpr std::size_t most_looked_at = 1 << 21;  // operations
  std::size_t operations = 1;
  for (const ir::Region& region : function.regions) operations += region.ops.size();
  return most_looked_at / operations;
}

bool is_in_launch(const ir::Function& function, ir::RegionId region) {
  for (; region != ir::none; region = function.regions[region].parent)
    for (const ir::Region& around : function.regions)
      for (const ir::Op& op : around.ops)
        if (op.launch != ir::none && std::ranges::find(op.regions, region) != op.regions.end()) return true;
  return false;
}

}  // namespace raddle::opt
