#include "compiler/lower/hold_arrays.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/ir/writers.hpp"

namespace raddle::lowering {
namespace {

using ir::OpKind;

class ArrayHolder {
 public:
  explicit ArrayHolder(ir::Function& function) : function_(function), writers_(function) {}

  void run() {
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      for (const ir::Op& op : function_.regions[id].ops) {
        if (op.kind == OpKind::array_new || op.kind == OpKind::bag_new) made_.insert(op.results[0]);
        const bool is_loop =
            op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array || op.kind == OpKind::loop;
        if (is_loop) loops_.insert(op.regions.begin(), op.regions.end());
      }
    }
    std::vector<std::vector<ir::Op>> held;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) held.push_back(with_holds(id));
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) function_.regions[id].ops = std::move(held[id]);
  }

 private:
  std::vector<ir::Op> with_holds(ir::RegionId region) const {
    std::vector<ir::Op> ops;
    for (const ir::Op& op : function_.regions[region].ops) {
      ops.push_back(op);
      if (op.kind != OpKind::update) continue;
      for (const ir::VarId array : filled_beside(op, region)) {
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

  ir::Function& function_;
  const ir::Writers writers_;
  std::set<ir::VarId> made_;      ///< by array_new and bag_new
  std::set<ir::RegionId> loops_;  ///< the bodies, and the tests
};

}  // namespace

void hold_arrays(ir::Function& function) {
  const auto updates = [](const ir::Region& region) {
    return std::ranges::any_of(region.ops, [](const ir::Op& op) { return op.kind == OpKind::update; });
  };
  if (std::ranges::any_of(function.regions, updates)) ArrayHolder(function).run();
}

}  // namespace raddle::lowering
