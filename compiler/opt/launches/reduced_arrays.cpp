#include "compiler/opt/launches/reduced_arrays.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

class ArrayMarker {
 public:
  ArrayMarker(const TypeStore& types, ir::Function& function) : types_(types), function_(function) {}

  void run() {
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::array_new && ir::holds_numbers(types_, function_.variables[op.results[0]].type))
          candidates_.insert(op.results[0]);
    if (candidates_.empty()) return;
    for (const ir::VarId output : function_.outputs) candidates_.erase(output);
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops) find_fills(op, id);
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) drop_read(op);
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (ir::Op& op : function_.regions[id].ops)
        if (op.kind == OpKind::array_new && candidates_.contains(op.results[0])) {
          op.is_reduced = is_filled_in(op.results[0], id);
          op.has_deviation = op.is_reduced && with_deviation_.contains(op.results[0]);
        }
  }

 private:
  /// The array and the loop that fills it are in one region: so each element is written once.
  bool is_filled_in(ir::VarId array, ir::RegionId region) const {
    const auto found = filled_in_.find(array);
    return found != filled_in_.end() && found->second == region;
  }

  void find_fills(const ir::Op& op, ir::RegionId region) {
    if (op.kind != OpKind::foreach_range && op.kind != OpKind::foreach_array) return;
    if (op.launch == ir::none || function_.launches[op.launch].is_projected()) return;
    for (const ir::Op& inner : function_.regions[op.regions[0]].ops)
      if (inner.kind == OpKind::array_insert) fill(inner, region);
  }

  void drop_read(const ir::Op& op) {
    if (ir::is_reduction(op)) {
      if (ir::needs_deviation(op)) with_deviation_.insert(op.operands[0].index);
      return;
    }
    visit_operands(op, [&](const ir::Operand& operand) {
      if (!operand.is_constant && !is_fill(op, operand)) candidates_.erase(operand.index);
    });
  }

  void fill(const ir::Op& insert, ir::RegionId region) {
    const ir::VarId array = insert.operands[0].index;
    if (!filled_in_.emplace(array, region).second) candidates_.erase(array);
    fills_.insert(&insert);
  }

  bool is_fill(const ir::Op& op, const ir::Operand& operand) const {
    return fills_.contains(&op) && &operand == &op.operands[0];
  }

  const TypeStore& types_;
  ir::Function& function_;
  std::unordered_set<ir::VarId> candidates_;
  std::unordered_set<ir::VarId> with_deviation_;           ///< reduced to it, among others
  std::unordered_map<ir::VarId, ir::RegionId> filled_in_;  ///< the region of the launch
  std::unordered_set<const ir::Op*> fills_;                ///< array_inserts of launches
};

}  // namespace

void find_reduced_arrays(ir::Module& module) {
  for (ir::Function& function : module.functions) ArrayMarker(*module.types, function).run();
}

}  // namespace raddle::opt
