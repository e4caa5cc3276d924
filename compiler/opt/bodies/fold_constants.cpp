#include "compiler/opt/bodies/fold_constants.hpp"

#include <optional>
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

}  // namespace

void fold_constants(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    fold_constants(module, function);
    if (take_known_branches(module, function)) ir::count_writers(function);
  }
}

void fold_constants(ir::Module& module, ir::Function& function) { Folder(module, function).run(); }

}  // namespace raddle::opt
