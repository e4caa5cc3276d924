#include "compiler/opt/fusion/fusible_loops.hpp"

#include <algorithm>
#include <utility>

#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::size_t most_operations_of_loop = 200;  ///< of a loop that is made: what registers hold

/// Variables that an operation assigns, and arrays and bags that it writes.
std::vector<ir::VarId> variables_changed(const ir::Function& function, const ir::Op& op) {
  std::vector<ir::VarId> changed = variables_assigned(function, op);
  visit_nested(function, op, [&](const ir::Op& inner) {
    if (ir::info(inner.kind).effect == ir::Effect::writes && !inner.operands.empty())
      changed.push_back(inner.operands[0].index);
  });
  return changed;
}

}  // namespace

RegionDependences::RegionDependences(const ir::Function& function, ir::RegionId region)
    : function_(function), region_(region) {
  const std::size_t count = function.regions[region].ops.size();
  read_.resize(count);
  changed_.resize(count);
  for (std::size_t i = 0; i < count; ++i) note(i);
}

void RegionDependences::note(std::size_t number) {
  const ir::Op& op = function_.regions[region_].ops[number];
  read_[number] = variables_read(function_, op);
  changed_[number] = variables_changed(function_, op);
  for (const ir::VarId id : read_[number]) readers_[id].push_back(number);
  for (const ir::VarId id : changed_[number]) changers_[id].push_back(number);
}

const std::vector<std::size_t>& RegionDependences::numbers_of(const Numbers& all, ir::VarId variable) {
  static const std::vector<std::size_t> none;
  const auto found = all.find(variable);
  return found == all.end() ? none : found->second;
}

FusibleLoops::FusibleLoops(ir::Module& module, ir::Function& function, LoopShapes& shapes, LoopMerger& merger,
                           bool is_in_order)
    : module_(module), function_(function), shapes_(shapes), merger_(merger), is_in_order_(is_in_order) {
  if (!is_in_order) return;
  const ir::ReducedLoops reduced(module, function);
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (op.kind == OpKind::foreach_range && reduced.of(op)) kept_.insert(op.regions[0]);
}

std::vector<Loop> FusibleLoops::in(ir::RegionId region) const {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < ops(region).size(); ++i)
    if (std::optional<Loop> loop = loop_at(region, i)) loops.push_back(std::move(*loop));
  return loops;
}

std::optional<Loop> FusibleLoops::loop_at(ir::RegionId region, std::size_t number) const {
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
bool FusibleLoops::is_nest(const ir::Op& outermost, LoopBodies& bodies) const {
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

bool FusibleLoops::have_one_space(ir::RegionId region, const Loop& first, const Loop& second) {
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

std::optional<bool> FusibleLoops::reads_own_points(const Loop& first, const Loop& second) {
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
  return reads ? std::optional(is_own) : std::nullopt;
}

bool FusibleLoops::is_free_of_the_second(ir::RegionId region, const Loop& first, const Loop& second) const {
  const std::vector<ir::VarId> read = variables_read(function_, ops(region)[first.number]);
  const auto is_written = [&](ir::VarId id) { return second.arrays_written.contains(id); };
  return std::ranges::none_of(read, is_written) && std::ranges::none_of(first.arrays_written, is_written);
}

bool FusibleLoops::reduces(const Loop& loop) const {
  return std::ranges::any_of(ops(loop.points()), [](const ir::Op& op) { return op.kind == OpKind::foreach_range; });
}

bool FusibleLoops::make_as_many_dimensions(ir::RegionId region, Loop& first, Loop& second) {
  if (first.bodies.size() == second.bodies.size()) return true;
  Loop &flat = first.bodies.size() == 1 ? first : second, &nest = first.bodies.size() == 1 ? second : first;
  if (flat.bodies.size() != 1) return false;
  const auto is_passed_on = [&](const ir::Op& access) {
    return access.kind == OpKind::array_get && !access.operands[0].is_constant &&
           flat.arrays_written.contains(access.operands[0].index);
  };
  const bool passes_on = std::ranges::any_of(ops(nest.points()), is_passed_on);
  for (const ir::Op& access : ops(nest.points())) {
    if (passes_on ? !is_passed_on(access) : access.kind != OpKind::array_insert) continue;
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

bool FusibleLoops::needs_nothing_between(const RegionDependences& dependences, ir::RegionId region, const Loop& first,
                                         const Loop& second) const {
  const auto is_declared_here = [&](ir::VarId id) { return function_.variables[id].region == region; };
  if (!std::ranges::all_of(first.arrays_written, is_declared_here)) return false;
  Variables depend = first.arrays_written;
  std::vector<ir::VarId> followed(depend.begin(), depend.end());
  while (!followed.empty()) {
    const ir::VarId next = followed.back();
    followed.pop_back();
    for (const std::size_t reader : dependences.readers_of(next)) {
      if (reader == first.number || reader == second.number) continue;
      for (const ir::VarId id : dependences.changed_by(reader))
        if (depend.insert(id).second) followed.push_back(id);
    }
  }
  return std::ranges::none_of(dependences.read_by(second.number),
                              [&](ir::VarId id) { return depend.contains(id) && !first.arrays_written.contains(id); });
}

bool FusibleLoops::is_small(const Loop& first, const Loop& second) const {
  return ops(first.points()).size() + ops(second.points()).size() <= most_operations_of_loop;
}

}  // namespace raddle::opt
