#include "compiler/lower/hold_arrays.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/writers.hpp"

namespace raddle::lowering {
namespace {

using ir::OpKind;

class ArrayHolder {
 public:
  ArrayHolder(const TypeStore& types, ir::Function& function)
      : types_(types), function_(function), writers_(function) {}

  void run() {
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      for (const ir::Op& op : function_.regions[id].ops) {
        if (op.kind == OpKind::array_new || op.kind == OpKind::bag_new) made_.insert(op.results[0]);
        const bool is_loop =
            op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array || op.kind == OpKind::loop;
        if (is_loop) loops_.insert(op.regions.begin(), op.regions.end());
        for (const ir::RegionId inside : op.regions) op_of_[inside] = &op;
      }
    }
    std::vector<std::vector<ir::Op>> held;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) held.push_back(with_holds(id));
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) function_.regions[id].ops = std::move(held[id]);
  }

 private:
  std::vector<ir::Op> with_holds(ir::RegionId region) {
    std::vector<ir::Op> ops;
    for (const ir::Op& op : function_.regions[region].ops) {
      ops.push_back(op);
      if (op.kind != OpKind::update) continue;
      for (const ir::VarId array : filled_beside(op, region)) {
        if (needs_closed(op, region, array)) continue;
        ir::Op hold;
        hold.kind = OpKind::array_hold;
        hold.operands = {ir::Operand::variable(array), ir::Operand::variable(op.results[0])};
        hold.span = op.span;
        ops.push_back(std::move(hold));
      }
    }
    return ops;
  }

  /// The arrays that loops around `update` fill, of the loops that do not declare what it updates.
  std::set<ir::VarId> filled_beside(const ir::Op& update, ir::RegionId region) const {
    std::set<ir::VarId> found;
    for (ir::RegionId at = region; at != ir::none; at = function_.regions[at].parent) {
      if (writers_.is_declared_in(update.operands[0].index, at)) break;
      if (!loops_.contains(at)) continue;
      for (const ir::VarId array : writers_.written_in(at))
        if (made_.contains(array)) found.insert(array);
    }
    return found;
  }

  /// Whether the update, or a loop or branch that it stands in, may need all of the array.
  bool needs_closed(const ir::Op& update, ir::RegionId region, ir::VarId array) {
    const auto [known, is_new] = needing_closed_.try_emplace(array);
    if (is_new) known->second = find_needing_closed(array);
    const Needing& needing = known->second;
    const auto is_so = [&](const ir::Op& op) {
      return needing.operations.contains(&op) || std::ranges::any_of(op.operands, [&](ir::Operand operand) {
               return !operand.is_constant && needing.variables.contains(operand.index);
             });
    };
    if (is_so(update)) return true;
    for (ir::RegionId at = region; at != ir::none; at = function_.regions[at].parent)
      if (const auto around = op_of_.find(at); around != op_of_.end() && is_so(*around->second)) return true;
    return false;
  }

  struct Needing {
    std::set<const ir::Op*> operations;  ///< that read more of the array than elements
    std::set<ir::VarId> variables;       ///< that depend on what these give or write
  };

  Needing find_needing_closed(ir::VarId array) const {
    Needing found;
    std::set<ir::VarId> names{array};  // other variables for the array, its rows, what it is a part of
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      visit([&](const ir::Op& op) {
        const bool reads_name = reads_any(op, names);
        if (reads_name && gives_a_name(op)) {
          for (const ir::VarId result : op.results) has_grown |= names.insert(result).second;
        } else if (reads_name && !is_of_elements(op)) {
          if (found.operations.insert(&op).second) has_grown |= add_changed(op, found.variables);
        } else if (reads_any(op, found.variables)) {
          has_grown |= add_changed(op, found.variables);
        }
      });
    }
    return found;
  }

  /// Of the same array, or of a row of it, or of a structure with it.
  bool gives_a_name(const ir::Op& op) const {
    switch (op.kind) {
      case OpKind::copy:
      case OpKind::struct_make:
      case OpKind::struct_get:
      case OpKind::array_row:
      case OpKind::bag_row: return true;
      case OpKind::array_get: {
        const TypeId type = types_.base(function_.variables[op.results[0]].type);
        return types_.is_array(type) || types_.kind(type) == TypeKind::bag;
      }
      default: return false;
    }
  }

  static bool is_of_elements(const ir::Op& op) {
    return op.kind == OpKind::array_get || op.kind == OpKind::array_insert || op.kind == OpKind::bag_append;
  }

  static bool reads_any(const ir::Op& op, const std::set<ir::VarId>& variables) {
    return std::ranges::any_of(
        op.operands, [&](ir::Operand operand) { return !operand.is_constant && variables.contains(operand.index); });
  }

  /// What it gives, and all that it and the operations in it write. @return true if something is new
  bool add_changed(const ir::Op& op, std::set<ir::VarId>& variables) const {
    bool has_grown = false;
    for (const ir::VarId result : op.results) has_grown |= variables.insert(result).second;
    if (op.kind == OpKind::array_insert || op.kind == OpKind::bag_append)
      has_grown |= variables.insert(writers_.root(op.operands[0].index)).second;
    for (const ir::RegionId region : op.regions) {
      for (const ir::VarId parameter : function_.regions[region].parameters)
        has_grown |= variables.insert(parameter).second;
      for (const ir::Op& inner : function_.regions[region].ops) has_grown |= add_changed(inner, variables);
    }
    return has_grown;
  }

  template <typename Visit>
  void visit(const Visit& each) const {
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) each(op);
  }

  const TypeStore& types_;
  ir::Function& function_;
  const ir::Writers writers_;
  std::set<ir::VarId> made_;      ///< by array_new and bag_new
  std::set<ir::RegionId> loops_;  ///< the bodies, and the tests
  std::map<ir::RegionId, const ir::Op*> op_of_;
  std::map<ir::VarId, Needing> needing_closed_;  ///< by array, of those that were asked for
};

}  // namespace

void hold_arrays(const TypeStore& types, ir::Function& function) {
  const auto updates = [](const ir::Region& region) {
    return std::ranges::any_of(region.ops, [](const ir::Op& op) { return op.kind == OpKind::update; });
  };
  if (std::ranges::any_of(function.regions, updates)) ArrayHolder(types, function).run();
}

}  // namespace raddle::lowering
