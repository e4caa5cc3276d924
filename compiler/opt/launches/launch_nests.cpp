#include "compiler/opt/launches/launch_nests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/ir/nest_values.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/leaves/loop_body_copier.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

/// What is to be the same for all points: the array, and how long rows are.
template <typename IsOutside>
bool is_access_outside(const ir::Access& access, const IsOutside& is_outside) {
  return is_outside(access.data) && (access.mode != ir::AccessMode::row || is_outside(access.keys[0].operand));
}

/// The inner loop's range and arrays are there before the outer loop.
bool is_same_for_all(const ir::Function& around, const ir::Op& inner, const LoopBodyCopier& outer) {
  const auto is_outside = [&](ir::Operand operand) { return operand.is_constant || !outer.declares(operand.index); };
  return std::ranges::all_of(inner.operands, is_outside) &&
         std::ranges::all_of(around.launches[inner.launch].accesses,
                             [&](const ir::Access& access) { return is_access_outside(access, is_outside); });
}

}  // namespace

bool make_launch_nest(ir::Module& module, ir::Function& around, ir::Op& loop) {
  if (loop.kind != ir::OpKind::foreach_range || loop.launch != ir::none ||
      type_of(module, around, loop.operands[0]) != TypeStore::int_)
    return false;
  const ir::Op* const inner = ir::launch_within(around, loop);
  if (!inner) return false;
  std::vector<ir::VarId> values = ir::nest_values(around, loop, *inner);
  if (values.empty()) return false;
  LoopBodyCopier prelude(module, around, loop, "prelude");
  if (prelude.counter_is_read() || prelude.assigns_outside() || !is_same_for_all(around, *inner, prelude)) return false;
  std::set<ir::VarId> needed(values.begin(), values.end());
  std::set<const ir::Op*> left_out;  // for the body alone, where it is interpreted
  const ir::Region& body = around.regions[loop.regions[0]];
  for (auto op = body.ops.rbegin(); op != body.ops.rend(); ++op) {
    if (&*op == inner) continue;
    const std::vector<ir::VarId> assigned = variables_assigned(around, *op);
    if (!std::ranges::any_of(assigned, [&](ir::VarId id) { return needed.contains(id); })) {
      if (!can_not_fail(module, around, *op)) return false;
      left_out.insert(&*op);
      continue;
    }
    for (const ir::VarId id : variables_read(around, *op)) needed.insert(id);
  }
  prelude.add_parameter(body.parameters[0]);
  prelude.copy_body([&](const ir::Op& op) { return &op != inner && !left_out.contains(&op); });
  for (const ir::VarId value : values) {
    if (!TypeStore::is_number_or_truth(module.types->base(around.variables[value].type))) return false;
    prelude.add_output(ir::Operand::variable(value), loop.span);
  }
  ir::Function made = prelude.take_function();
  if (!can_be_leaf(module, made) || ir::HeavyLeaves(module).is_heavy(made) || ir::calls_library(module, made))
    return false;
  module.functions.push_back(std::move(made));
  loop.nest = static_cast<ir::NestId>(around.nests.size());
  loop.is_needed |= inner->is_needed;
  around.nests.push_back({.launch = inner->launch,
                          .prelude = static_cast<ir::FunctionId>(module.functions.size() - 1),
                          .captures = prelude.captures(),
                          .values = std::move(values)});
  return true;
}

namespace {

using ir::Operand;
using ir::OpKind;

/// Makes one loop of two, of which the inner one is a nest.
class Collapse {
 public:
  Collapse(ir::Module& module, ir::Function& around, ir::RegionId region, std::size_t index)
      : module_(module), around_(around), region_(region), index_(index) {}

  bool is_possible() {
    if (!find_inner()) return false;
    const ir::Op &outer = loop(), &inner = this->inner();
    const ir::IndexLaunch& launch = around_.launches[around_.nests[inner.nest].launch];
    const auto is_outside = [this](Operand operand) { return operand.is_constant || !lies_in(operand.index, body_); };
    const auto is_fixed = [&](const ir::Access& access) { return is_access_outside(access, is_outside); };
    const bool placed_alike = outer.placement == inner.placement || outer.placement == vm::Placement::any ||
                              inner.placement == vm::Placement::any;
    return has_step_one(outer) && has_step_one(inner) && std::ranges::all_of(inner.operands, is_outside) &&
           std::ranges::all_of(launch.accesses, is_fixed) && !is_chained(launch) && outer.is_whole == inner.is_whole &&
           placed_alike;
  }

  /// @return where the one loop stands in the region
  std::size_t run() {
    const ir::Op outer = loop(), inner = this->inner();
    find_place(outer, inner);
    const Operand one = constant(1), counts[] = {count(outer, false), count(inner, true)};
    const Operand all = before(OpKind::mul, {counts[0], counts[1]}), last = before(OpKind::sub, {all, one});
    loop().collapsed = {level(outer, counts[1])};
    if (inner.collapsed.empty())
      loop().collapsed.push_back(level(inner, one));
    else
      loop().collapsed.insert(loop().collapsed.end(), inner.collapsed.begin(), inner.collapsed.end());
    flatten(outer, inner, counts[1]);
    ir::Op& made = loop();
    made.operands = {constant(0), last, one};
    made.merged.clear();
    if (made.placement == vm::Placement::any) made.placement = inner.placement;
    made.is_needed |= inner.is_needed;
    replace_nest(inner.nest);
    return index_;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) const { return around_.regions[region].ops; }
  ir::Op& loop() const { return ops(region_)[index_]; }
  ir::Op& inner() const { return ops(body_)[inner_]; }
  Operand constant(std::int64_t number) { return Operand::constant(module_.constant(number)); }

  /// All else in the body is numbers that are there whatever happens, and its own.
  bool find_inner() {
    if (loop().kind != OpKind::foreach_range || loop().launch != ir::none || loop().nest != ir::none ||
        type_of(module_, around_, loop().operands[0]) != TypeStore::int_)
      return false;
    body_ = loop().regions[0];
    inner_ = ops(body_).size();
    for (std::size_t i = 0; i < ops(body_).size(); ++i) {
      const ir::Op& op = ops(body_)[i];
      const auto is_own = [&](ir::VarId id) { return around_.variables[id].region == body_; };
      if (op.nest != ir::none && inner_ == ops(body_).size())
        inner_ = i;
      else if (!op.regions.empty() || !can_not_fail(module_, around_, op) || !std::ranges::all_of(op.results, is_own))
        return false;
    }
    return inner_ < ops(body_).size();
  }

  bool lies_in(ir::VarId id, ir::RegionId region) const {
    for (ir::RegionId at = around_.variables[id].region; at != ir::none; at = around_.regions[at].parent)
      if (at == region) return true;
    return false;
  }

  bool has_step_one(const ir::Op& op) const {
    return op.operands[2].is_constant && module_.constants[op.operands[2].index] == ir::Constant(std::int64_t{1});
  }

  /// Its points wait for each other, each worker for what others do of the same row.
  static bool is_chained(const ir::IndexLaunch& launch) {
    return std::ranges::any_of(launch.accesses, [&](const ir::Access& read) {
      const auto is_written = [&](const ir::Access& access) {
        return access.mode != ir::AccessMode::read && access.data == read.data;
      };
      return read.mode == ir::AccessMode::read && std::ranges::any_of(launch.accesses, is_written);
    });
  }

  ir::VarId declare(ir::RegionId region) {
    const auto id = static_cast<ir::VarId>(around_.variables.size());
    around_.variables.push_back({.name = "", .type = TypeStore::int_, .span = loop().span, .region = region});
    return id;
  }
  ir::Op operation(OpKind kind, std::vector<Operand> operands, ir::VarId result) const {
    ir::Op op;
    op.kind = kind;
    op.span = loop().span;
    op.operands = std::move(operands);
    op.results = {result};
    return op;
  }

  /// What the bounds give is computed before all loops around that do not change them: so these may become one, too.
  void find_place(const ir::Op& outer, const ir::Op& inner) {
    place_ = {region_, index_};
    const auto is_fixed = [this](Operand operand) {
      return operand.is_constant || !lies_in(operand.index, place_.region);
    };
    while (std::ranges::all_of(outer.operands, is_fixed) && std::ranges::all_of(inner.operands, is_fixed)) {
      const ir::RegionId parent = around_.regions[place_.region].parent;
      if (parent == ir::none) return;
      const auto is_around = [&](const ir::Op& op) {
        return op.kind == OpKind::foreach_range && op.regions[0] == place_.region;
      };
      const auto found = std::ranges::find_if(ops(parent), is_around);
      if (found == ops(parent).end()) return;
      place_ = {parent, static_cast<std::size_t>(found - ops(parent).begin())};
    }
  }

  /// An operation that is done before the loop.
  Operand before(OpKind kind, std::vector<Operand> operands) {
    const ir::VarId result = declare(place_.region);
    around_.regions[place_.region].variables.push_back(result);
    ir::Op op = operation(kind, std::move(operands), result);
    if (kind == OpKind::call_builtin) op.callee = stdlib::find_builtin("max_integer").value();
    std::vector<ir::Op>& all = ops(place_.region);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(place_.index++), std::move(op));
    if (place_.region == region_) ++index_;
    return Operand::variable(result);
  }

  /// How many iterations it has. @param is_least_zero  else it may be negative if there are none
  Operand count(const ir::Op& of, bool is_least_zero) {
    const Operand distance = before(OpKind::sub, {of.operands[1], of.operands[0]});
    const Operand made = before(OpKind::add, {distance, constant(1)});
    return is_least_zero ? before(OpKind::call_builtin, {made, constant(0)}) : made;
  }

  ir::CollapsedLoop level(const ir::Op& of, Operand each) const {
    return {.merged = ir::loops_in(around_, of),
            .variable = around_.regions[of.regions[0]].parameters[0],
            .low = of.operands[0],
            .high = of.operands[1],
            .each = each};
  }

  /// The inner loop's body becomes part of the outer one's, where those variables of both loops are computed that are
  /// read.
  void flatten(const ir::Op& outer, const ir::Op& inner, Operand count) {
    const ir::RegionId from = inner.regions[0];
    const std::vector<std::uint32_t> reads = count_reads(around_);
    ir::Region &body = around_.regions[body_], &rest = around_.regions[from];
    for (const ir::VarId id : rest.variables) around_.variables[id].region = body_;
    body.variables.insert(body.variables.end(), rest.variables.begin(), rest.variables.end());
    for (ir::Op& op : rest.ops)
      for (const ir::RegionId within : op.regions) around_.regions[within].parent = body_;

    std::vector<ir::Op> made;
    const auto assign = [&](ir::VarId variable, OpKind kind, std::vector<Operand> operands) {
      around_.variables[variable].region = body_;
      body.variables.push_back(variable);
      made.push_back(operation(kind, std::move(operands), variable));
      return Operand::variable(variable);
    };
    const auto set = [&](const ir::Op& loop, const std::vector<ir::VarId>& variables, Operand number) {
      if (reads[variables[0]] != 0) assign(variables[0], OpKind::index_add, {loop.operands[0], number});
      if (reads[variables[1]] != 0) assign(variables[1], OpKind::copy, {number});
    };
    const auto is_read = [&](ir::VarId id) { return reads[id] != 0; };
    const std::vector<ir::VarId> outer_variables = std::exchange(body.parameters, {declare(body_), declare(body_)});
    const Operand number = Operand::variable(body.parameters[0]);
    const bool reads_inner = std::ranges::any_of(rest.parameters, is_read);
    if (reads_inner || std::ranges::any_of(outer_variables, is_read)) {
      const Operand row = assign(declare(body_), OpKind::idiv, {number, count});
      set(outer, outer_variables, row);
      if (reads_inner) {
        const Operand before_row = assign(declare(body_), OpKind::index_mul, {row, count});
        set(inner, rest.parameters, assign(declare(body_), OpKind::sub, {number, before_row}));
      }
    }
    const auto at = static_cast<std::ptrdiff_t>(made.size() + inner_);
    std::ranges::move(body.ops, std::back_inserter(made));
    made.erase(made.begin() + at);
    made.insert(made.begin() + at, std::make_move_iterator(rest.ops.begin()), std::make_move_iterator(rest.ops.end()));
    body.ops = std::move(made);
    rest = {.parameters = {}, .variables = {}, .ops = {}, .parent = body_};
  }

  /// The nest of both loops takes the place of the inner one's, which nobody names any more.
  void replace_nest(ir::NestId id) {
    if (!make_launch_nest(module_, around_, loop())) throw std::logic_error("two loops are no nest any more");
    ir::LaunchNest made = std::move(around_.nests.back());
    around_.nests.pop_back();
    const ir::FunctionId prelude = std::exchange(made.prelude, around_.nests[id].prelude);
    ir::Function& kept = module_.functions[made.prelude];
    std::swap(kept, module_.functions[prelude]);
    std::swap(kept.name, module_.functions[prelude].name);  // the other name may be given again
    module_.functions.pop_back();
    around_.nests[id] = std::move(made);
    loop().nest = id;
  }

  ir::Module& module_;
  ir::Function& around_;
  const ir::RegionId region_;
  std::size_t index_;
  ir::RegionId body_ = ir::none;
  std::size_t inner_ = 0;
  OpPlace place_ = {};  ///< where what is done before the loop stands
};

/// Loops within come first: what becomes of them is perhaps the nest of the loop around.
void collapse_in(ir::Module& module, ir::Function& around, ir::RegionId region) {
  for (std::size_t i = 0; i < around.regions[region].ops.size(); ++i) {
    const std::vector<ir::RegionId> within = around.regions[region].ops[i].regions;
    for (const ir::RegionId each : within) collapse_in(module, around, each);
    while (around.regions[region].ops[i].regions != within) ++i;  // something may stand before it now
    if (Collapse collapse(module, around, region, i); collapse.is_possible()) i = collapse.run();
  }
}

}  // namespace

void collapse_nests(ir::Module& module, ir::Function& around) { collapse_in(module, around, 0); }

}  // namespace raddle::opt
