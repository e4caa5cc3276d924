#include "compiler/opt/index_launches.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>

#include "compiler/flatten/flat_bodies.hpp"
#include "compiler/ir/body_accesses.hpp"
#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/infer_leaves.hpp"
#include "compiler/opt/launch_nests.hpp"
#include "compiler/opt/loop_body_copier.hpp"
#include "compiler/opt/order_library_calls.hpp"
#include "compiler/opt/projected_launch.hpp"
#include "compiler/opt/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// Points that write to elements with their number, perhaps of a row that is the same for all, and read nothing that
/// the loop writes.
class PlainLaunch {
 public:
  PlainLaunch(const ir::Module& module, const ir::Function& around, const ir::Op& loop)
      : around_(around),
        loop_(loop),
        body_(around.regions[loop.regions[0]]),
        point_(!is_over_array()              ? body_.parameters[0]
               : body_.parameters.size() > 1 ? body_.parameters[1]
                                             : ir::none),
        accesses_(ir::body_accesses(module, around, loop)),
        copier_(module, around, loop, "launch") {}

  /// @return none if the loop can not be such a launch, whatever the rest of its body computes
  std::optional<ir::Function> run() {
    const auto is_sink = [this](const ir::BodyAccess& write) { return this->is_sink(write); };
    if (!std::ranges::all_of(accesses_.writes, is_sink) || writes_inside() || copier_.counter_is_read() ||
        copier_.assigns_outside() || reads_what_it_writes())
      return std::nullopt;
    if (point_ == ir::none)
      copier_.add_unnamed_parameter(TypeStore::int_);
    else
      copier_.add_parameter(point_);
    if (is_over_array()) copier_.add_element(loop_.operands[0], body_.parameters[0]);
    copier_.copy_body([this](const ir::Op& op) { return !is_write(op); });
    for (const ir::BodyAccess& write : accesses_.writes) copier_.add_output(write.op->operands.back(), write.op->span);
    return copier_.take_function();
  }
  const std::vector<ir::Operand>& captures() const { return copier_.captures(); }
  std::vector<ir::Access> accesses() const {
    std::vector<ir::Access> made;
    for (const ir::BodyAccess& write : accesses_.writes) {
      made.push_back(with_same_keys(write));
      if (write.mode == ir::AccessMode::write) made.back().keys.push_back({});  // the point
    }
    return made;
  }

 private:
  bool is_over_array() const { return loop_.kind == OpKind::foreach_array; }
  bool is_from_outside(ir::Operand operand) const { return operand.is_constant || !copier_.declares(operand.index); }

  /// Where the value of a point goes: `A[i] = value`, `A[k][i] = value`, `u <incr> := value`, with `A`, `u` and `k`
  /// from outside.
  bool is_sink(const ir::BodyAccess& write) const {
    if (!is_from_outside(write.array) || write.mode == ir::AccessMode::row) return false;
    if (!is_element(write.mode)) return true;
    return point_ != ir::none && write.keys.back() == ir::Operand::variable(point_) &&
           write.fixed_keys + 1 == write.keys.size();
  }

  bool writes_inside() const {
    const auto is_write = [](const ir::BodyAccess& access) { return access.mode != ir::AccessMode::read; };
    return std::ranges::any_of(accesses_.inside, is_write);
  }

  bool is_write(const ir::Op& op) const {
    return op.kind == OpKind::array_row || op.kind == OpKind::array_insert || op.kind == OpKind::array_hold ||
           op.kind == OpKind::update;
  }

  /// An element may depend on others of the same loop: only dataflow finds an order.
  bool reads_what_it_writes() const {
    return std::ranges::any_of(accesses_.writes, [&](const ir::BodyAccess& write) {
      return std::ranges::any_of(body_.ops, [&](const ir::Op& op) {
        if (is_write(op)) return false;
        const std::vector<ir::VarId> read = variables_read(around_, op);
        return std::ranges::find(read, write.array.index) != read.end();
      });
    });
  }

  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::Region& body_;
  const ir::VarId point_;  ///< none: the body does not name it
  const ir::BodyAccesses accesses_;
  LoopBodyCopier copier_;
};

/// Ints, or the elements of an array with int keys.
bool has_launch_space(const ir::Module& module, const ir::Function& function, const ir::Op& loop) {
  if (loop.kind != OpKind::foreach_range && loop.kind != OpKind::foreach_array) return false;
  const TypeStore& types = *module.types;
  const TypeId type = type_of(module, function, loop.operands[0]);
  if (loop.kind == OpKind::foreach_range) return type == TypeStore::int_;
  return types.is_array(type) && types.at(type).key == TypeStore::int_;
}

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

/// Keys that take long to compute would be computed twice if a value depends on them, and for points that only wait.
struct ProjectedFunctions {
  ir::Function computation, projection;
  bool may_be_launched(const ir::Module& module) const {
    return can_be_leaf(module, computation) && can_be_leaf(module, projection) &&
           !ir::HeavyLeaves(module).is_heavy(projection) && !ir::calls_library(module, projection);
  }
};

}  // namespace

bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop) {
  const auto is_leaf = [&](ir::FunctionId callee) { return module.functions[callee].kind == ir::FunctionKind::leaf; };
  return is_plain_launch(module, around, loop, is_leaf);
}

bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop, const IsLeaf& is_leaf) {
  if (!has_launch_space(module, around, loop)) return false;
  PlainLaunch launch(module, around, loop);
  const std::optional<ir::Function> made = launch.run();
  return made && !ir::calls_library(module, *made) && can_be_leaf(module, *made, is_leaf);
}

bool is_projected_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop) {
  ProjectedLaunch launch(module, around, loop);
  if (!has_launch_space(module, around, loop) || !launch.run()) return false;
  const ProjectedFunctions made{launch.computation().take_function(), launch.projection().take_function()};
  return made.may_be_launched(module) && !ir::calls_library(module, made.computation);
}

namespace {

void make_projected_launch(ir::Module& module, ir::Function& around, ir::Op& loop) {
  ProjectedLaunch launch(module, around, loop);
  if (!launch.run()) return;
  ProjectedFunctions functions{launch.computation().take_function(), launch.projection().take_function()};
  put_library_calls_last(module, functions.computation);
  if (!functions.may_be_launched(module)) return;
  ir::IndexLaunch made{.captures = launch.computation().captures(), .accesses = launch.accesses()};
  if (!made.is_projected()) return;
  made.kernel = add(module, std::move(functions.computation));
  if (launch.computes_keys()) {
    made.projection = add(module, std::move(functions.projection));
    made.projected = launch.projection().captures();
  }
  set_launch(around, loop, std::move(made));
}

void find_in(ir::Module& module, ir::FunctionId id, bool is_alone) {
  ir::Function& function = module.functions[id];
  for (ir::Region& region : function.regions) {
    for (ir::Op& op : region.ops) {
      if (has_launch_space(module, function, op) && !make_plain_launch(module, function, op))
        make_projected_launch(module, function, op);
      if (op.kind == OpKind::foreach_range && op.launch == ir::none) launch_flat_body(module, function, op, is_alone);
    }
  }
  for (ir::Region& region : function.regions)
    for (ir::Op& op : region.ops) make_launch_nest(module, function, op);
  collapse_nests(module, function);
}

}  // namespace

void find_index_launches(ir::Module& module) {
  const auto count = static_cast<ir::FunctionId>(module.functions.size());  // before this makes more
  for (const bool is_alone = !waits_for_others(module); const ir::FunctionId id : std::views::iota(0U, count))
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
