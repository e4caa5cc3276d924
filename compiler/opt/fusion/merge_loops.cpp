#include "compiler/opt/fusion/merge_loops.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

ir::Op& LoopMerger::level_of(ir::RegionId region, const Loop& loop, std::size_t level) {
  if (level == 0) return ops(region)[loop.number];
  return *std::ranges::find_if(ops(loop.bodies[level - 1]), [&](const ir::Op& op) {
    return op.kind == OpKind::foreach_range && op.regions[0] == loop.bodies[level];
  });
}

const ir::Op* LoopMerger::writer_of(const ir::Op& read, const Loop& first, const Loop& second) {
  for (const ir::Op& op : ops(first.points()))
    if (op.kind == OpKind::array_insert && op.operands[0] == read.operands[0] &&
        shapes_.is_same_key(op.operands[1], read.operands[1], first.bodies, second.bodies))
      return &op;
  return nullptr;
}

void LoopMerger::make_nest(ir::RegionId region, Loop& flat, const Loop& like, const std::vector<Operand>& extents) {
  const ir::Op before = ops(region)[flat.number];
  const ir::RegionId points = flat.points();
  const std::vector<ir::VarId> parameters = function_.regions[points].parameters;
  const std::vector<ir::Op> body = std::exchange(ops(points), {});
  flat.bodies.clear();
  Operand key;
  for (std::size_t level = 0; level < extents.size(); ++level) {
    const ir::RegionId around = level == 0 ? region : flat.bodies.back();
    const ir::RegionId made =
        level + 1 == extents.size() ? points : static_cast<ir::RegionId>(function_.regions.size());
    if (made != points) function_.regions.emplace_back();
    flat.bodies.push_back(made);
    function_.regions[made].parent = around;
    const ir::VarId point = new_int(made, before.span);
    function_.regions[made].parameters = {point, new_int(made, before.span)};
    const Operand row =
        level == 0 ? Operand() : append_index(around, OpKind::index_mul, key, extents[level], before.span);
    key = level == 0 ? Operand::variable(point)
                     : append_index(made, OpKind::index_add, row, Operand::variable(point), before.span);
    ir::Op loop = before;
    std::erase_if(loop.merged, [](const ir::MergedLoop& each) { return !each.variable.empty(); });
    loop.operands = level_of(region, like, level).operands;
    loop.regions = {made};
    if (level == 0)
      ops(region)[flat.number] = std::move(loop);
    else
      ops(around).push_back(std::move(loop));
  }
  for (const ir::VarId parameter : parameters) replacements_.add(parameter, key);
  ops(points).insert(ops(points).end(), body.begin(), body.end());
  for (ir::Op& op : ops(points)) replace_in(op);
  if (!before.operands[1].is_constant) bounds_[flat.bodies[0]].insert(before.operands[1].index);
  shapes_.forget();
}

ir::VarId LoopMerger::new_int(ir::RegionId region, Span span) {
  function_.variables.push_back({"", TypeStore::int_, span, region});
  replacements_.add_variable();
  return static_cast<ir::VarId>(function_.variables.size() - 1);
}

Operand LoopMerger::append_index(ir::RegionId region, OpKind kind, Operand one, Operand other, Span span) {
  const ir::VarId result = new_int(region, span);
  function_.regions[region].variables.push_back(result);
  ir::Op op;
  op.kind = kind;
  op.operands = {one, other};
  op.results = {result};
  op.span = span;
  ops(region).push_back(std::move(op));
  return Operand::variable(result);
}

void LoopMerger::note_merged(const ir::Op& first, ir::Op& second) const {
  std::vector<ir::MergedLoop> all = ir::loops_in(function_, second);
  for (ir::MergedLoop& each : ir::loops_in(function_, first)) all.push_back(std::move(each));
  second.merged = std::move(all);
}

void LoopMerger::merge(ir::RegionId region, Loop& first, Loop& second) {
  note_bounds(region, first, second);
  for (std::size_t level = 0; level < first.bodies.size(); ++level)
    note_merged(level_of(region, first, level), level_of(region, second, level));
  // values instead of elements, in nested regions, too
  for (ir::Op& op : ops(second.points())) take_values(op, first, second);
  for (std::size_t level = 0; level < first.bodies.size(); ++level) {
    const ir::RegionId from = first.bodies[level], to = second.bodies[level];
    for (std::size_t i = 0; i < function_.regions[from].parameters.size(); ++i)
      replacements_.add(function_.regions[from].parameters[i], Operand::variable(function_.regions[to].parameters[i]));
    if (level + 1 < first.bodies.size())
      std::erase_if(ops(from), [](const ir::Op& op) { return op.kind == OpKind::foreach_range; });
    move_body(from, to);
  }
  for (const ir::RegionId body : second.bodies)
    for (ir::Op& op : ops(body)) replacements_.apply(op);
  for (ir::Op& op : ops(second.points())) replace_in(op);  // the parameters of a body are known nowhere else
  const bool is_whole = ops(region)[first.number].is_whole && ops(region)[second.number].is_whole;
  for (std::size_t level = 0; level < second.bodies.size(); ++level)
    level_of(region, second, level).is_whole = is_whole;  // who may wait for whole arrays need not
  ir::Op& gone = ops(region)[first.number];
  gone.regions.clear();
  const std::uint32_t swallowed = gone.swallowed;
  ops(region)[second.number].swallowed += swallowed + 1;
  ops(region)[second.number].is_needed = true;
  shapes_.forget();
  second.arrays_written.insert(first.arrays_written.begin(), first.arrays_written.end());
  first = {};
}

/// Where a bound of the first loop is not there, as the slice is not in its array, the second one must not run either.
void LoopMerger::note_bounds(ir::RegionId region, const Loop& first, const Loop& second) {
  Variables& noted = bounds_[second.bodies[0]];
  if (const auto before = bounds_.find(first.bodies[0]); before != bounds_.end()) noted.merge(before->second);
  bounds_.erase(first.bodies[0]);
  for (std::size_t level = 0; level < first.bodies.size(); ++level) {
    const std::vector<Operand>& others = level_of(region, second, level).operands;
    for (const Operand bound : level_of(region, first, level).operands)
      if (!bound.is_constant && std::ranges::find(others, bound) == others.end()) noted.insert(bound.index);
  }
}

/// The upper bound of a loop becomes one that is there when these are: 0 times each of them is added.
void LoopMerger::await_bounds(ir::RegionId body, const Variables& bounds) {
  const ir::RegionId region = function_.regions[body].parent;
  const auto place = std::ranges::find_if(
      ops(region), [&](const ir::Op& op) { return op.kind == OpKind::foreach_range && op.regions[0] == body; });
  ir::Op loop = std::move(*place);
  ops(region).erase(place);
  for (const ir::VarId bound : bounds) {
    const Operand nothing = append_index(region, OpKind::index_mul, Operand::variable(bound),
                                         Operand::constant(module_.constant(std::int64_t{0})), loop.span);
    loop.operands[1] = append_index(region, OpKind::index_add, loop.operands[1], nothing, loop.span);
  }
  ops(region).push_back(std::move(loop));
}

void LoopMerger::move_body(ir::RegionId from, ir::RegionId to) {
  std::vector<ir::Op> moved = std::move(ops(from));
  ops(from).clear();
  for (const ir::Op& op : moved)
    for (const ir::RegionId nested : op.regions)  // the body of a `for` lies in its condition
      if (function_.regions[nested].parent == from) function_.regions[nested].parent = to;
  for (const ir::VarId id : function_.regions[from].variables) {
    function_.variables[id].region = to;
    function_.regions[to].variables.push_back(id);
  }
  function_.regions[from].variables.clear();
  ops(to).insert(ops(to).begin(), std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
}

void LoopMerger::replace_in(ir::Op& op) {
  replacements_.apply(op);
  for (const ir::RegionId region : op.regions)
    for (ir::Op& inner : ops(region)) replace_in(inner);
}

void LoopMerger::take_values(ir::Op& op, const Loop& first, const Loop& second) {
  for (const ir::RegionId region : op.regions)
    for (ir::Op& inner : ops(region)) take_values(inner, first, second);
  if (op.kind != OpKind::array_get || op.operands[0].is_constant ||
      !first.arrays_written.contains(op.operands[0].index))
    return;
  const Operand value = writer_of(op, first, second)->operands[2];
  op.kind = OpKind::copy;
  op.operands = {value};
  op.is_tracked = false;
}

void LoopMerger::await_bounds() {
  for (const auto& [body, bounds] : bounds_)
    if (!bounds.empty()) await_bounds(body, bounds);
}

}  // namespace raddle::opt
