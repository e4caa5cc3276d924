#include "compiler/opt/launches/own_sequences.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/opt/flatten/flat_bodies.hpp"
#include "compiler/opt/launches/loop_kernels.hpp"
#include "compiler/opt/launches/own_iteration.hpp"
#include "compiler/opt/launches/waiting_points.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// Loops of one region that fill arrays.
class OwnSequence {
 public:
  OwnSequence(ir::Module& module, ir::Function& function, ir::RegionId region)
      : module_(module), function_(function), region_(region), iteration_(module, function, region) {}

  /// @return false: they can not become one iteration
  bool find(ir::VarId array) {
    return iteration_.find_writers({array}) && (has_loop_in_order() || has_table()) && iteration_.can_be_one();
  }
  /// @return where it is
  OpPlace make() { return iteration_.enclose(); }

 private:
  const ir::Op& op(std::size_t number) const { return function_.regions[region_].ops[number]; }

  bool has_loop_in_order() {
    return std::ranges::any_of(iteration_.operations(), [&](std::size_t i) {
      std::vector<const ir::Op*> around;
      return writes_in_order(op(i), around);
    });
  }
  /// A `for` in it writes elements itself, and has no kernel.
  bool writes_in_order(const ir::Op& op, std::vector<const ir::Op*>& around) {
    const bool is_loop = op.kind == OpKind::loop;
    if (!is_loop && op.kind != OpKind::if_ && op.kind != OpKind::wait) return false;
    if (is_loop && writes_itself(op) && !has_loop_kernel(module_, function_, op, around)) return true;
    around.push_back(&op);
    bool found = false;
    for (const ir::RegionId nested : op.regions)
      for (const ir::Op& inner : function_.regions[nested].ops) found = found || writes_in_order(inner, around);
    around.pop_back();
    return found;
  }
  bool writes_itself(const ir::Op& op) const {
    for (const ir::RegionId nested : op.regions)
      for (const ir::Op& inner : function_.regions[nested].ops) {
        if (inner.kind == OpKind::array_insert) return true;
        if ((inner.kind == OpKind::if_ || inner.kind == OpKind::switch_) && writes_itself(inner)) return true;
      }
    return false;
  }

  /// Points of a `foreach` wait for one another, and none takes so long by itself that workers would gain more than
  /// each takes as a task.
  bool has_table() {
    std::vector<const ir::Op*> loops;
    for (const std::size_t i : iteration_.operations()) loops.push_back(&op(i));
    return has_waiting_points(function_, loops) &&
           std::ranges::all_of(loops, [&](const ir::Op* loop) { return is_short(*loop, /*is_in_point=*/false); });
  }
  /// In no point there is a loop in order that machine code could run, as it reads nothing of what others write.
  bool is_short(const ir::Op& op, bool is_in_point) {
    if (is_in_point && op.kind == OpKind::loop && !reads_own(op)) return false;
    if (is_in_point && op.kind == OpKind::call && !reads_own(op) && has_loop(op.callee)) return false;
    is_in_point = is_in_point || op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array;
    return std::ranges::all_of(op.regions, [&](ir::RegionId region) {
      return std::ranges::all_of(function_.regions[region].ops,
                                 [&](const ir::Op& inner) { return is_short(inner, is_in_point); });
    });
  }
  bool reads_own(const ir::Op& op) const {
    return std::ranges::any_of(variables_read(function_, op),
                               [&](ir::VarId id) { return iteration_.arrays().contains(id); });
  }
  bool has_loop(ir::FunctionId id) {
    if (!asked_.insert(id).second) return false;
    for (const ir::Region& region : module_.functions[id].regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::loop || (op.kind == OpKind::call && has_loop(op.callee))) return true;
    return false;
  }

  ir::Module& module_;
  ir::Function& function_;
  const ir::RegionId region_;
  OwnIteration iteration_;
  std::set<ir::FunctionId> asked_;  ///< whether there is a loop in them, which is so of none
};

/// Arrays that operations of the region write which are, or have in them, loops in order.
std::set<ir::VarId> written_by_loops(const ir::Function& function, ir::RegionId region) {
  std::set<ir::VarId> arrays;
  for (const ir::Op& op : function.regions[region].ops) {
    bool has_loop = has_waiting_points(function, {&op});
    visit_nested(function, op, [&](const ir::Op& inner) { has_loop = has_loop || inner.kind == OpKind::loop; });
    if (has_loop) arrays.merge(inserted_into(function, op));
  }
  return arrays;
}

/// @param tries  that are left  @return true if something has changed
bool launch_in(ir::Module& module, ir::Function& function, ir::RegionId region, bool is_alone, std::size_t& tries) {
  for (const ir::VarId array : written_by_loops(function, region)) {
    if (function.variables[array].region != region) continue;
    if (tries == 0) return false;
    --tries;
    OwnSequence sequence(module, function, region);
    if (!sequence.find(array) || is_in_launch(function, region)) continue;
    ir::Function before = function;
    const OpPlace place = sequence.make();
    ir::Op& loop = function.regions[place.region].ops[place.index];
    launch_flat_body(module, function, loop, is_alone);
    if (loop.launch != ir::none) return true;
    before.not_launched = std::move(function.not_launched);
    function = std::move(before);
  }
  return false;
}

}  // namespace

void launch_own_sequences(ir::Module& module, ir::Function& function, bool is_alone) {
  std::size_t tries = most_tries(function);
  const std::size_t count = function.regions.size();  // before this makes more
  for (ir::RegionId region = 0; region < count; ++region)
    while (launch_in(module, function, region, is_alone, tries)) continue;
}

}  // namespace raddle::opt
