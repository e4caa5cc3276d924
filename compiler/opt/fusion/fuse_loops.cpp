#include "compiler/opt/fusion/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/opt/bodies/common_subexpressions.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/fusion/drop_temporaries.hpp"
#include "compiler/opt/fusion/fusible_loops.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

using Writers = std::map<ir::VarId, std::set<std::size_t>>;  // of each array the loops, as they are counted in a region

class Fuser {
 public:
  /// @param is_in_order  of a kernel, whose operations are done in their order
  Fuser(ir::Module& module, ir::Function& function, bool is_in_order)
      : module_(module),
        function_(function),
        is_in_order_(is_in_order),
        shapes_(module, function),
        merger_(module, function, shapes_),
        fusible_(module, function, shapes_, merger_, is_in_order) {}

  /// @return true: something has changed
  bool run() {
    bool has_changed = false;
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) has_changed |= fuse_in(region);
    if (!has_changed) return false;
    merger_.await_bounds();
    return true;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  const std::vector<ir::Op>& ops(ir::RegionId region) const { return function_.regions[region].ops; }

  bool fuse_in(ir::RegionId region) {
    dependences_.reset();
    std::vector<Loop> loops = fusible_.in(region);
    Writers writers;
    for (std::size_t i = 0; i < loops.size(); ++i)
      for (const ir::VarId array : loops[i].arrays_written) writers[array].insert(i);
    bool has_changed = false;
    for (std::size_t second = 1; second < loops.size(); ++second) {
      for (std::optional<std::size_t> first = second;
           (first = writer_before(*first, loops[second].points(), writers));) {
        if (!can_fuse(region, loops[*first], loops[second])) continue;
        for (const ir::VarId array : loops[*first].arrays_written) {
          writers[array].erase(*first);
          writers[array].insert(second);
        }
        const std::size_t gone = loops[*first].number;
        merger_.merge(region, loops[*first], loops[second]);
        dependences_->note(gone);
        dependences_->note(loops[second].number);
        has_changed = true;
      }
    }
    if (!is_in_order_) note_barriers(region, loops);
    std::erase_if(ops(region), [](const ir::Op& op) { return op.kind == OpKind::foreach_range && op.regions.empty(); });
    shapes_.forget();
    return has_changed;
  }

  /// The last loop before one that writes an array which a body reads: others can not be fused with it.
  std::optional<std::size_t> writer_before(std::size_t number, ir::RegionId body, const Writers& writers) const {
    std::optional<std::size_t> last;
    for (const ir::Op& op : ops(body)) {
      visit_nested(function_, op, [&](const ir::Op& inner) {
        for (const Operand operand : inner.operands) {
          const auto found = operand.is_constant ? writers.end() : writers.find(operand.index);
          if (found == writers.end()) continue;
          const auto next = found->second.lower_bound(number);
          if (next != found->second.begin()) last = std::max(last, std::optional(*std::prev(next)));
        }
      });
    }
    return last;
  }

  /// What the first one writes, by an operation before the second one, where they would both be.
  bool is_read_between(ir::RegionId region, const Loop& first, const Loop& second) {
    return std::ranges::any_of(first.arrays_written, [&](ir::VarId array) {
      return std::ranges::any_of(dependences(region).readers_of(array), [&](std::size_t reader) {
        const ir::Op& op = ops(region)[reader];
        const bool is_gone = op.kind == OpKind::foreach_range && op.regions.empty();
        return reader > first.number && reader < second.number && !is_gone;
      });
    });
  }

  bool can_fuse(ir::RegionId region, Loop& first, Loop& second) {
    return fusible_.is_free_of_the_second(region, first, second) &&
           fusible_.needs_nothing_between(dependences(region), region, first, second) &&
           (!is_in_order_ || !is_read_between(region, first, second)) && fusible_.is_small(first, second) &&
           fusible_.reduce_alike(first, second) && fusible_.make_as_many_dimensions(region, first, second) &&
           fusible_.have_one_space(region, first, second) && fusible_.reads_own_points(first, second) == true;
  }

  const RegionDependences& dependences(ir::RegionId region) {
    if (!dependences_) dependences_.emplace(function_, region);
    return *dependences_;
  }

  // ---- what launches stand behind, for who asks

  /// Of loops that nothing could be fused with: the first of the constraints that the nearest one before does not meet.
  void note_barriers(ir::RegionId region, std::vector<Loop>& loops) {
    std::erase_if(loops, [](const Loop& loop) { return loop.bodies.empty(); });
    if (loops.empty()) return;
    dependences_.emplace(function_, region);
    std::map<ir::VarId, std::size_t> makers;
    for (std::size_t i = 0; i < ops(region).size(); ++i)
      for (const ir::VarId id : variables_assigned(function_, ops(region)[i])) makers[id] = i;
    for (const Loop& loop : loops)
      for (const ir::VarId array : loop.arrays_written) makers[array] = loop.number;
    for (Loop& loop : loops) ops(region)[loop.number].barrier = barrier_before(region, loop, loops, makers);
  }

  vm::Barrier barrier_before(ir::RegionId region, Loop& second, std::vector<Loop>& loops,
                             const std::map<ir::VarId, std::size_t>& makers) {
    Loop* first = nullptr;
    std::set<std::size_t> seen = {second.number};
    std::vector<std::size_t> followed = {second.number};
    while (!followed.empty()) {
      const std::size_t number = followed.back();
      followed.pop_back();
      for (const ir::VarId id : dependences_->read_by(number)) {
        const auto maker = makers.find(id);
        if (maker == makers.end() || second.arrays_written.contains(id) || !seen.insert(maker->second).second) continue;
        if (communicates(ops(region)[maker->second])) return vm::Barrier::communication;
        const auto found = std::ranges::find(loops, maker->second, &Loop::number);
        if (found == loops.end())
          followed.push_back(maker->second);
        else if (!first || found->number > first->number)
          first = &*found;
      }
    }
    if (!first) {  // nothing is passed on; with other points they could not be one either
      const auto place = std::ranges::find(loops, second.number, &Loop::number);
      const bool has_other_space =
          place != loops.begin() && !fusible_.have_one_space(region, *std::prev(place), second);
      return has_other_space ? vm::Barrier::space : vm::Barrier::none;
    }
    if (!fusible_.reduce_alike(*first, second)) return vm::Barrier::communication;
    if (!fusible_.have_one_space(region, *first, second)) return vm::Barrier::space;
    if (fusible_.reads_own_points(*first, second) != true) return vm::Barrier::points;
    return fusible_.is_small(*first, second) ? vm::Barrier::order : vm::Barrier::size;
  }

  /// It takes whole arrays, or makes them: sums, products of matrices, functions of the script.
  bool communicates(const ir::Op& op) const {
    if (op.kind != OpKind::call && op.kind != OpKind::call_builtin) return false;
    if (op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name.starts_with('@')) return false;
    const auto has_elements = [&](ir::VarId id) {
      const TypeId type = function_.variables[id].type;
      return module_.types->is_dense(type) || module_.types->at(module_.types->base(type)).kind == TypeKind::array;
    };
    return std::ranges::any_of(op.results, has_elements) || std::ranges::any_of(op.operands, [&](Operand operand) {
             return !operand.is_constant && has_elements(operand.index);
           });
  }

  ir::Module& module_;
  ir::Function& function_;
  const bool is_in_order_;
  std::optional<RegionDependences> dependences_;  // of the region at hand; found when they are needed first
  LoopShapes shapes_;
  LoopMerger merger_;
  FusibleLoops fusible_;
};

}  // namespace

void fuse_loops(ir::Module& module, ir::Function& function) {
  Fuser(module, function, true).run();
  drop_temporaries(module, function);
}

void fuse_loops(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) has_changed |= Fuser(module, function, false).run();
  if (!has_changed) return;
  share_common_subexpressions(module);  // keys of rows that both loops have
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
