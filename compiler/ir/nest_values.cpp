#include "compiler/ir/nest_values.hpp"

#include <algorithm>

namespace raddle::ir {

const Op* launch_within(const Function& function, const Op& loop) {
  const Op* within = nullptr;
  for (const Op& op : function.regions[loop.regions[0]].ops) {
    if (op.kind != OpKind::foreach_range && op.kind != OpKind::foreach_array) continue;
    if (within) return nullptr;
    within = &op;
  }
  return within && within->kind == OpKind::foreach_range && within->launch != none ? within : nullptr;
}

std::vector<VarId> nest_values(const Function& function, const Op& outer, const Op& inner) {
  const Region& body = function.regions[outer.regions[0]];
  const IndexLaunch& launch = function.launches[inner.launch];
  std::vector<VarId> values;
  const auto contains = [](const std::vector<VarId>& all, VarId id) { return std::ranges::find(all, id) != all.end(); };
  const auto take = [&](Operand operand) {
    if (operand.is_constant || contains(values, operand.index)) return;
    if (contains(body.parameters, operand.index) || contains(body.variables, operand.index))
      values.push_back(operand.index);
  };
  for (const Operand capture : launch.captures) take(capture);
  for (const Operand capture : launch.projected) take(capture);
  for (const Access& access : launch.accesses)
    for (const Key& key : access.keys)
      if (key.has_operand()) take(key.operand);
  return values;
}

}  // namespace raddle::ir
