#include "compiler/opt/launches/filled_arrays.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/kernel_operator.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

class FilledArrays {
 public:
  FilledArrays(const ir::Module& module, ir::Function& function)
      : module_(module), types_(*module.types), function_(function) {}

  void run() {
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) note(op);
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops)
        if (op.kind == OpKind::array_insert) note_insert(op, id);
    for (ir::Region& region : function_.regions)
      for (ir::Op& op : region.ops)
        if (op.kind == OpKind::array_new)
          op.is_filled = !op.operands.empty() && !op.is_reduced && is_filled(op.results[0]);
  }

 private:
  bool is_filled(ir::VarId array) const {
    if (!holds_numbers(array) || others_.contains(array)) return false;
    if (by_launches_.contains(array)) return !by_late_ones_.contains(array);
    return by_kernels_.contains(array) || !(by_single_ones_.contains(array) || by_late_ones_.contains(array));
  }
  bool holds_numbers(ir::VarId array) const {
    return ir::kernel_type(types_, types_.at(types_.base(function_.variables[array].type)).element).has_value();
  }

  void note(const ir::Op& op) {
    for (const ir::VarId result : op.results) made_by_[result] = &op;
    for (const ir::RegionId region : op.regions) around_[region] = &op;
    if (op.nest != ir::none || op.launch != ir::none) launches_.insert(op.regions[0]);
    if (op.kernel != ir::none) filling_loops_.insert(op.regions.begin(), op.regions.end());
  }

  void note_insert(const ir::Op& op, ir::RegionId region) {
    const ir::VarId array = op.operands[0].index;
    if (is_by_launch(array, region))
      by_launches_.insert(array);
    else if (is_by_kernel(array, region))
      by_kernels_.insert(array);
    else if (is_in_branches(array, region))
      (is_at_once(op.operands[1], array) && is_at_once(op.operands[2], array) ? by_single_ones_ : by_late_ones_)
          .insert(array);
    else
      others_.insert(array);
  }

  /// No loop is around it.
  bool is_in_branches(ir::VarId array, ir::RegionId region) const {
    for (; region != function_.variables[array].region; region = function_.regions[region].parent) {
      const auto around = around_.find(region);
      if (around == around_.end() || !is_branch(*around->second)) return false;
    }
    return true;
  }

  /// A number that inputs of the function, constants and the array's extents give without waiting for anything else.
  bool is_at_once(const ir::Operand& operand, ir::VarId array) const {
    if (operand.is_constant) return true;
    const auto making = made_by_.find(array);
    if (making != made_by_.end() && making->second->kind == OpKind::array_new &&
        std::ranges::find(making->second->operands, operand) != making->second->operands.end())
      return true;
    const auto made_by = made_by_.find(operand.index);
    if (made_by == made_by_.end()) return function_.variables[operand.index].region == 0;
    const ir::Op& op = *made_by->second;
    const bool is_pure = op.kind == OpKind::call_builtin
                             ? stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure
                             : is_operator(op);
    return is_pure &&
           std::ranges::all_of(op.operands, [&](const ir::Operand& each) { return is_at_once(each, array); });
  }

  /// Of numbers: reads no element and no field.
  bool is_operator(const ir::Op& op) const {
    if (op.kind == OpKind::copy) return true;
    if (op.operands.empty()) return false;
    const auto number = ir::kernel_type(types_, ir::type_of(module_, function_, op.operands[0]));
    return number && ir::kernel_operator(op.kind, *number).op != vm::KernelOp::if_;
  }

  static bool is_branch(const ir::Op& op) { return op.kind == OpKind::if_ || op.kind == OpKind::switch_; }

  /// A launch, or a nest around one, writes the array; it stands where the array is made, or in branches there, or in
  /// loops that compute nothing but numbers for it.
  bool is_by_launch(ir::VarId array, ir::RegionId region) const {
    if (!launches_.contains(region)) return false;
    const ir::RegionId made_in = function_.variables[array].region;
    ir::RegionId parent = function_.regions[region].parent;
    if (parent != made_in && launches_.contains(parent)) parent = function_.regions[parent].parent;
    for (; parent != made_in; parent = function_.regions[parent].parent) {
      if (parent == ir::none) return false;
      const auto around = around_.find(parent);
      if (around == around_.end()) return false;
      const ir::Op& op = *around->second;
      if (!is_branch(op) && !(op.kind == OpKind::foreach_range && only_computes(parent))) return false;
    }
    return true;
  }

  /// A loop with a kernel writes the array; it stands where the array is made, or in branches there.
  bool is_by_kernel(ir::VarId array, ir::RegionId region) const {
    while (region != ir::none && !filling_loops_.contains(region)) region = function_.regions[region].parent;
    while (region != ir::none && filling_loops_.contains(region)) region = function_.regions[region].parent;
    return region != ir::none && is_in_branches(array, region);
  }

  /// But for loops within: what takes long is no concern of theirs.
  bool only_computes(ir::RegionId region) const {
    return std::ranges::all_of(function_.regions[region].ops, [](const ir::Op& op) {
      if (op.kind == OpKind::call_builtin) return stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure;
      return op.kind == OpKind::foreach_range || ir::info(op.kind).effect <= ir::Effect::fails;
    });
  }

  const ir::Module& module_;
  const TypeStore& types_;
  ir::Function& function_;
  std::unordered_map<ir::RegionId, const ir::Op*> around_;  ///< the operation that a region belongs to
  std::unordered_set<ir::RegionId> launches_;               ///< bodies of launches and of nests
  std::unordered_set<ir::RegionId> filling_loops_;          ///< tests and bodies of loops with kernels
  std::unordered_map<ir::VarId, const ir::Op*> made_by_;
  std::unordered_set<ir::VarId> by_launches_, by_kernels_, by_single_ones_;  ///< arrays that such insertions write
  std::unordered_set<ir::VarId> by_late_ones_;  ///< likewise: single ones whose numbers may take as long as they like
  std::unordered_set<ir::VarId> others_;        ///< arrays that something else writes
};

}  // namespace

void find_filled_arrays(ir::Module& module) {
  for (ir::Function& function : module.functions) FilledArrays(module, function).run();
}

}  // namespace raddle::opt
