#include "compiler/opt/launch_nests.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/ir/nest_values.hpp"
#include "compiler/opt/infer_leaves.hpp"
#include "compiler/opt/loop_body_copier.hpp"
#include "compiler/opt/uses.hpp"

namespace raddle::opt {

namespace {

/// The inner loop's range and arrays are there before the outer loop.
bool is_same_for_all(const ir::Function& around, const ir::Op& inner, const LoopBodyCopier& outer) {
  const auto is_outside = [&](ir::Operand operand) { return operand.is_constant || !outer.declares(operand.index); };
  const auto is_access_outside = [&](const ir::Access& access) { return is_outside(access.data); };
  return std::ranges::all_of(inner.operands, is_outside) &&
         std::ranges::all_of(around.launches[inner.launch].accesses, is_access_outside);
}

}  // namespace

void make_launch_nest(ir::Module& module, ir::Function& around, ir::Op& loop) {
  if (loop.kind != ir::OpKind::foreach_range || loop.launch != ir::none ||
      type_of(module, around, loop.operands[0]) != TypeStore::int_)
    return;
  const ir::Op* const inner = ir::launch_within(around, loop);
  if (!inner) return;
  std::vector<ir::VarId> values = ir::nest_values(around, loop, *inner);
  if (values.empty()) return;
  LoopBodyCopier prelude(module, around, loop, "prelude");
  if (prelude.counter_is_read() || prelude.assigns_outside() || !is_same_for_all(around, *inner, prelude)) return;
  std::set<ir::VarId> needed(values.begin(), values.end());
  const ir::Region& body = around.regions[loop.regions[0]];
  for (auto op = body.ops.rbegin(); op != body.ops.rend(); ++op) {
    if (&*op == inner) continue;
    const std::vector<ir::VarId> assigned = variables_assigned(around, *op);
    if (!std::ranges::any_of(assigned, [&](ir::VarId id) { return needed.contains(id); })) return;
    for (const ir::VarId id : variables_read(around, *op)) needed.insert(id);
  }
  prelude.add_parameter(body.parameters[0]);
  prelude.copy_body([&](const ir::Op& op) { return &op != inner; });
  for (const ir::VarId value : values) {
    if (!TypeStore::is_number_or_truth(module.types->base(around.variables[value].type))) return;
    prelude.add_output(ir::Operand::variable(value), loop.span);
  }
  ir::Function made = prelude.take_function();
  if (!can_be_leaf(module, made) || ir::HeavyLeaves(module).is_heavy(made) || ir::calls_library(module, made)) return;
  module.functions.push_back(std::move(made));
  loop.nest = static_cast<ir::NestId>(around.nests.size());
  around.nests.push_back({.launch = inner->launch,
                          .prelude = static_cast<ir::FunctionId>(module.functions.size() - 1),
                          .captures = prelude.captures(),
                          .values = std::move(values)});
}

}  // namespace raddle::opt
