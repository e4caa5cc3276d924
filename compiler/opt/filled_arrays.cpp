#include "compiler/opt/filled_arrays.hpp"

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
  FilledArrays(const TypeStore& types, ir::Function& function) : types_(types), function_(function) {}

  void run() {
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) note_loop(op);
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops)
        if (op.kind == OpKind::array_insert && !is_by_launch(op.operands[0].index, id))
          others_.insert(op.operands[0].index);
    for (ir::Region& region : function_.regions)
      for (ir::Op& op : region.ops)
        if (op.kind == OpKind::array_new)
          op.is_filled = !op.operands.empty() && !op.is_reduced && holds_numbers(op.results[0]) &&
                         !others_.contains(op.results[0]);
  }

 private:
  bool holds_numbers(ir::VarId array) const {
    return ir::kernel_type(types_, types_.at(types_.base(function_.variables[array].type)).element).has_value();
  }

  void note_loop(const ir::Op& op) {
    for (const ir::RegionId region : op.regions) around_[region] = &op;
    if (op.nest != ir::none || op.launch != ir::none) launches_.insert(op.regions[0]);
  }

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
      const OpKind kind = around->second->kind;
      const bool is_branch = kind == OpKind::if_ || kind == OpKind::switch_;
      if (!is_branch && !(kind == OpKind::foreach_range && only_computes(parent))) return false;
    }
    return true;
  }

  /// But for loops within: what takes long is no concern of theirs.
  bool only_computes(ir::RegionId region) const {
    return std::ranges::all_of(function_.regions[region].ops, [](const ir::Op& op) {
      if (op.kind == OpKind::call_builtin) return stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure;
      return op.kind == OpKind::foreach_range || ir::info(op.kind).effect <= ir::Effect::fails;
    });
  }

  const TypeStore& types_;
  ir::Function& function_;
  std::unordered_map<ir::RegionId, const ir::Op*> around_;  ///< the operation that a region belongs to
  std::unordered_set<ir::RegionId> launches_;               ///< bodies of launches and of nests
  std::unordered_set<ir::VarId> others_;                    ///< arrays that something else writes
};

}  // namespace

void find_filled_arrays(ir::Module& module) {
  for (ir::Function& function : module.functions) FilledArrays(*module.types, function).run();
}

}  // namespace raddle::opt
