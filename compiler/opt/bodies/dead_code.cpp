#include "compiler/opt/bodies/dead_code.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

/// Steps may be 0, keys equal, names empty.
bool creation_may_fail(const ir::Op& op) {
  const bool names_file = op.kind == ir::OpKind::file_new && !op.operands.empty();
  return op.kind == ir::OpKind::array_range || op.kind == ir::OpKind::array_map || names_file;
}

/// What may fail must fail, read or not: the result of a run does not depend on the level. So calls of builtins stay.
bool can_drop(const ir::Module& module, const ir::Function& function, const ir::Op& op) {
  if (ir::info(op.kind).effect == ir::Effect::creates) return !creation_may_fail(op);
  return can_not_fail(module, function, op);
}

class OperationRemover {
 public:
  OperationRemover(const ir::Module& module, ir::Function& function)
      : module_(module), function_(function), reads_(count_reads(function)), assignments_(count_assignments(function)) {
    for (const ir::Region& region : function.regions) {
      dropped_.emplace_back(region.ops.size(), false);
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::struct_make && assignments_[op.results[0]] == 1) made_.insert(op.results[0]);
    }
  }

  void run() {
    while (mark_dead()) continue;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      std::vector<ir::Op>& ops = function_.regions[id].ops;
      std::size_t index = 0;
      std::erase_if(ops, [&](const ir::Op&) { return dropped_[id][index++]; });
    }
  }

 private:
  /// An operation that goes leaves its operands with one reader less. From the last to the first, as operands mostly
  /// stand before their readers: one walk finds nearly all.
  bool mark_dead() {
    bool found = false;
    for (ir::RegionId id = static_cast<ir::RegionId>(function_.regions.size()); id-- > 0;) {
      const std::vector<ir::Op>& ops = function_.regions[id].ops;
      for (std::size_t i = ops.size(); i-- > 0;) {
        if (dropped_[id][i] || !is_dead(ops[i])) continue;
        dropped_[id][i] = true;
        found = true;
        visit_operands(ops[i], [&](const ir::Operand& operand) {
          if (!operand.is_constant) --reads_[operand.index];
        });
      }
    }
    return found;
  }

  bool is_dead(const ir::Op& op) const {
    return (can_drop(module_, function_, op) || takes_given_field(op)) &&
           std::ranges::all_of(op.results,
                               [&](ir::VarId result) { return reads_[result] == 0 && assignments_[result] == 1; });
  }

  /// Of a structure that is made of all its fields: none is missing.
  bool takes_given_field(const ir::Op& op) const {
    return op.kind == ir::OpKind::struct_get && !op.operands[0].is_constant && made_.contains(op.operands[0].index);
  }

  const ir::Module& module_;
  ir::Function& function_;
  std::vector<std::uint32_t> reads_, assignments_;
  std::vector<std::vector<bool>> dropped_;
  std::set<ir::VarId> made_;  // by struct_make alone
};

/// Variables of regions that nothing reads or assigns go; the others are numbered anew.
class VariableRemover {
 public:
  explicit VariableRemover(ir::Function& function)
      : function_(function), new_ids_(function.variables.size(), ir::none) {}

  void run() {
    const std::vector<std::uint32_t> reads = count_reads(function_);
    const std::vector<std::uint32_t> assignments = count_assignments(function_);
    std::vector<bool> kept(function_.variables.size(), true);
    for (ir::Region& region : function_.regions) {
      std::erase_if(region.variables, [&](ir::VarId id) {
        kept[id] = reads[id] != 0 || assignments[id] != 0;
        return !kept[id];
      });
    }
    std::vector<ir::Var> variables;
    for (ir::VarId id = 0; id < kept.size(); ++id) {
      if (!kept[id]) continue;
      new_ids_[id] = static_cast<ir::VarId>(variables.size());
      variables.push_back(std::move(function_.variables[id]));
    }
    function_.variables = std::move(variables);
    renumber();
  }

 private:
  void renumber(std::vector<ir::VarId>& ids) const {
    for (ir::VarId& id : ids) id = new_ids_[id];
  }
  void renumber() {
    renumber(function_.parameters);
    renumber(function_.outputs);
    for (ir::Region& region : function_.regions) {
      renumber(region.parameters);
      renumber(region.variables);
      for (ir::Op& op : region.ops) renumber(op.results);
    }
    visit_all_operands(function_, [&](ir::Operand& operand) {
      if (!operand.is_constant) operand.index = new_ids_[operand.index];
    });
  }

  ir::Function& function_;
  std::vector<ir::VarId> new_ids_;
};

}  // namespace

void remove_dead_code(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    OperationRemover(module, function).run();
    VariableRemover(function).run();
    ir::count_writers(function);
  }
}

}  // namespace raddle::opt
