#include "compiler/opt/bodies/fold_constants.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/rewrite/fold_operation.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// Folds until nothing changes. Readers of a folded variable take the constant itself; the copy is dead then.
class Folder {
 public:
  Folder(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), replacements_(function), assignments_(count_assignments(function)) {}

  void run() {
    while (sweep()) continue;
    replacements_.apply(function_);
  }

 private:
  bool sweep() {
    bool changed = false;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      for (ir::Op& op : function_.regions[id].ops) {
        replacements_.apply(op);
        if (is_known(op, id)) continue;
        const std::optional<ir::Constant> result = fold_operation(module_, function_, op);
        if (!result) continue;
        const ir::Operand constant = ir::Operand::constant(module_.constant(*result));
        op.kind = OpKind::copy;
        op.operands = {constant};
        op.operand_types.clear();
        op.callee = ir::none;
        if (!can_replace(op.results[0], id)) continue;
        replacements_.add(op.results[0], constant);
        changed = true;
      }
    }
    return changed;
  }

  bool is_known(const ir::Op& op, ir::RegionId region) const {
    if (op.kind != OpKind::copy || !op.operands[0].is_constant) return false;
    const ir::Operand result = ir::Operand::variable(op.results[0]);
    return replacements_.of(result) != result || !can_replace(op.results[0], region);
  }

  /// Assigned here and nowhere else; outputs are read by the caller, too, but inside a constant will do for them.
  bool can_replace(ir::VarId variable, ir::RegionId region) const {
    return function_.variables[variable].region == region && assignments_[variable] == 1;
  }

  ir::Module& module_;
  ir::Function& function_;
  Replacements replacements_;
  std::vector<std::uint32_t> assignments_;
};

/// Arrays that an operation of the region, or what is in it, inserts into. @return none: it assigns something else from
/// outside of the branch, too
std::optional<std::set<ir::VarId>> inserted_in(const ir::Function& function, ir::RegionId region) {
  std::set<ir::VarId> arrays;
  std::set<ir::RegionId> inside = {region};
  std::vector<ir::VarId> assigned;
  for (const ir::Op& op : function.regions[region].ops)
    visit_nested(function, op, [&](const ir::Op& inner) {
      inside.insert(inner.regions.begin(), inner.regions.end());
      assigned.insert(assigned.end(), inner.results.begin(), inner.results.end());
    });
  for (const ir::Op& op : function.regions[region].ops) arrays.merge(inserted_into(function, op));
  const auto is_inside = [&](ir::VarId id) { return inside.contains(function.variables[id].region); };
  if (!std::ranges::all_of(assigned, is_inside)) return std::nullopt;
  std::erase_if(arrays, is_inside);
  return arrays;
}

/// Of a function that stands in the place of its call, as of one of the library that asks for an axis: both ways fill
/// the same arrays, so nothing is to be told of what is not reached.
bool may_go(const ir::Function& function, const ir::Op& op) {
  if (op.kind != OpKind::if_ || op.regions.size() != 2 || op.span.file < SourceMap::first_inlined) return false;
  const auto one = inserted_in(function, op.regions[0]), other = inserted_in(function, op.regions[1]);
  return one && other && *one == *other;
}

}  // namespace

void fold_constants(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    fold_constants(module, function);
    const auto may = [&](const ir::Op& op) { return may_go(function, op); };
    if (take_known_branches(module, function, may)) ir::count_writers(function);
  }
}

void fold_constants(ir::Module& module, ir::Function& function) { Folder(module, function).run(); }

}  // namespace raddle::opt
