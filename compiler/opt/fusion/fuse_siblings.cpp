#include "compiler/opt/fusion/fuse_siblings.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/bodies/common_subexpressions.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/fusion/fusible_loops.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

class SiblingFuser {
 public:
  SiblingFuser(ir::Module& module, ir::Function& function)
      : module_(module),
        function_(function),
        shapes_(module, function),
        merger_(module, function, shapes_),
        fusible_(module, function, shapes_, merger_, /*is_in_order=*/false),
        heavy_(module) {
    const ir::ReducedLoops reduced(module, function);
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::foreach_range && reduced.of(op)) reduced_.insert(op.regions[0]);
  }

  /// @return true: something has changed
  bool run() {
    bool has_changed = false;
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) has_changed |= fuse_in(region);
    if (has_changed) merger_.await_bounds();
    return has_changed;
  }

 private:
  const std::vector<ir::Op>& ops(ir::RegionId region) const { return function_.regions[region].ops; }

  bool fuse_in(ir::RegionId region) {
    std::vector<Loop> loops = fusible_.in(region);
    const bool may_be_kernel = may_be_in_kernel(region);
    std::erase_if(loops, [&](const Loop& loop) {
      const ir::Op& op = ops(region)[loop.number];
      return !op.is_whole || (may_be_kernel && reduced_.contains(op.regions[0]));
    });
    if (loops.size() < 2) return false;
    RegionDependences dependences(function_, region);
    bool has_changed = false;
    for (std::size_t second = 1; second < loops.size(); ++second) {
      for (std::size_t first = second; first-- > 0;) {
        if (loops[first].bodies.empty() || !can_fuse(region, dependences, loops[first], loops[second])) continue;
        const std::size_t gone = loops[first].number;
        merger_.merge(region, loops[first], loops[second]);
        dependences.note(gone);
        dependences.note(loops[second].number);
        has_changed = true;
      }
    }
    std::erase_if(function_.regions[region].ops,
                  [](const ir::Op& op) { return op.kind == OpKind::foreach_range && op.regions.empty(); });
    shapes_.forget();
    return has_changed;
  }

  /// A kernel reduces a loop by itself without its array (ir/reduced_loops.hpp).
  bool may_be_in_kernel(ir::RegionId region) const {
    if (&function_ != &module_.functions[module_.entry]) return true;
    for (ir::RegionId around; (around = function_.regions[region].parent) != ir::none; region = around)
      for (const ir::Op& op : ops(around))
        if ((op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array) &&
            std::ranges::find(op.regions, region) != op.regions.end())
          return true;
    return false;
  }

  bool can_fuse(ir::RegionId region, const RegionDependences& dependences, Loop& first, Loop& second) {
    return fusible_.is_small(first, second) && fusible_.reduce_alike(first, second) &&
           fusible_.is_free_of_the_second(region, first, second) && !passes_on(dependences, first, second) &&
           are_ready_together(region, dependences, first, second) &&
           fusible_.needs_nothing_between(dependences, region, first, second) &&
           !keeps_reduced(region, dependences, first, second) &&
           fusible_.make_as_many_dimensions(region, first, second) && fusible_.have_one_space(region, first, second);
  }

  static bool passes_on(const RegionDependences& dependences, const Loop& first, const Loop& second) {
    return std::ranges::any_of(dependences.read_by(second.number),
                               [&](ir::VarId id) { return first.arrays_written.contains(id); });
  }

  /// A loop over all elements whose array is only reduced needs no memory, and one over rows and columns does.
  bool keeps_reduced(ir::RegionId region, const RegionDependences& dependences, const Loop& first,
                     const Loop& second) const {
    if (first.bodies.size() == second.bodies.size()) return false;
    const Loop& flat = first.bodies.size() == 1 ? first : second;
    return std::ranges::any_of(flat.arrays_written, [&](ir::VarId array) {
      return std::ranges::any_of(dependences.readers_of(array),
                                 [&](std::size_t reader) { return ir::is_reduction(ops(region)[reader]); });
    });
  }

  // ---- what is there when

  /// They read an array in common, and what only one of them reads follows from what both read.
  bool are_ready_together(ir::RegionId region, const RegionDependences& dependences, const Loop& first,
                          const Loop& second) {
    const Variables one = read_from_outside(dependences, first), other = read_from_outside(dependences, second);
    Variables common;
    std::ranges::set_intersection(one, other, std::inserter(common, common.end()));
    if (std::ranges::none_of(common, [&](ir::VarId id) { return is_array(id); })) return false;
    add_structures(common, region, dependences);
    std::set<std::size_t> seen;
    const auto follows = [&](ir::VarId id) { return follows_from(common, id, region, dependences, seen); };
    return std::ranges::all_of(one, follows) && std::ranges::all_of(other, follows);
  }

  static Variables read_from_outside(const RegionDependences& dependences, const Loop& loop) {
    const std::vector<ir::VarId>& read = dependences.read_by(loop.number);
    Variables found(read.begin(), read.end());
    std::erase_if(found, [&](ir::VarId id) { return loop.arrays_written.contains(id); });
    return found;
  }

  /// Those that arrays are taken from are there, too.
  void add_structures(Variables& there, ir::RegionId region, const RegionDependences& dependences) const {
    for (const ir::VarId id : std::vector(there.begin(), there.end()))
      for (const std::size_t number : dependences.changers_of(id))
        if (const ir::Op& op = ops(region)[number]; op.kind == OpKind::struct_get && !op.operands[0].is_constant)
          there.insert(op.operands[0].index);
  }

  /// By loops and functions of the library alone. Scalars from outside of the region are there, or nearly so.
  /// @param seen  operations that were asked, or are being asked
  bool follows_from(const Variables& common, ir::VarId id, ir::RegionId region, const RegionDependences& dependences,
                    std::set<std::size_t>& seen) {
    if (common.contains(id)) return true;
    if (function_.variables[id].region != region || dependences.changers_of(id).empty()) return !is_array(id);
    return std::ranges::all_of(dependences.changers_of(id), [&](std::size_t number) {
      if (!seen.insert(number).second) return true;
      const ir::Op& op = ops(region)[number];
      if (op.kind == OpKind::loop)  // all that a `for` gives is there when it ends
        return std::ranges::any_of(op.results, [&](ir::VarId result) { return common.contains(result); });
      return is_soon(op) && std::ranges::all_of(dependences.read_by(number), [&](ir::VarId read) {
               return follows_from(common, read, region, dependences, seen);
             });
    });
  }

  bool is_soon(const ir::Op& op) {
    switch (op.kind) {
      case OpKind::foreach_range: return op.is_whole;
      case OpKind::call: return module_.functions[op.callee].is_leaf() && !heavy_.is_heavy(op.callee);
      case OpKind::call_builtin: {
        const stdlib::BuiltinEffect effect = stdlib::builtins()[op.callee].effect;
        return stdlib::is_pure(effect) || effect == stdlib::BuiltinEffect::asserts;
      }
      default: return op.regions.empty() && ir::info(op.kind).effect != ir::Effect::acts;
    }
  }

  bool is_array(ir::VarId id) const { return ir::holds_numbers(*module_.types, function_.variables[id].type); }

  ir::Module& module_;
  ir::Function& function_;
  LoopShapes shapes_;
  LoopMerger merger_;
  FusibleLoops fusible_;
  ir::HeavyLeaves heavy_;
  std::set<ir::RegionId> reduced_;  // bodies of loops that are reduced
};

}  // namespace

void fuse_siblings(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) has_changed |= SiblingFuser(module, function).run();
  if (!has_changed) return;
  share_common_subexpressions(module);  // what both compute
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
