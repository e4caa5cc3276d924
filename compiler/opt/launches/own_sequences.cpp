#include "compiler/opt/launches/own_sequences.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/flatten/flat_bodies.hpp"
#include "compiler/opt/launches/loop_kernels.hpp"
#include "compiler/opt/launches/waiting_points.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// The arrays of one region that such loops fill, and what writes them.
class OwnSequence {
 public:
  OwnSequence(ir::Module& module, ir::Function& function, ir::RegionId region)
      : module_(module), function_(function), region_(region), writers_(function) {}

  /// @return false: they can not become one iteration
  bool find(ir::VarId array) {
    arrays_ = {array};
    return find_writers() && has_sequence() && knows_all_inputs() && keeps_results();
  }

  /// @return where the loop is that they have become
  OpPlace enclose();

 private:
  std::vector<ir::Op>& ops() { return function_.regions[region_].ops; }
  bool is_writer(std::size_t op) const { return writing_.contains(op); }

  const ir::Op* maker_of(ir::VarId array) {
    const auto makes = [&](const ir::Op& op) { return op.kind == OpKind::array_new && op.results[0] == array; };
    const auto found = std::ranges::find_if(ops(), makes);
    return found == ops().end() ? nullptr : &*found;
  }
  bool is_dense(ir::VarId array) {
    const ir::Op* const made = maker_of(array);
    const auto type = ir::kernel_type(*module_.types, function_.variables[array].type);
    return made && !made->operands.empty() && type && vm::is_array(*type);
  }

  /// With all other arrays that these write.
  bool find_writers() {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < ops().size(); ++i) {
        const std::vector<ir::VarId> held = writers_.held_by(ops()[i]);
        if (std::ranges::none_of(held, [&](ir::VarId array) { return arrays_.contains(array); })) continue;
        grows |= writing_.insert(i).second;
        for (const ir::VarId array : held) grows |= arrays_.insert(array).second;
      }
    }
    return std::ranges::all_of(arrays_, [&](ir::VarId array) { return is_dense(array); });
  }

  bool has_sequence() { return has_loop_in_order() || has_table(); }
  bool has_loop_in_order() {
    return std::ranges::any_of(writing_, [&](std::size_t i) {
      std::vector<const ir::Op*> around;
      return writes_in_order(ops()[i], around);
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

  /// Points of a `foreach` wait for one another, and all of it is so short that what each takes on its own, as a task,
  /// is more than what workers would gain.
  bool has_table() {
    std::set<const ir::Function*> seen;
    const auto waits = [&](std::size_t i) { return has_waiting_points(function_, ops()[i]); };
    const auto is_short = [&](std::size_t i) { return is_short_in(function_, ops()[i], seen); };
    return std::ranges::any_of(writing_, waits) && std::ranges::all_of(writing_, is_short);
  }
  /// No loop in order, but sums and the like.
  bool is_short_in(const ir::Function& function, const ir::Op& op, std::set<const ir::Function*>& seen) {
    bool is_short = true;
    visit_nested(function, op, [&](const ir::Op& each) {
      is_short = is_short && each.kind != OpKind::loop;
      if (!is_short || each.kind != OpKind::call) return;
      const ir::Function& called = module_.functions[each.callee];
      if (!seen.insert(&called).second) return;
      for (const ir::Region& region : called.regions)
        for (const ir::Op& inner : region.ops) is_short = is_short && is_short_in(called, inner, seen);
    });
    return is_short;
  }

  /// They would wait for themselves if what they read depends on what they write.
  bool knows_all_inputs() {
    std::set<ir::VarId> dependent = arrays_;
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < ops().size(); ++i) {
        const auto is_dependent = [&](ir::VarId id) { return dependent.contains(id); };
        if (is_writer(i) || !std::ranges::any_of(variables_read(function_, ops()[i]), is_dependent)) continue;
        for (const ir::VarId id : variables_assigned(function_, ops()[i])) grows |= dependent.insert(id).second;
        for (const ir::VarId id : writers_.held_by(ops()[i])) grows |= dependent.insert(id).second;
      }
    }
    return std::ranges::all_of(writing_, [&](std::size_t i) {
      return std::ranges::all_of(variables_read(function_, ops()[i]),
                                 [&](ir::VarId id) { return arrays_.contains(id) || !dependent.contains(id); });
    });
  }

  /// Nothing but the arrays is read elsewhere.
  bool keeps_results() {
    for (const std::size_t i : writing_)
      for (const ir::VarId id : variables_assigned(function_, ops()[i]))
        if (!is_inside(i, id)) assigned_.insert(id);
    const auto is_own = [&](ir::VarId id) { return function_.variables[id].region == region_; };
    if (!std::ranges::all_of(assigned_, is_own)) return false;
    const auto is_kept = [&](ir::VarId id) { return assigned_.contains(id); };
    if (std::ranges::any_of(function_.outputs, is_kept)) return false;
    for (std::size_t i = 0; i < ops().size(); ++i)
      if (!is_writer(i) && std::ranges::any_of(variables_read(function_, ops()[i]), is_kept)) return false;
    return !is_read_around(is_kept);
  }
  /// As a condition of the loop that the region is the body of, or its next value.
  bool is_read_around(const auto& is_kept) const {
    bool found = false;
    for (const ir::Region& each : function_.regions)
      for (const ir::Op& op : each.ops)
        if (std::ranges::find(op.regions, region_) != op.regions.end())
          visit_operands(
              op, [&](const Operand& operand) { found = found || (!operand.is_constant && is_kept(operand.index)); });
    return found;
  }
  bool is_inside(std::size_t op, ir::VarId id) {
    bool found = false;
    visit_nested(function_, ops()[op], [&](const ir::Op& inner) {
      for (const ir::RegionId nested : inner.regions) found = found || function_.variables[id].region == nested;
    });
    return found;
  }

  // ---------------------------------------------------------------- what they become

  Operand number(std::int64_t value) { return Operand::constant(module_.constant(value)); }
  ir::VarId declare(TypeId type, Span span, ir::RegionId in, std::string name = "") {
    function_.variables.push_back({std::move(name), type, span, in});
    return static_cast<ir::VarId>(function_.variables.size() - 1);
  }
  Operand put(std::vector<ir::Op>& into, ir::RegionId in, OpKind kind, std::vector<Operand> operands, Span span) {
    ir::Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    op.span = span;
    const ir::VarId result = declare(TypeStore::int_, span, in);
    function_.regions[in].variables.push_back(result);
    op.results = {result};
    into.push_back(std::move(op));
    return Operand::variable(result);
  }
  /// How many elements an array has, and the number of its last one.
  std::pair<Operand, Operand> size_of(const ir::Op& made, std::vector<ir::Op>& before) {
    const auto known = [&](Operand operand) {
      return operand.is_constant ? std::optional(std::get<std::int64_t>(module_.constants[operand.index]))
                                 : std::nullopt;
    };
    Operand size = made.operands[0];
    for (const Operand extent : std::span(made.operands).subspan(1)) {
      const auto one = known(size), other = known(extent);
      std::int64_t both = 0;
      if (one && other && !__builtin_mul_overflow(*one, *other, &both))
        size = number(both);
      else
        size = put(before, region_, OpKind::index_mul, {size, extent}, made.span);
    }
    if (const auto count = known(size)) return {size, number(*count - 1)};
    return {size, put(before, region_, OpKind::index_add, {size, number(-1)}, made.span)};
  }
  void move_in(ir::Op& op, ir::RegionId body) {
    visit_nested(function_, op, [&](const ir::Op& inner) {
      for (const ir::RegionId nested : inner.regions)
        for (ir::Op& each : function_.regions[nested].ops) read_own(each);
    });
    read_own(op);
    for (std::size_t i = 0; i < op.regions.size(); ++i)
      if (op.kind != OpKind::loop || i == 0) function_.regions[op.regions[i]].parent = body;
  }
  void read_own(ir::Op& op) {
    const auto read = [&](Operand& operand) {
      if (const auto own = operand.is_constant ? own_.end() : own_.find(operand.index); own != own_.end())
        operand = Operand::variable(own->second);
    };
    visit_operands(op, read);
    if (op.launch != ir::none) visit_launch(function_.launches[op.launch], read);
  }
  void make_own(std::vector<ir::Op>& inside, ir::RegionId body) {
    for (const ir::VarId array : arrays_) {
      const ir::Var like = function_.variables[array];
      own_[array] = declare(like.type, like.span, body, like.name);
      function_.regions[body].variables.push_back(own_[array]);
      ir::Op made = *maker_of(array);
      made.results = {own_[array]};
      inside.push_back(std::move(made));
    }
    for (const ir::Op& op : ops()) {
      const bool is_check = op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@complete";
      if (!is_check || op.operands[0].is_constant || !arrays_.contains(op.operands[0].index)) continue;
      ir::Op check = op;
      check.results = {declare(TypeStore::void_, op.span, body)};
      function_.regions[body].variables.push_back(check.results[0]);
      read_own(check);
      inside.push_back(std::move(check));
    }
  }
  /// The array that is made inside becomes the only row of the one outside.
  void store(ir::VarId array, ir::RegionId body, std::vector<ir::Op>& inside, std::vector<ir::Op>& before) {
    const Span span = function_.variables[array].span;
    const auto [size, last] = size_of(*maker_of(array), before);
    const Operand first =
        put(inside, body, OpKind::index_mul, {Operand::variable(function_.regions[body].parameters[0]), size}, span);
    const auto row = add_region(body, span);
    std::vector<ir::Op> copies;
    const Operand point = Operand::variable(function_.regions[row].parameters[0]);
    const Operand key = put(copies, row, OpKind::index_add, {first, point}, span);
    const TypeId type = module_.types->at(module_.types->base(function_.variables[array].type)).element;
    ir::Op read;
    read.kind = OpKind::array_get;
    read.operands = {Operand::variable(own_.at(array)), point};
    read.results = {declare(type, span, row)};
    read.span = span;
    function_.regions[row].variables.push_back(read.results[0]);
    ir::Op insert;
    insert.kind = OpKind::array_insert;
    insert.operands = {Operand::variable(array), key, Operand::variable(read.results[0])};
    insert.span = span;
    copies.push_back(std::move(read));
    copies.push_back(std::move(insert));
    function_.regions[row].ops = std::move(copies);
    inside.push_back(loop_over(row, last, span));
  }
  ir::RegionId add_region(ir::RegionId parent, Span span) {
    const auto made = static_cast<ir::RegionId>(function_.regions.size());
    function_.regions.emplace_back().parent = parent;
    for (int i = 0; i < 2; ++i) {
      const ir::VarId parameter = declare(TypeStore::int_, span, made);
      function_.regions[made].parameters.push_back(parameter);
    }
    return made;
  }
  ir::Op loop_over(ir::RegionId region, Operand last, Span span) {
    ir::Op loop;
    loop.kind = OpKind::foreach_range;
    loop.operands = {number(0), last, number(1)};
    loop.regions = {region};
    loop.span = span;
    return loop;
  }

  ir::Module& module_;
  ir::Function& function_;
  const ir::RegionId region_;
  const ir::Writers writers_;
  std::set<ir::VarId> arrays_;
  std::set<std::size_t> writing_;  ///< operations of the region that write them
  std::set<ir::VarId> assigned_;   ///< what these assign, declared in the region
  std::map<ir::VarId, ir::VarId> own_;
};

OpPlace OwnSequence::enclose() {
  Span span;
  for (const std::size_t i : writing_)
    if ((ops()[i].kind == OpKind::loop || has_waiting_points(function_, ops()[i])) && span.end == 0)
      span = ops()[i].span;
  const ir::RegionId body = add_region(region_, span);
  std::vector<ir::Op> inside, before, outside;
  make_own(inside, body);
  for (const std::size_t i : writing_) {
    move_in(ops()[i], body);
    order_waiting_points(module_, function_, ops()[i]);
    inside.push_back(ops()[i]);
  }
  for (const ir::VarId id : assigned_) {
    std::erase(function_.regions[region_].variables, id);
    function_.variables[id].region = body;
    function_.regions[body].variables.push_back(id);
  }
  for (const ir::VarId array : arrays_) store(array, body, inside, before);
  function_.regions[body].ops = std::move(inside);
  OpPlace place{region_, 0};
  for (std::size_t i = 0; i < ops().size(); ++i) {
    if (!is_writer(i)) outside.push_back(std::move(ops()[i]));
    if (i != *writing_.rbegin()) continue;
    for (ir::Op& op : before) outside.push_back(std::move(op));
    place.index = outside.size();
    outside.push_back(loop_over(body, number(0), span));
  }
  ops() = std::move(outside);
  ir::count_writers(function_);
  return place;
}

/// Loops around it are kernels already.
bool is_in_launch(const ir::Function& function, ir::RegionId region) {
  for (; region != ir::none; region = function.regions[region].parent)
    for (const ir::Region& around : function.regions)
      for (const ir::Op& op : around.ops)
        if (op.launch != ir::none && std::ranges::find(op.regions, region) != op.regions.end()) return true;
  return false;
}

/// Arrays that operations of the region write which are, or have in them, loops in order.
std::set<ir::VarId> written_by_loops(const ir::Function& function, ir::RegionId region) {
  std::set<ir::VarId> arrays;
  for (const ir::Op& op : function.regions[region].ops) {
    bool has_loop = has_waiting_points(function, op);
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
    const OpPlace place = sequence.enclose();
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
  constexpr std::size_t most_looked_at = 1 << 21;  // operations: a try looks at all of the function
  std::size_t operations = 1;
  for (const ir::Region& region : function.regions) operations += region.ops.size();
  std::size_t tries = most_looked_at / operations;
  const std::size_t count = function.regions.size();  // before this makes more
  for (ir::RegionId region = 0; region < count; ++region)
    while (launch_in(module, function, region, is_alone, tries)) continue;
}

}  // namespace raddle::opt
