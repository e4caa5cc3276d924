#include "compiler/opt/fusion/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/bodies/common_subexpressions.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/fusion/drop_temporaries.hpp"
#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/fusion/merge_loops.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

constexpr std::size_t most_operations_of_loop = 200;  ///< of a loop that is made: what registers hold

using Writers = std::map<ir::VarId, std::set<std::size_t>>;  // of each array the loops, as they are counted in a region

/// Into which array or bag an operation writes; none: into none.
ir::VarId written_by(const ir::Op& op) {
  return ir::info(op.kind).effect == ir::Effect::writes && !op.operands.empty() ? op.operands[0].index : ir::none;
}

/// What the operations of a region read and change, by their numbers; and by variable which of them read it.
struct Dependences {
  std::vector<std::vector<ir::VarId>> read, changed;
  std::map<ir::VarId, std::vector<std::size_t>> readers;
};

class Fuser {
 public:
  Fuser(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), shapes_(module, function), merger_(module, function, shapes_) {}

  /// Of a kernel, whose operations are done in their order. Loops whose numbers are reduced stay alone, for
  /// ir/reduced_loops.hpp.
  void run_in_order() {
    is_in_order_ = true;
    const ir::ReducedLoops reduced(module_, function_);
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::foreach_range && reduced.of(op)) kept_.insert(op.regions[0]);
    run();
  }
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
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < ops(region).size(); ++i)
      if (std::optional<Loop> loop = loop_at(region, i)) loops.push_back(std::move(*loop));
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
        note_dependences(region, gone);
        note_dependences(region, loops[second].number);
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

  std::optional<Loop> loop_at(ir::RegionId region, std::size_t number) const {
    const ir::Op& op = ops(region)[number];
    if (op.kind != OpKind::foreach_range || kept_.contains(op.regions[0])) return std::nullopt;
    Loop loop{.number = number};
    if (is_plain_launch(module_, function_, op))
      loop.bodies = {op.regions[0]};
    else if (is_in_order_ || !is_nest(op, loop.bodies))
      return std::nullopt;
    for (const ir::Op& inner : ops(loop.points())) {
      if (inner.kind == OpKind::array_insert)
        loop.arrays_written.insert(inner.operands[0].index);
      else if (ir::info(inner.kind).effect == ir::Effect::writes || inner.kind == OpKind::update)
        return std::nullopt;
    }
    return loop;
  }

  /// Loops around an index launch, whose ranges are the same for all iterations of those around them.
  bool is_nest(const ir::Op& outermost, LoopBodies& bodies) const {
    const ir::Op* loop = &outermost;
    while (loop) {
      bodies.push_back(loop->regions[0]);
      const ir::Op* const inner = shapes_.loop_within(bodies.back());
      if (inner && kept_.contains(inner->regions[0])) return false;
      if (inner &&
          !std::ranges::all_of(inner->operands, [&](Operand range) { return shapes_.is_from_outside(range, bodies); }))
        return false;
      if (!inner) break;
      loop = inner;
    }
    return bodies.size() > 1 && is_projected_launch(module_, function_, *loop);
  }

  // ---- the four constraints, in the paper's order

  /// Its points have loops over arrays of their own, as a row times a vector: machine code computes them one after the
  /// other, and would so compute what the other loop computes in lanes.
  bool reduces(const Loop& loop) const {
    return std::ranges::any_of(ops(loop.points()), [](const ir::Op& op) { return op.kind == OpKind::foreach_range; });
  }

  /// A loop over all elements of an array, one after the other, becomes loops over its dimensions where the other loop
  /// goes over these.
  bool have_as_many_dimensions(ir::RegionId region, Loop& first, Loop& second) {
    if (first.bodies.size() == second.bodies.size()) return true;
    const bool is_first = first.bodies.size() == 1;
    Loop &flat = is_first ? first : second, &nest = is_first ? second : first;
    if (flat.bodies.size() != 1) return false;
    const OpKind kind = is_first ? OpKind::array_get : OpKind::array_insert;
    for (const ir::Op& access : ops(nest.points())) {
      if (access.kind != kind || access.operands[0].is_constant ||
          !first.arrays_written.contains(access.operands[0].index))
        continue;
      const ir::Op* const made = shapes_.maker_of(access.operands[0]);
      if (!made || made->kind != OpKind::array_new || made->operands.size() != nest.bodies.size() ||
          !shapes_.goes_over_product(ops(region)[flat.number], made->operands) ||
          !shapes_.goes_over_rows(ops(region)[nest.number], access.operands[1], made->operands))
        continue;
      merger_.make_nest(region, flat, nest, std::vector(made->operands));
      return true;
    }
    return false;
  }

  /// Equal launch spaces; and both run at one place.
  bool have_one_space(ir::RegionId region, const Loop& first, const Loop& second) {
    if (first.bodies.size() != second.bodies.size()) return false;
    for (std::size_t level = 0; level < first.bodies.size(); ++level) {
      const ir::Op &one = merger_.level_of(region, first, level), &other = merger_.level_of(region, second, level);
      if (one.placement != other.placement ||
          !std::ranges::equal(one.operands, other.operands,
                              [&](Operand a, Operand b) { return shapes_.is_same_int(a, b); }))
        return false;
    }
    return true;
  }

  /// What the second loop reads of the first one's it reads at its own point; there is some.
  bool reads_own_points(const Loop& first, const Loop& second) {
    bool reads = false, is_own = true;
    for (const ir::Op& op : ops(second.points())) {
      visit_nested(function_, op, [&](const ir::Op& inner) {
        for (std::size_t i = 0; i < inner.operands.size(); ++i) {
          const Operand operand = inner.operands[i];
          if (operand.is_constant || !first.arrays_written.contains(operand.index)) continue;
          reads = true;
          is_own =
              is_own && i == 0 && inner.kind == OpKind::array_get && merger_.writer_of(inner, first, second) != nullptr;
        }
      });
    }
    return reads && is_own;
  }

  /// The first one reads nothing that the second one writes, and none writes what the other one does.
  bool is_free_of_the_second(const ir::Op& first, const Loop& one, const Loop& other) const {
    const std::vector<ir::VarId> read = variables_read(function_, first);
    const auto is_written = [&](ir::VarId id) { return other.arrays_written.contains(id); };
    return std::ranges::none_of(read, is_written) && std::ranges::none_of(one.arrays_written, is_written);
  }

  /// Nothing else that depends on the first one is needed by the second one: it would wait for itself.
  bool needs_nothing_between(ir::RegionId region, const Loop& first, const Loop& second) {
    const auto is_declared_here = [&](ir::VarId id) { return function_.variables[id].region == region; };
    if (!std::ranges::all_of(first.arrays_written, is_declared_here)) return false;
    if (!dependences_) find_dependences(region);
    Variables depend = first.arrays_written;
    std::vector<ir::VarId> followed(depend.begin(), depend.end());
    while (!followed.empty()) {
      const auto readers = dependences_->readers.find(followed.back());
      followed.pop_back();
      if (readers == dependences_->readers.end()) continue;
      for (const std::size_t reader : readers->second) {
        if (reader == first.number || reader == second.number) continue;
        for (const ir::VarId id : dependences_->changed[reader])
          if (depend.insert(id).second) followed.push_back(id);
      }
    }
    return std::ranges::none_of(dependences_->read[second.number], [&](ir::VarId id) {
      return depend.contains(id) && !first.arrays_written.contains(id);
    });
  }

  /// What the first one writes, by an operation before the second one, where they would both be.
  bool is_read_between(ir::RegionId region, const Loop& first, const Loop& second) {
    if (!dependences_) find_dependences(region);
    return std::ranges::any_of(first.arrays_written, [&](ir::VarId array) {
      const auto readers = dependences_->readers.find(array);
      return readers != dependences_->readers.end() && std::ranges::any_of(readers->second, [&](std::size_t reader) {
               const ir::Op& op = ops(region)[reader];
               const bool is_gone = op.kind == OpKind::foreach_range && op.regions.empty();
               return reader > first.number && reader < second.number && !is_gone;
             });
    });
  }

  void find_dependences(ir::RegionId region) {
    dependences_.emplace();
    dependences_->read.resize(ops(region).size());
    dependences_->changed.resize(ops(region).size());
    for (std::size_t i = 0; i < ops(region).size(); ++i) note_dependences(region, i);
  }

  void note_dependences(ir::RegionId region, std::size_t number) {
    const ir::Op& op = ops(region)[number];
    dependences_->read[number] = variables_read(function_, op);
    dependences_->changed[number] = changed_by(op);
    for (const ir::VarId id : dependences_->read[number]) dependences_->readers[id].push_back(number);
  }

  bool can_fuse(ir::RegionId region, Loop& first, Loop& second) {
    return is_free_of_the_second(ops(region)[first.number], first, second) &&
           needs_nothing_between(region, first, second) && (!is_in_order_ || !is_read_between(region, first, second)) &&
           ops(first.points()).size() + ops(second.points()).size() <= most_operations_of_loop &&
           reduces(first) == reduces(second) && have_as_many_dimensions(region, first, second) &&
           have_one_space(region, first, second) && reads_own_points(first, second);
  }

  // ---- what launches stand behind, for who asks

  /// Of loops that nothing could be fused with: the first of the constraints that the nearest one before does not meet.
  void note_barriers(ir::RegionId region, std::vector<Loop>& loops) {
    std::erase_if(loops, [](const Loop& loop) { return loop.bodies.empty(); });
    if (loops.empty()) return;
    find_dependences(region);
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
      for (const ir::VarId id : dependences_->read[number]) {
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
      const bool has_other_space = place != loops.begin() && !have_one_space(region, *std::prev(place), second);
      return has_other_space ? vm::Barrier::space : vm::Barrier::none;
    }
    if (reduces(*first) != reduces(second)) return vm::Barrier::communication;
    if (!have_one_space(region, *first, second)) return vm::Barrier::space;
    if (!reads_own_points(*first, second)) return vm::Barrier::points;
    const bool is_large = ops(first->points()).size() + ops(second.points()).size() > most_operations_of_loop;
    return is_large ? vm::Barrier::size : vm::Barrier::order;
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

  /// Variables that an operation assigns, and arrays and bags that it writes.
  std::vector<ir::VarId> changed_by(const ir::Op& op) const {
    std::vector<ir::VarId> changed = variables_assigned(function_, op);
    visit_nested(function_, op, [&](const ir::Op& inner) {
      if (const ir::VarId written = written_by(inner); written != ir::none) changed.push_back(written);
    });
    return changed;
  }

  ir::Module& module_;
  ir::Function& function_;
  bool is_in_order_ = false;
  std::set<ir::RegionId> kept_;             // bodies of loops that are not fused
  std::optional<Dependences> dependences_;  // of the region at hand; found when they are needed first
  LoopShapes shapes_;
  LoopMerger merger_;
};

}  // namespace

void fuse_loops(ir::Module& module, ir::Function& function) {
  Fuser(module, function).run_in_order();
  drop_temporaries(module, function);
}

void fuse_loops(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) has_changed |= Fuser(module, function).run();
  if (!has_changed) return;
  share_common_subexpressions(module);  // keys of rows that both loops have
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
