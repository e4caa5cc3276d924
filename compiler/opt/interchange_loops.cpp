#include "compiler/opt/interchange_loops.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/dead_code.hpp"
#include "compiler/opt/index_launches.hpp"
#include "compiler/opt/loop_shapes.hpp"
#include "compiler/opt/order_operations.hpp"
#include "compiler/opt/region_copier.hpp"
#include "compiler/opt/straighten.hpp"
#include "compiler/opt/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// One `for`.
class Interchange {
 public:
  Interchange(ir::Module& module, ir::Function& function, ir::RegionId around, std::size_t number)
      : module_(module),
        function_(function),
        around_(around),
        loop_(function.regions[around].ops[number]),
        test_(loop_.regions[0]),
        body_(loop_.regions[1]),
        reads_(count_reads(function)),
        shapes_(module, function) {}

  bool is_possible() {
    return !loop_.test_after && find_carried() && is_of_numbers(test_) && find_loops() && ends_with_numbers() &&
           has_no_other_results();
  }

  /// @return  what stands in the place of the `for`. @pre is_possible()
  std::vector<ir::Op> make() {
    std::vector<ir::Op> made;
    const auto points = static_cast<ir::RegionId>(function_.regions.size());
    for (int i = 0; i < 3; ++i) function_.regions.emplace_back();
    const ir::RegionId test = points + 1, body = points + 2;
    function_.regions[points].parent = around_;
    function_.regions[test].parent = points;
    function_.regions[body].parent = test;
    const ir::VarId point = declare(TypeStore::int_, points, false);
    function_.regions[points].parameters = {point, declare(TypeStore::int_, points, false)};

    // the numbers of one element
    RegionCopier copier(function_, function_);
    ir::Op inner = empty(OpKind::loop);
    inner.regions = {test, body};
    std::vector<std::pair<Operand, ir::VarId>> finals;  // where they go
    const std::vector<ir::VarId> carried = function_.regions[test_].parameters;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const TypeId type = element_type(carried[i]);
      const ir::VarId here = declare(type, test, false);
      function_.regions[test].parameters.push_back(here);
      const ir::VarId result = declare(type, points, true);
      inner.results.push_back(result);
      if (!is_array(carried[i])) {
        inner.operands.push_back(loop_.operands[i]);
        copier.set(carried[i], Operand::variable(here));
        continue;
      }
      number_of_.insert_or_assign(carried[i], Operand::variable(here));
      for (const ir::VarId elements : elements_of_.at(carried[i]))
        number_of_.insert_or_assign(elements, Operand::variable(here));
      const ir::VarId first = declare(type, points, true);
      inner.operands.push_back(Operand::variable(first));
      function_.regions[points].ops.push_back(get(field(made, loop_.operands[i], 0), Operand::variable(point), first));
      finals.emplace_back(new_array(made, i), result);
    }
    find_needed();
    copy_numbers(test_, test, copier);
    copy_numbers(body_, body, copier, point);
    const auto copied = [&](Operand number) {
      ir::Op copy = empty(OpKind::copy);
      copy.operands = {number};
      return copier.copy(copy, body).operands[0];
    };
    inner.condition = copied(loop_.condition);
    for (std::size_t i = 0; i < carried.size(); ++i)
      inner.nexts.push_back(is_array(carried[i]) ? next_number(loop_.nexts[i]) : copied(loop_.nexts[i]));
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
    over_points.is_whole = is_whole_;
    made.push_back(std::move(over_points));
    return made;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  TypeId type_of(Operand operand) const { return module_.types->base(ir::type_of(module_, function_, operand)); }
  bool is_array(ir::VarId carried) const { return module_.types->is_dense(type_of(Operand::variable(carried))); }
  TypeId element_type(ir::VarId carried) const {
    const TypeId type = type_of(Operand::variable(carried));
    return is_array(carried) ? module_.types->dense_element(type) : type;
  }
  bool is_number(Operand operand) const { return module_.types->is_scalar(type_of(operand)); }

  // ---------------------------------------------------------------- whether it can be done

  /// Numbers, and arrays whose shape is that of their first value.
  bool find_carried() {
    const std::vector<ir::VarId>& carried = function_.regions[test_].parameters;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (!is_array(carried[i])) {
        if (!is_number(Operand::variable(carried[i]))) return false;
        continue;
      }
      elements_of_[carried[i]];
      const auto extents = extents_of(loop_.operands[i]);
      if (!extents) return false;
      extents_.emplace(carried[i], *extents);
    }
    return !extents_.empty();
  }

  std::optional<std::vector<Operand>> extents_of(Operand array) {
    const ir::Op* const made = shapes_.maker_of(array);
    if (made && made->kind == OpKind::struct_make) return std::vector(made->operands.begin() + 1, made->operands.end());
    std::vector<Operand> found(module_.types->rank(type_of(array)));
    for (const ir::Op& op : ops(around_))
      if (op.kind == OpKind::struct_get && op.operands[0] == array && op.number > 0)
        found[static_cast<std::size_t>(op.number) - 1] = Operand::variable(op.results[0]);
    const bool is_known = std::ranges::none_of(found, [](Operand each) { return each.index == ir::none; });
    return is_known ? std::optional(found) : std::nullopt;
  }

  /// Computes a number of numbers.
  bool is_of_numbers(const ir::Op& op) const {
    const ir::Effect effect = ir::info(op.kind).effect;
    const bool is_pure = op.kind == OpKind::call_builtin
                             ? stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure
                             : op.kind != OpKind::call && (effect == ir::Effect::pure || effect == ir::Effect::fails);
    return op.regions.empty() && is_pure &&
           std::ranges::all_of(op.results, [&](ir::VarId id) { return is_number(Operand::variable(id)); }) &&
           std::ranges::all_of(op.operands, [&](Operand each) { return is_number(each); });
  }

  /// The elements of what is carried are taken there, too.
  bool is_of_numbers(ir::RegionId region) {
    return std::ranges::all_of(ops(region), [&](const ir::Op& op) { return is_of_numbers(op) || takes_elements(op); });
  }

  /// Or extents, for which those from before the `for` stand where they are needed.
  bool takes_elements(const ir::Op& op) {
    if (op.kind != OpKind::struct_get || op.operands[0].is_constant) return false;
    const auto of = elements_of_.find(op.operands[0].index);
    if (of == elements_of_.end()) return false;
    if (op.number > 0) return reads_[op.results[0]] == 0;
    of->second.insert(op.results[0]);
    return true;
  }

  /// All else in the body: loops over the same elements, and the arrays that they make.
  bool find_loops() {
    for (const ir::Op& op : ops(body_)) {
      if (op.kind == OpKind::array_new) {
        made_.emplace(op.results[0], op.operands);
      } else if (op.kind == OpKind::foreach_range) {
        if (!is_over_elements(op)) return false;
      } else if (op.kind == OpKind::struct_make) {
        if (op.operands[0].is_constant || !made_.contains(op.operands[0].index)) return false;
        arrays_.emplace(op.results[0], op.operands[0].index);
      } else if (shapes_.is_builtin(op, "@joint_extent")) {
        if (!shapes_.is_same_int(op.operands[1], op.operands[2])) return false;  // it might fail
      } else if (!is_of_numbers(op) && !takes_elements(op) && !is_told_complete(op)) {
        return false;
      }
    }
    return has_loops_;
  }

  /// As it will be by the loop over the elements.
  bool is_told_complete(const ir::Op& op) {
    return shapes_.is_builtin(op, "@complete") && made_.contains(op.operands[0].index);
  }

  bool is_over_elements(const ir::Op& loop) {
    if (loop.placement != vm::Placement::any || !is_plain_launch(module_, function_, loop)) return false;
    for (const auto& [carried, extents] : extents_)
      if (!shapes_.goes_over_product(loop, extents)) return false;
    has_loops_ = true;
    is_whole_ = is_whole_ && loop.is_whole;
    const ir::Region& body = function_.regions[loop.regions[0]];
    const Operand point = Operand::variable(body.parameters[0]);
    bool is_own = true;
    for (const ir::Op& op : body.ops) {
      if (op.kind == OpKind::array_insert) {
        const auto array = made_.find(op.operands[0].index);
        is_own = is_own && array != made_.end() && op.operands[1] == point && written_.insert(array->first).second &&
                 shapes_.goes_over_product(loop, array->second);
        continue;
      }
      visit_nested(function_, op, [&](const ir::Op& inner) {
        const bool reads_element = inner.kind == OpKind::array_get && inner.operands[1] == point &&
                                   (is_elements(inner.operands[0]) || written_.contains(inner.operands[0].index));
        if (inner.kind == OpKind::array_insert || inner.kind == OpKind::update) is_own = false;
        visit_operands(inner, [&](const Operand& operand) {
          const bool is_ours = !operand.is_constant && (is_elements(operand) || made_.contains(operand.index) ||
                                                        arrays_.contains(operand.index));
          is_own = is_own && (!is_ours || (reads_element && operand == inner.operands[0]));
        });
      });
    }
    return is_own;
  }

  bool is_elements(Operand operand) const {
    return std::ranges::any_of(elements_of_, [&](const auto& each) { return each.second.contains(operand.index); });
  }

  /// The next arrays are made in the body, or are carried, with the shapes that they are to have.
  bool ends_with_numbers() {
    const std::vector<ir::VarId>& carried = function_.regions[test_].parameters;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const Operand next = loop_.nexts[i];
      if (!is_array(carried[i])) {
        if (!is_number(next)) return false;
        continue;
      }
      if (next.is_constant) return false;
      const std::vector<Operand>& wanted = extents_.at(carried[i]);
      const auto made = arrays_.find(next.index);
      const auto other = extents_.find(next.index);
      if (made == arrays_.end() && other == extents_.end()) return false;
      if (made != arrays_.end() && !written_.contains(made->second)) return false;
      const std::vector<Operand>& found = made != arrays_.end() ? made_.at(made->second) : other->second;
      if (!std::ranges::equal(wanted, found, [&](Operand a, Operand b) { return shapes_.is_same_int(a, b); }))
        return false;
    }
    return true;
  }

  /// Nobody asks for the numbers that the `for` ends with: these would be computed for each element.
  bool has_no_other_results() {
    const std::vector<ir::VarId>& carried = function_.regions[test_].parameters;
    for (std::size_t i = 0; i < carried.size(); ++i)
      if (!is_array(carried[i]) && !loop_.results.empty() && reads_[loop_.results[i]] != 0) return false;
    return !loop_.results.empty();
  }

  // ---------------------------------------------------------------- how it is done

  ir::Op empty(OpKind kind) const {
    ir::Op op;
    op.kind = kind;
    op.span = loop_.span;
    return op;
  }
  ir::VarId declare(TypeId type, ir::RegionId region, bool is_own) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({"", type, loop_.span, region});
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
    op.results = {declare(type, around_, true)};
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
    const std::vector<Operand>& extents = extents_.at(function_.regions[test_].parameters[carried]);
    ir::Op op = empty(OpKind::array_new);
    op.operands = extents;
    op.number = 1;
    const Operand elements =
        add(made, std::move(op), module_.types->dense_elements(type_of(Operand::variable(loop_.results[carried]))));
    ir::Op whole = empty(OpKind::struct_make);
    whole.operands = {elements};
    whole.operands.insert(whole.operands.end(), extents.begin(), extents.end());
    whole.results = {loop_.results[carried]};
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

  /// What numbers of the next round depend on: not shapes of arrays, mostly.
  void find_needed() {
    const auto add = [&](Operand operand) {
      if (!operand.is_constant) needed_.insert(operand.index);
    };
    add(loop_.condition);
    std::ranges::for_each(loop_.nexts, add);
    for (const ir::RegionId region : {body_, test_}) {
      for (auto op = ops(region).rbegin(); op != ops(region).rend(); ++op) {
        const bool is_needed = op->kind == OpKind::foreach_range ||
                               std::ranges::any_of(op->results, [&](ir::VarId id) { return needed_.contains(id); });
        if (!is_needed) continue;
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
      } else if (shapes_.is_builtin(op, "@joint_extent")) {
        copier.set(op.results[0], copier.copy(op, to).operands[1]);  // both are equal
      } else if (is_of_numbers(op) && needed_.contains(op.results[0])) {
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
    const auto made = arrays_.find(array.index);
    if (made != arrays_.end()) return number_of_.at(made->second);
    return number_of_.at(array.index);
  }

  ir::Module& module_;
  ir::Function& function_;
  const ir::RegionId around_;
  const ir::Op loop_;
  const ir::RegionId test_, body_;
  const std::vector<std::uint32_t> reads_;
  LoopShapes shapes_;
  bool has_loops_ = false, is_whole_ = true;
  Operand last_;                                          ///< of the elements, once it is needed
  std::map<ir::VarId, std::vector<Operand>> extents_;     ///< of each array that is carried
  std::map<ir::VarId, std::set<ir::VarId>> elements_of_;  ///< likewise: variables for its elements
  std::map<ir::VarId, std::vector<Operand>> made_;        ///< elements that the body makes, with their extents
  std::map<ir::VarId, ir::VarId> arrays_;                 ///< arrays of these
  std::set<ir::VarId> written_;                           ///< those of them that a loop has written
  std::set<ir::VarId> needed_;
  std::map<ir::VarId, Operand> number_of_;  ///< of an array, or its elements: the number that stands for one
};

bool interchange_in(ir::Module& module, ir::Function& function) {
  bool has_changed = false;
  for (ir::RegionId region = 0; region < function.regions.size(); ++region)
    for (std::size_t i = 0; i < function.regions[region].ops.size(); ++i) {
      if (function.regions[region].ops[i].kind != OpKind::loop) continue;
      Interchange interchange(module, function, region, i);
      if (!interchange.is_possible()) continue;
      ir::Function before = function;
      std::vector<ir::Op> made = interchange.make();
      std::vector<ir::Op>& ops = function.regions[region].ops;
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i), made.begin(), made.end());
      if (!is_plain_launch(module, function, made.back())) {
        function = std::move(before);
        continue;
      }
      for (const ir::RegionId gone : before.regions[region].ops[i].regions) clear_region(function, gone);
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
