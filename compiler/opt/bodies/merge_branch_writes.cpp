#include "compiler/opt/bodies/merge_branch_writes.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

class Merger {
 public:
  Merger(const ir::Module& module, ir::Function& function) : types_(*module.types), function_(function) {}

  void run() {
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops)
        if (op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array) merge_in(op.regions[0]);
  }

 private:
  /// An operation of a branch that makes `variable`; null: it comes from outside of the branch.
  const ir::Op* maker(ir::RegionId branch, ir::Operand operand) const {
    if (operand.is_constant) return nullptr;
    const std::vector<ir::Op>& ops = function_.regions[branch].ops;
    const auto made = std::ranges::find_if(
        ops, [&](const ir::Op& op) { return std::ranges::find(op.results, operand.index) != op.results.end(); });
    return made == ops.end() ? nullptr : &*made;
  }

  bool is_declared_in(ir::RegionId branch, ir::Operand operand) const {
    return !operand.is_constant && function_.variables[operand.index].region == branch;
  }

  /// Rows, indices of dense arrays, and what gives the same wherever it is computed.
  static bool is_repeatable(const ir::Op& op) {
    const ir::Effect effect = ir::info(op.kind).effect;
    return op.kind == OpKind::array_row ||
           (op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@index") ||
           (op.regions.empty() && (effect == ir::Effect::pure || op.kind == OpKind::add || op.kind == OpKind::sub ||
                                   op.kind == OpKind::mul || op.kind == OpKind::idiv || op.kind == OpKind::mod));
  }

  /// The same from outside, or made in the same way of the same.
  bool is_same(ir::RegionId branch, ir::Operand operand, ir::RegionId other, ir::Operand theirs) const {
    if (!is_declared_in(branch, operand) || !is_declared_in(other, theirs)) return operand == theirs;
    const ir::Op* const own_maker = maker(branch, operand);
    const ir::Op* const their_maker = maker(other, theirs);
    if (!own_maker || !their_maker || own_maker->kind != their_maker->kind || !is_repeatable(*own_maker) ||
        own_maker->number != their_maker->number || own_maker->callee != their_maker->callee ||
        own_maker->operands.size() != their_maker->operands.size())
      return false;
    for (std::size_t i = 0; i < own_maker->operands.size(); ++i)
      if (!is_same(branch, own_maker->operands[i], other, their_maker->operands[i])) return false;
    return true;
  }

  bool is_number_write(const ir::Op& op) const {
    if (op.kind != OpKind::array_insert) return false;
    const TypeId type = types_.base(element_type(function_.variables[op.operands[0].index]));
    return TypeStore::is_number_or_truth(type);
  }

  TypeId element_type(const ir::Var& array) const { return types_.at(types_.base(array.type)).element; }

  std::optional<std::size_t> find_write(ir::RegionId branch, ir::RegionId other, const ir::Op& theirs) const {
    const std::vector<ir::Op>& ops = function_.regions[branch].ops;
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (is_number_write(ops[i]) && is_same(other, theirs.operands[0], branch, ops[i].operands[0]) &&
          is_same(other, theirs.operands[1], branch, ops[i].operands[1]))
        return i;
    return std::nullopt;
  }

  static bool has_all_branches(const ir::Op& op) {
    return op.kind == OpKind::if_       ? op.regions.size() == 2
           : op.kind == OpKind::switch_ ? op.regions.size() == op.labels.size() + 1
                                        : false;
  }

  void merge_in(ir::RegionId region) {
    std::vector<ir::Op> ops;
    for (ir::Op& op : std::exchange(function_.regions[region].ops, {})) {
      if (op.kind == OpKind::if_ || op.kind == OpKind::switch_)
        for (const ir::RegionId branch : op.regions) merge_in(branch);
      const ir::Op branching = op;
      ops.push_back(std::move(op));
      if (has_all_branches(branching)) merge(branching, region, ops);
    }
    function_.regions[region].ops = std::move(ops);
  }

  /// @param ops  what follows the branches is added here
  void merge(const ir::Op& branching, ir::RegionId region, std::vector<ir::Op>& ops) {
    const ir::RegionId first = branching.regions[0];
    std::vector<std::pair<ir::RegionId, ir::Operand>> needed;  // by the writes
    for (std::size_t i = 0; i < function_.regions[first].ops.size(); ++i) {
      const ir::Op write = function_.regions[first].ops[i];
      if (!is_number_write(write)) continue;
      std::vector<std::size_t> places{i};
      for (const ir::RegionId other : branching.regions | std::views::drop(1))
        if (const auto place = find_write(other, first, write)) places.push_back(*place);
      if (places.size() != branching.regions.size()) continue;
      ir::Op merged = write;
      merged.span = branching.span;
      for (ir::Operand* const operand : {&merged.operands[0], &merged.operands[1]})
        *operand = make_again(first, *operand, branching.span, region, ops);
      const TypeId type = element_type(function_.variables[write.operands[0].index]);
      const ir::VarId value = add({.name = "", .type = type, .span = branching.span, .region = region});
      merged.operands[2] = ir::Operand::variable(value);
      for (std::size_t k = 0; k < places.size(); ++k) {
        ir::Op& own = function_.regions[branching.regions[k]].ops[places[k]];
        for (const ir::Operand operand : {own.operands[0], own.operands[1]})
          needed.emplace_back(branching.regions[k], operand);
        ir::Op copy;
        copy.kind = OpKind::copy;
        copy.results = {value};
        copy.operands = {own.operands[2]};
        copy.span = own.span;
        own = std::move(copy);
      }
      ops.push_back(std::move(merged));
    }
    for (const auto& [branch, operand] : needed) forget(branch, operand);
  }

  ir::VarId add(ir::Var variable) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.regions[variable.region].variables.push_back(id);
    function_.variables.push_back(std::move(variable));
    return id;
  }

  /// What makes an operand in a branch, once more behind it. An index that is none is told at `span`: the branch that
  /// is taken may be another one.
  ir::Operand make_again(ir::RegionId branch, ir::Operand operand, Span span, ir::RegionId region,
                         std::vector<ir::Op>& ops) {
    if (!is_declared_in(branch, operand)) return operand;
    ir::Op again = *maker(branch, operand);
    if (again.kind == OpKind::call_builtin) again.span = span;
    for (ir::Operand& input : again.operands) input = make_again(branch, input, span, region, ops);
    ir::Var variable = function_.variables[operand.index];
    variable.name.clear();
    variable.region = region;
    again.results = {add(std::move(variable))};
    ops.push_back(again);
    return ir::Operand::variable(again.results[0]);
  }

  /// What made an operand that nobody reads any more.
  void forget(ir::RegionId branch, ir::Operand operand) {
    if (!is_declared_in(branch, operand) || count_reads(function_)[operand.index] != 0) return;
    const ir::Op* const made = maker(branch, operand);
    if (!made) return;
    const std::vector<ir::Operand> needed = made->operands;
    std::vector<ir::Op>& ops = function_.regions[branch].ops;
    ops.erase(ops.begin() + (made - ops.data()));
    for (const ir::Operand each : needed) forget(branch, each);
  }

  const TypeStore& types_;
  ir::Function& function_;
};

}  // namespace

void merge_branch_writes(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) Merger(module, function).run();
}

}  // namespace raddle::opt
