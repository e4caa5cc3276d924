#include "compiler/ir/launch_nest.hpp"

#include <algorithm>

#include "compiler/ir/launch_accesses.hpp"

namespace raddle::ir {

LaunchNest launch_nest(const Module& module, const Function& function, const Op& loop) {
  LaunchNest nest;
  const Region& body = function.regions[loop.regions[0]];
  for (const Op& op : body.ops) {
    if (op.kind != OpKind::foreach_range && op.kind != OpKind::foreach_array) continue;
    if (nest.inner) return {};
    nest.inner = &op;
  }
  if (!nest.inner || nest.inner->kind != OpKind::foreach_range || nest.inner->callee == none) return {};
  const auto contains = [](const std::vector<VarId>& all, VarId id) { return std::ranges::find(all, id) != all.end(); };
  const auto take = [&](Operand operand) {
    if (operand.is_constant || contains(nest.values, operand.index)) return;
    if (contains(body.parameters, operand.index) || contains(body.variables, operand.index))
      nest.values.push_back(operand.index);
  };
  for (const Operand capture : nest.inner->captures) take(capture);
  for (const Operand capture : nest.inner->projected) take(capture);
  for (const LaunchAccess& write : launch_accesses(module, function, *nest.inner).writes)
    for (std::size_t i = 0; i < write.fixed_keys; ++i) take(write.keys[i]);
  return nest;
}

}  // namespace raddle::ir
