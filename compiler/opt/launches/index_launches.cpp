#include "compiler/opt/launches/index_launches.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "compiler/opt/flatten/flat_bodies.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "compiler/ir/waits_for_others.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/launches/launch_nests.hpp"
#include "compiler/opt/launches/own_sequences.hpp"
#include "compiler/opt/launches/short_chains.hpp"
#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/leaves/order_library_calls.hpp"
#include "compiler/opt/leaves/plain_launch.hpp"
#include "compiler/opt/leaves/projected_launch.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

ir::FunctionId add(ir::Module& module, ir::Function function) {
  module.functions.push_back(std::move(function));  // a deque: functions and their operations stay where they are
  return static_cast<ir::FunctionId>(module.functions.size() - 1);
}

void set_launch(ir::Function& around, ir::Op& loop, ir::IndexLaunch launch) {
  loop.launch = static_cast<ir::LaunchId>(around.launches.size());
  around.launches.push_back(std::move(launch));
}

bool make_plain_launch(ir::Module& module, ir::Function& around, ir::Op& loop) {
  PlainLaunch launch(module, around, loop);
  std::optional<ir::Function> made = launch.run();
  if (made) put_library_calls_last(module, *made);
  if (!made || !can_be_leaf(module, *made)) return false;
  set_launch(around, loop,
             {.kernel = add(module, std::move(*made)), .captures = launch.captures(), .accesses = launch.accesses()});
  return true;
}

void make_projected_launch(ir::Module& module, ir::Function& around, ir::Op& loop) {
  ProjectedLaunch launch(module, around, loop);
  if (!launch.run()) return;
  ir::Function computation = launch.computation().take_function(), projection = launch.projection().take_function();
  put_library_calls_last(module, computation);
  if (!may_be_launched(module, computation, projection)) return;
  ir::IndexLaunch made{.captures = launch.computation().captures(), .accesses = launch.accesses()};
  if (!made.is_projected()) return;
  made.kernel = add(module, std::move(computation));
  if (launch.computes_keys()) {
    made.projection = add(module, std::move(projection));
    made.projected = launch.projection().captures();
  }
  set_launch(around, loop, std::move(made));
}

bool has_loops(const ir::Function& function, const ir::Op& loop) {
  const std::vector<ir::Op>& body = function.regions[loop.regions[0]].ops;
  return std::ranges::find(body, OpKind::foreach_range, &ir::Op::kind) != body.end();
}

/// The outermost loop of a statement, as one over several ranges has one span for all of them.
const ir::Op* loop_at(const ir::Function& function, Span span) {
  const auto is_it = [&](const ir::Op& op) {
    return op.kind == OpKind::foreach_range && op.span.file == span.file && op.span.begin == span.begin;
  };
  for (const ir::Region& region : function.regions)
    if (const auto found = std::ranges::find_if(region.ops, is_it); found != region.ops.end()) return &*found;
  return nullptr;
}

/// It reads elements of an array of which loops around write others: to wait for all of it would take for ever.
bool reads_what_is_written_around(const ir::Function& function, ir::RegionId region, const ir::Op& loop) {
  if (loop.kind != OpKind::foreach_range) return false;
  std::set<ir::VarId> read;
  visit_nested(function, loop, [&](const ir::Op& op) {
    if (op.kind == OpKind::array_get) read.insert(op.operands[0].index);
  });
  if (read.empty()) return false;  // else all of the function is looked at
  return std::ranges::any_of(ir::written_by_loops_around(function, region),
                             [&](ir::VarId array) { return read.contains(array); });
}

void make_launch(ir::Module& module, ir::Function& around, ir::RegionId region, ir::Op& loop) {
  if (!has_launch_space(module, around, loop)) return;
  if (reads_what_is_written_around(around, region, loop)) make_projected_launch(module, around, loop);
  if (loop.launch == ir::none && !make_plain_launch(module, around, loop)) make_projected_launch(module, around, loop);
}

/// @param is_alone  all values come from the script itself: iterations with loops begin when all arrays are there that
/// these read, as one that is interpreted takes some fifty times as long
void find_in(ir::Module& module, ir::FunctionId id, bool is_alone) {
  ir::Function& function = module.functions[id];
  for (ir::RegionId region = 0; region < function.regions.size(); ++region) {
    for (ir::Op& op : function.regions[region].ops) {
      make_launch(module, function, region, op);
      if (op.launch != ir::none) op.is_needed |= is_alone && has_loops(function, op);
      if (op.kind == OpKind::foreach_range && op.launch == ir::none) launch_flat_body(module, function, op, is_alone);
    }
  }
  const std::size_t before = function.regions.size();
  if (is_alone) launch_short_chains(module, function);
  launch_own_sequences(module, function, is_alone);
  for (auto made = static_cast<ir::RegionId>(before); made < function.regions.size(); ++made)
    for (ir::Op& op : function.regions[made].ops)
      if (op.launch == ir::none) make_launch(module, function, made, op);
  for (ir::Region& region : function.regions)
    for (ir::Op& op : region.ops) make_launch_nest(module, function, op);
  collapse_nests(module, function);
  std::erase_if(function.not_launched, [&](const ir::Function::NotLaunched& each) {
    const ir::Op* const loop = loop_at(function, each.loop);
    return loop && (loop->launch != ir::none || loop->nest != ir::none);
  });
}

}  // namespace

void find_index_launches(ir::Module& module) {
  const auto count = static_cast<ir::FunctionId>(module.functions.size());  // before this makes more
  for (const bool is_alone = !ir::waits_for_others(module); const ir::FunctionId id : std::views::iota(0U, count))
    if (module.functions[id].kind == ir::FunctionKind::composite) find_in(module, id, is_alone);
  launch_reduced_loops(module);  // in the kernels of launches
}

void launch_reduced_loops(ir::Module& module) {
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {  // also of those that this makes
    ir::Function& function = module.functions[id];
    if (!function.is_leaf()) continue;
    const ir::ReducedLoops reduced(module, function);
    const auto is_open = [](const ir::Op& op) { return op.kind == OpKind::foreach_range && op.launch == ir::none; };
    for (ir::Region& region : function.regions)
      for (ir::Op& op : region.ops)
        if (is_open(op) && reduced.of(op)) make_plain_launch(module, function, op);
  }
}

}  // namespace raddle::opt
