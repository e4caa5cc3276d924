#include "compiler/opt/rewrite/straighten.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace raddle::opt {

namespace {

using ir::OpKind;

bool is_constant(const ir::Operand& operand) { return operand.is_constant; }

/// The region that runs in any case. @return none: it depends
std::optional<ir::RegionId> region_taken(const ir::Module& module, const ir::Op& op) {
  if (op.kind == OpKind::wait && std::ranges::all_of(op.operands, is_constant)) return op.regions[0];
  if (op.kind != OpKind::if_ || !op.operands[0].is_constant) return std::nullopt;
  const ir::Constant& condition = module.constants[op.operands[0].index];
  if (condition != ir::Constant(false) && condition != ir::Constant(std::int64_t{0})) return op.regions[0];
  return op.regions.size() == 2 ? op.regions[1] : ir::none;
}

}  // namespace

std::optional<std::int64_t> trip_count(const KnownValues& known, const ir::Op& foreach_range) {
  const auto low = known.number(foreach_range.operands[0]), high = known.number(foreach_range.operands[1]),
             step = known.number(foreach_range.operands[2]);
  if (!low || !high || !step || *step <= 0) return std::nullopt;
  if (*high < *low) return 0;
  std::int64_t distance = 0, count = 0;
  if (__builtin_sub_overflow(*high, *low, &distance) || __builtin_add_overflow(distance / *step, 1, &count))
    return std::nullopt;
  return count;
}

void take_out(ir::Function& function, ir::RegionId nested, ir::RegionId around, std::vector<ir::Op>& ops) {
  for (const ir::VarId variable : std::exchange(function.regions[nested].variables, {})) {
    function.variables[variable].region = around;
    function.regions[around].variables.push_back(variable);
  }
  for (ir::Op& op : std::exchange(function.regions[nested].ops, {})) {
    for (std::size_t i = 0; i < op.regions.size(); ++i)
      if (op.kind != OpKind::loop || i == 0) function.regions[op.regions[i]].parent = around;
    ops.push_back(std::move(op));
  }
}

void clear_region(ir::Function& function, ir::RegionId region) {
  for (const ir::Op& op : std::exchange(function.regions[region].ops, {}))
    for (const ir::RegionId nested : op.regions) clear_region(function, nested);
  function.regions[region].variables.clear();
  function.regions[region].parameters.clear();
}

bool take_known_branches(const ir::Module& module, ir::Function& function,
                         const std::function<bool(const ir::Op&)>& may) {
  bool changed = false;
  for (ir::RegionId id = 0; id < function.regions.size(); ++id) {
    // what is taken out may be such a branch, too
    for (bool found = true; found; changed |= found) {
      found = false;
      std::vector<ir::Op> ops;
      for (ir::Op& op : std::exchange(function.regions[id].ops, {})) {
        const std::optional<ir::RegionId> taken = region_taken(module, op);
        if (!taken || (may && !may(op))) {
          ops.push_back(std::move(op));
          continue;
        }
        found = true;
        if (*taken != ir::none) take_out(function, *taken, id, ops);
        for (const ir::RegionId left : op.regions) clear_region(function, left);
      }
      function.regions[id].ops = std::move(ops);
    }
  }
  return changed;
}

}  // namespace raddle::opt
