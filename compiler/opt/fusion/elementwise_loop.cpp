#include "compiler/opt/fusion/elementwise_loop.hpp"

#include <algorithm>

#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::size_t most_arrays = 24;  ///< that are carried: a call of machine code has words for some 40

}  // namespace

ElementwiseLoop::ElementwiseLoop(const ir::Module& module, const ir::Function& function, ir::RegionId around,
                                 std::size_t number, const std::vector<std::uint32_t>& reads, LoopShapes& shapes)
    : module(module),
      function(function),
      around(around),
      loop(function.regions[around].ops[number]),
      test(loop.regions[0]),
      body(loop.regions[1]),
      reads_(reads),
      shapes_(shapes) {}

bool ElementwiseLoop::is_one() {
  return !loop.test_after && find_carried() && is_of_numbers(test) && find_loops() && ends_with_numbers() &&
         has_no_other_results();
}

/// Numbers, and arrays whose shape is that of their first value.
bool ElementwiseLoop::find_carried() {
  const std::vector<ir::VarId>& carried = function.regions[test].parameters;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    if (!is_array(carried[i])) {
      if (!is_number(Operand::variable(carried[i]))) return false;
      continue;
    }
    elements_of[carried[i]];
    const auto shape = extents_of(loop.operands[i]);
    if (!shape) return false;
    extents.emplace(carried[i], *shape);
  }
  return !extents.empty() && extents.size() <= most_arrays;
}

std::optional<std::vector<Operand>> ElementwiseLoop::extents_of(Operand array) {
  const ir::Op* const made = shapes_.maker_of(array);
  if (made && made->kind == OpKind::struct_make) return std::vector(made->operands.begin() + 1, made->operands.end());
  std::vector<Operand> found(module.types->rank(type_of(array)));
  for (const ir::Op& op : function.regions[around].ops)
    if (op.kind == OpKind::struct_get && op.operands[0] == array && op.number > 0)
      found[static_cast<std::size_t>(op.number) - 1] = Operand::variable(op.results[0]);
  const bool is_known = std::ranges::none_of(found, [](Operand each) { return each.index == ir::none; });
  return is_known ? std::optional(found) : std::nullopt;
}

/// Computes a number of numbers.
bool ElementwiseLoop::is_of_numbers(const ir::Op& op) const {
  const ir::Effect effect = ir::info(op.kind).effect;
  const bool is_pure = op.kind == OpKind::call_builtin
                           ? stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure
                           : op.kind != OpKind::call && (effect == ir::Effect::pure || effect == ir::Effect::fails);
  return op.regions.empty() && is_pure &&
         std::ranges::all_of(op.results, [&](ir::VarId id) { return is_number(Operand::variable(id)); }) &&
         std::ranges::all_of(op.operands, [&](Operand each) { return is_number(each); });
}

/// The elements of what is carried are taken there, too.
bool ElementwiseLoop::is_of_numbers(ir::RegionId region) {
  return std::ranges::all_of(function.regions[region].ops,
                             [&](const ir::Op& op) { return is_of_numbers(op) || takes_elements(op); });
}

/// Or extents, for which those from before the `for` stand where they are needed.
bool ElementwiseLoop::takes_elements(const ir::Op& op) {
  if (op.kind != OpKind::struct_get || op.operands[0].is_constant) return false;
  const auto of = elements_of.find(op.operands[0].index);
  if (of == elements_of.end()) return false;
  if (op.number > 0) return reads_[op.results[0]] == 0;
  of->second.insert(op.results[0]);
  return true;
}

/// All else in the body: loops over the same elements, and the arrays that they make.
bool ElementwiseLoop::find_loops() {
  for (const ir::Op& op : function.regions[body].ops) {
    if (op.kind == OpKind::array_new) {
      made_.emplace(op.results[0], op.operands);
    } else if (op.kind == OpKind::foreach_range) {
      if (!is_over_elements(op)) return false;
    } else if (op.kind == OpKind::struct_make) {
      if (op.operands[0].is_constant || !made_.contains(op.operands[0].index)) return false;
      arrays.emplace(op.results[0], op.operands[0].index);
    } else if (shapes_.is_builtin(op, "@joint_extent")) {
      if (!shapes_.is_same_int(op.operands[1], op.operands[2])) return false;  // it might fail
    } else if (!is_of_numbers(op) && !takes_elements(op) && !is_told_complete(op)) {
      return false;
    }
  }
  return has_loops_;
}

/// As it will be by the loop over the elements.
bool ElementwiseLoop::is_told_complete(const ir::Op& op) {
  return shapes_.is_builtin(op, "@complete") && made_.contains(op.operands[0].index);
}

bool ElementwiseLoop::is_over_elements(const ir::Op& over) {
  if (over.placement != vm::Placement::any || !is_plain_launch(module, function, over)) return false;
  for (const auto& [carried, shape] : extents)
    if (!shapes_.goes_over_product(over, shape)) return false;
  has_loops_ = true;
  is_whole = is_whole && over.is_whole;
  const ir::Region& points = function.regions[over.regions[0]];
  const Operand point = Operand::variable(points.parameters[0]);
  bool is_own = true;
  for (const ir::Op& op : points.ops) {
    if (op.kind == OpKind::array_insert) {
      const auto array = made_.find(op.operands[0].index);
      is_own = is_own && array != made_.end() && op.operands[1] == point && written_.insert(array->first).second &&
               shapes_.goes_over_product(over, array->second);
      continue;
    }
    visit_nested(function, op, [&](const ir::Op& inner) {
      const bool reads_element = inner.kind == OpKind::array_get && inner.operands[1] == point &&
                                 (is_elements(inner.operands[0]) || written_.contains(inner.operands[0].index));
      if (inner.kind == OpKind::array_insert || inner.kind == OpKind::update) is_own = false;
      visit_operands(inner, [&](const Operand& operand) {
        const bool is_ours = !operand.is_constant &&
                             (is_elements(operand) || made_.contains(operand.index) || arrays.contains(operand.index));
        is_own = is_own && (!is_ours || (reads_element && operand == inner.operands[0]));
      });
    });
  }
  return is_own;
}

bool ElementwiseLoop::is_elements(Operand operand) const {
  return std::ranges::any_of(elements_of, [&](const auto& each) { return each.second.contains(operand.index); });
}

/// The next arrays are made in the body, or are carried, with the shapes that they are to have.
bool ElementwiseLoop::ends_with_numbers() {
  const std::vector<ir::VarId>& carried = function.regions[test].parameters;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Operand next = loop.nexts[i];
    if (!is_array(carried[i])) {
      if (!is_number(next)) return false;
      continue;
    }
    if (next.is_constant) return false;
    const std::vector<Operand>& wanted = extents.at(carried[i]);
    const auto made = arrays.find(next.index);
    const auto other = extents.find(next.index);
    if (made == arrays.end() && other == extents.end()) return false;
    if (made != arrays.end() && !written_.contains(made->second)) return false;
    const std::vector<Operand>& found = made != arrays.end() ? made_.at(made->second) : other->second;
    if (!std::ranges::equal(wanted, found, [&](Operand a, Operand b) { return shapes_.is_same_int(a, b); }))
      return false;
  }
  return true;
}

/// Nobody asks for the numbers that the `for` ends with: these would be computed for each element.
bool ElementwiseLoop::has_no_other_results() const {
  const std::vector<ir::VarId>& carried = function.regions[test].parameters;
  for (std::size_t i = 0; i < carried.size(); ++i)
    if (!is_array(carried[i]) && !loop.results.empty() && reads_[loop.results[i]] != 0) return false;
  return !loop.results.empty();
}

}  // namespace raddle::opt
