#include "compiler/opt/fusion/interchange_loops.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/fusion/elementwise_loop.hpp"
#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// Makes the loop over the elements of one `for`.
class Interchange {
 public:
  Interchange(ir::Module& module, ir::Function& function, const ElementwiseLoop& of)
      : module_(module), function_(function), of_(of) {}

  /// @return  what stands in the place of the `for`; last the loop over the elements
  std::vector<ir::Op> make() {
    std::vector<ir::Op> made;
    const auto points = static_cast<ir::RegionId>(function_.regions.size());
    for (int i = 0; i < 3; ++i) function_.regions.emplace_back();
    const ir::RegionId test = points + 1, body = points + 2;
    function_.regions[points].parent = of_.around;
    function_.regions[test].parent = points;
    function_.regions[body].parent = test;
    const ir::VarId point = declare(TypeStore::int_, points, false);
    function_.regions[points].parameters = {point, declare(TypeStore::int_, points, false)};

    // the numbers of one element
    RegionCopier copier(function_, function_);
    ir::Op inner = empty(OpKind::loop);
    inner.regions = {test, body};
    std::vector<std::pair<Operand, ir::VarId>> finals;  // where they go
    const std::vector<ir::VarId> carried = function_.regions[of_.test].parameters;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const TypeId type = element_type(carried[i]);
      const ir::VarId here = declare(type, test, false);
      function_.regions[test].parameters.push_back(here);
      const ir::VarId result = declare(type, points, true);
      inner.results.push_back(result);
      if (!of_.is_array(carried[i])) {
        inner.operands.push_back(of_.loop.operands[i]);
        copier.set(carried[i], Operand::variable(here));
        continue;
      }
      number_of_.insert_or_assign(carried[i], Operand::variable(here));
      for (const ir::VarId elements : of_.elements_of.at(carried[i]))
        number_of_.insert_or_assign(elements, Operand::variable(here));
      const ir::VarId first = declare(type, points, true);
      inner.operands.push_back(Operand::variable(first));
      function_.regions[points].ops.push_back(
          get(field(made, of_.loop.operands[i], 0), Operand::variable(point), first));
      finals.emplace_back(new_array(made, i), result);
    }
    find_needed();
    copy_numbers(of_.test, test, copier);
    copy_numbers(of_.body, body, copier, point);
    const auto copied = [&](Operand number) {
      ir::Op copy = empty(OpKind::copy);
      copy.operands = {number};
      return copier.copy(copy, body).operands[0];
    };
    inner.condition = copied(of_.loop.condition);
    for (std::size_t i = 0; i < carried.size(); ++i)
      inner.nexts.push_back(of_.is_array(carried[i]) ? next_number(of_.loop.nexts[i]) : copied(of_.loop.nexts[i]));
    function_.regions[points].ops.push_back(std::move(inner));
    for (const auto& [array, result] : finals) {
      ir::Op insert = empty(OpKind::array_insert);
      insert.operands = {array, Operand::variable(point), Operand::variable(result)};
      function_.regions[points].ops.push_back(std::move(insert));
    }

    ir::Op over_points = empty(OpKind::foreach_range);
    over_points.operands = {Operand::constant(module_.constant(std::int64_t{0})), last_,
                            Operand::constant(module_.constant(std::int64_t{1}))};
    over_points.regions = {points};
    over_points.is_whole = of_.is_whole;
    made.push_back(std::move(over_points));
    return made;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  TypeId type_of(Operand operand) const { return of_.type_of(operand); }
  TypeId element_type(ir::VarId carried) const {
    const TypeId type = type_of(Operand::variable(carried));
    return of_.is_array(carried) ? module_.types->dense_element(type) : type;
  }

  ir::Op empty(OpKind kind) const {
    ir::Op op;
    op.kind = kind;
    op.span = of_.loop.span;
    return op;
  }
  ir::VarId declare(TypeId type, ir::RegionId region, bool is_own) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({"", type, of_.loop.span, region});
    if (is_own) function_.regions[region].variables.push_back(id);
    return id;
  }
  ir::Op get(Operand array, Operand key, ir::VarId result) const {
    ir::Op op = empty(OpKind::array_get);
    op.operands = {array, key};
    op.results = {result};
    return op;
  }
  Operand add(std::vector<ir::Op>& made, ir::Op op, TypeId type) {
    op.results = {declare(type, of_.around, true)};
    made.push_back(std::move(op));
    return Operand::variable(made.back().results[0]);
  }
  Operand field(std::vector<ir::Op>& made, Operand array, std::int64_t number) {
    ir::Op op = empty(OpKind::struct_get);
    op.operands = {array};
    op.number = number;
    return add(made, std::move(op), module_.types->dense_elements(type_of(array)));
  }
  /// Of all elements that the `for` ends with.
  Operand new_array(std::vector<ir::Op>& made, std::size_t carried) {
    const std::vector<Operand>& extents = of_.extents.at(function_.regions[of_.test].parameters[carried]);
    ir::Op op = empty(OpKind::array_new);
    op.operands = extents;
    op.number = 1;
    const Operand elements =
        add(made, std::move(op), module_.types->dense_elements(type_of(Operand::variable(of_.loop.results[carried]))));
    ir::Op whole = empty(OpKind::struct_make);
    whole.operands = {elements};
    whole.operands.insert(whole.operands.end(), extents.begin(), extents.end());
    whole.results = {of_.loop.results[carried]};
    made.push_back(std::move(whole));
    if (last_.index == ir::none) {
      Operand count = extents[0];
      for (std::size_t axis = 1; axis < extents.size(); ++axis) {
        ir::Op product = empty(OpKind::mul);
        product.operands = {count, extents[axis]};
        count = add(made, std::move(product), TypeStore::int_);
      }
      ir::Op last = empty(OpKind::index_add);
      last.operands = {count, Operand::constant(module_.constant(std::int64_t{-1}))};
      last_ = add(made, std::move(last), TypeStore::int_);
    }
    return elements;
  }

  /// What numbers of the next round depend on, not shapes of arrays, mostly; and what may fail.
  void find_needed() {
    const auto add = [&](Operand operand) {
      if (!operand.is_constant) needed_.insert(operand.index);
    };
    add(of_.loop.condition);
    std::ranges::for_each(of_.loop.nexts, add);
    for (const ir::RegionId region : {of_.body, of_.test}) {
      for (auto op = ops(region).rbegin(); op != ops(region).rend(); ++op) {
        const bool may_fail =
            of_.is_of_numbers(*op) && !of_.is_joint_extent(*op) && !can_not_fail(module_, function_, *op);
        const bool is_needed = op->kind == OpKind::foreach_range || may_fail ||
                               std::ranges::any_of(op->results, [&](ir::VarId id) { return needed_.contains(id); });
        if (!is_needed) continue;
        needed_.insert(op->results.begin(), op->results.end());
        for (const ir::VarId id : variables_read(function_, *op)) needed_.insert(id);
      }
    }
  }

  /// What computes numbers, that of loops over elements for one of them.
  void copy_numbers(ir::RegionId from, ir::RegionId to, RegionCopier& copier, ir::VarId point = ir::none) {
    const std::vector<ir::Op> originals = ops(from);  // a copy: regions move
    for (const ir::Op& op : originals) {
      if (op.kind == OpKind::foreach_range) {
        const ir::Region body = function_.regions[op.regions[0]];
        copier.set(body.parameters[0], Operand::variable(point));
        for (const ir::VarId variable : body.variables)
          copier.set(variable, Operand::variable(declare(type_of(Operand::variable(variable)), to, true)));
        for (const ir::Op& each : body.ops) {
          ir::Op copy = copier.copy(each, to);
          take_numbers(copy);
          if (each.kind == OpKind::array_insert)
            number_of_.insert_or_assign(each.operands[0].index, copy.operands[2]);
          else
            ops(to).push_back(std::move(copy));
        }
      } else if (of_.is_joint_extent(op)) {
        copier.set(op.results[0], copier.copy(op, to).operands[1]);  // both are equal
      } else if (of_.is_of_numbers(op) && needed_.contains(op.results[0])) {
        for (const ir::VarId result : op.results)
          copier.set(result, Operand::variable(declare(type_of(Operand::variable(result)), to, true)));
        ops(to).push_back(copier.copy(op, to));
      }
    }
  }
  /// Elements of what is carried, and of what has been made, are numbers now.
  void take_numbers(ir::Op& op) {
    if (op.kind == OpKind::array_get) {
      if (const auto number = number_of_.find(op.operands[0].index); number != number_of_.end()) {
        op.kind = OpKind::copy;
        op.operands = {number->second};
      }
    }
    for (const ir::RegionId region : op.regions)
      for (ir::Op& inner : ops(region)) take_numbers(inner);
  }

  Operand next_number(Operand array) const {
    const auto made = of_.arrays.find(array.index);
    if (made != of_.arrays.end()) return number_of_.at(made->second);
    return number_of_.at(array.index);
  }

  ir::Module& module_;
  ir::Function& function_;
  const ElementwiseLoop& of_;
  Operand last_;  ///< of the elements, once it is needed
  std::set<ir::VarId> needed_;
  std::map<ir::VarId, Operand> number_of_;  ///< of an array, or its elements: the number that stands for one
};

bool interchange_in(ir::Module& module, ir::Function& function) {
  bool has_changed = false;
  std::vector<std::uint32_t> reads = count_reads(function);
  LoopShapes shapes(module, function);
  for (ir::RegionId region = 0; region < function.regions.size(); ++region)
    for (std::size_t i = 0; i < function.regions[region].ops.size(); ++i) {
      if (function.regions[region].ops[i].kind != OpKind::loop) continue;
      ElementwiseLoop elementwise(module, function, region, i, reads, shapes);
      if (!elementwise.is_one()) continue;
      const std::vector<ir::Op> made = Interchange(module, function, elementwise).make();
      const bool is_launch = is_plain_launch(module, function, made.back());
      // of the two one goes, with all that is in it
      for (const ir::RegionId gone : is_launch ? elementwise.loop.regions : made.back().regions)
        clear_region(function, gone);
      if (!is_launch) continue;
      std::vector<ir::Op>& ops = function.regions[region].ops;
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i), made.begin(), made.end());
      reads = count_reads(function);
      shapes.forget();
      has_changed = true;
    }
  if (has_changed) ir::count_writers(function);
  return has_changed;
}

}  // namespace

void interchange_loops(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) has_changed |= interchange_in(module, function);
  if (!has_changed) return;
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
