#include "compiler/emit/element_writers.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/emit/operand_map.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;

class WriterCollector {
 public:
  explicit WriterCollector(const FunctionPlan& plan)
      : plan_(plan), function_(*plan.function), operands_(plan), assignments_(function_.variables.size()) {
    for (const ir::Region& region : function_.regions) {
      for (const ir::Op& op : region.ops) {
        for (const ir::RegionId inner : op.regions) around_[inner] = &op;
        for (const ir::VarId result : op.results) {
          made_by_[result] = &op;
          ++assignments_[result];
        }
        for (const ir::CollapsedLoop& loop : op.collapsed) loop_variables_.insert(loop.variable);
      }
    }
  }

  /// By array. Rows of an array count as others: which row it is, is known to none of their writers.
  std::map<ir::VarId, std::vector<vm::ElementWriter>> collect() {
    std::map<ir::VarId, std::vector<vm::ElementWriter>> writers;
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region)
      for (const ir::Op& op : function_.regions[region].ops)
        if (op.kind == OpKind::array_insert) writers[op.operands[0].index].push_back(writer(op, region));
    for (auto& [array, all] : writers) {
      std::map<vm::Place, bool> is_once;
      for (const vm::ElementWriter& each : all) {
        const auto known = is_once.try_emplace(each.place, true).first;
        known->second = known->second && each.is_once;
      }
      for (vm::ElementWriter& each : all) each.is_once = is_once[each.place];
    }
    return writers;
  }

 private:
  using KeyStep = vm::ElementWriter::KeyStep;

  vm::ElementWriter writer(const ir::Op& op, ir::RegionId region) {
    vm::ElementWriter made{.place = place_of(op.span), .is_once = assigns_once(op, region), .is_sure = true};
    home_ = plan_.variables[op.operands[0].index].body;
    counters_.clear();
    if (!find_loops(op, region, made) || !add_key(op.operands[1], made)) made.key.clear();
    return made;
  }

  /// @return false: how often the operation is done is not known
  bool find_loops(const ir::Op& op, ir::RegionId region, vm::ElementWriter& made) {
    const ir::RegionId home = function_.variables[op.operands[0].index].region;
    std::vector<const ir::Op*> loops;
    for (; region != home; region = function_.regions[region].parent) {
      const auto found = around_.find(region);
      if (found == around_.end()) return false;
      const OpKind kind = found->second->kind;
      if (kind == OpKind::foreach_range)
        loops.push_back(found->second);
      else if (kind == OpKind::if_ || kind == OpKind::switch_)
        made.is_sure = false;
      else
        return false;
    }
    for (const ir::Op* const loop : loops | std::views::reverse) {
      if (!std::ranges::all_of(loop->operands, [&](ir::Operand bound) { return is_of_home(bound); })) return false;
      const auto add = [&](ir::VarId variable, ir::Operand low, ir::Operand high) {
        counters_[variable] = static_cast<std::uint32_t>(made.loops.size());
        made.loops.push_back(
            {operands_.of(low, home_), operands_.of(high, home_), operands_.of(loop->operands[2], home_)});
      };
      for (const ir::CollapsedLoop& each : loop->collapsed) add(each.variable, each.low, each.high);
      if (loop->collapsed.empty())
        add(function_.regions[loop->regions[0]].parameters[0], loop->operands[0], loop->operands[1]);
    }
    return true;
  }

  /// Seen from the array's body.
  bool is_of_home(ir::Operand operand) const {
    if (operand.is_constant) return true;
    for (std::uint32_t body = home_; body != ir::none; body = plan_.bodies[body].parent)
      if (plan_.variables[operand.index].body == body) return true;
    return false;
  }

  bool add_key(ir::Operand key, vm::ElementWriter& made) const {
    if (is_of_home(key)) {
      made.key.push_back({KeyStep::Kind::value, operands_.of(key, home_), 0});
      return true;
    }
    if (const auto counter = counters_.find(key.index); counter != counters_.end()) {
      made.key.push_back({KeyStep::Kind::counter, {}, counter->second});
      return true;
    }
    const auto found = made_by_.find(key.index);
    if (found == made_by_.end() || assignments_[key.index] != 1) return false;
    const ir::Op& op = *found->second;
    switch (op.kind) {
      case OpKind::copy: return add_key(op.operands[0], made);
      case OpKind::call_builtin: return stdlib::builtins()[op.callee].name == "@index" && add_key(op.operands[0], made);
      case OpKind::index_add:
      case OpKind::add: return add_operation(op, KeyStep::Kind::add, made);
      case OpKind::sub: return add_operation(op, KeyStep::Kind::subtract, made);
      case OpKind::index_mul:
      case OpKind::mul: return add_operation(op, KeyStep::Kind::multiply, made);
      default: return false;
    }
  }

  bool add_operation(const ir::Op& op, KeyStep::Kind kind, vm::ElementWriter& made) const {
    if (!add_key(op.operands[0], made) || !add_key(op.operands[1], made)) return false;
    made.key.push_back({kind, {}, 0});
    return true;
  }

  /// No loop is around it, or one of a slice, whose keys are all different.
  bool assigns_once(const ir::Op& op, ir::RegionId region) const {
    const ir::RegionId home = function_.variables[op.operands[0].index].region;
    bool is_in_loop = false;
    for (; region != home; region = function_.regions[region].parent) {
      const auto found = around_.find(region);
      if (found == around_.end()) return false;
      const ir::Op& around = *found->second;
      if (around.kind == OpKind::loop || around.kind == OpKind::foreach_array) return false;
      if (around.kind != OpKind::foreach_range) continue;
      if (!around.is_whole) return false;
      is_in_loop = true;
    }
    return !is_in_loop || is_of_slice(op.operands[1]);
  }

  /// Made of loop variables and bounds, and not looked up.
  bool is_of_slice(ir::Operand key) const {
    if (key.is_constant) return true;
    const auto made = made_by_.find(key.index);
    if (made == made_by_.end() || loop_variables_.contains(key.index)) return true;
    const ir::Op& op = *made->second;
    switch (op.kind) {
      case OpKind::copy:
      case OpKind::index_add:
      case OpKind::index_mul:
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul: break;
      case OpKind::struct_get: return true;  // an extent
      case OpKind::call_builtin: {
        const std::string_view name = stdlib::builtins()[op.callee].name;
        return name.starts_with('@') && (name != "@index" || is_of_slice(op.operands[0]));
      }
      default: return false;
    }
    for (const ir::Operand operand : op.operands)
      if (!is_of_slice(operand)) return false;
    return true;
  }

  const FunctionPlan& plan_;
  const ir::Function& function_;
  const OperandMap operands_;
  std::vector<std::uint32_t> assignments_;  ///< by variable: how many operations assign it
  std::unordered_map<ir::RegionId, const ir::Op*> around_;
  std::unordered_map<ir::VarId, const ir::Op*> made_by_;
  std::unordered_set<ir::VarId> loop_variables_;           ///< of collapsed loops: those that the text has
  std::uint32_t home_ = 0;                                 ///< the body of the array at hand
  std::unordered_map<ir::VarId, std::uint32_t> counters_;  ///< of the loops around the operation at hand
};

}  // namespace

void add_element_writers(const FunctionPlan& plan, vm::BodyId body, vm::Program& program) {
  for (auto& [array, writers] : WriterCollector(plan).collect()) {
    const auto is_elsewhere = [&](const vm::ElementWriter& each) { return each.place != writers[0].place; };
    if (std::ranges::none_of(writers, is_elsewhere)) continue;
    const auto number = static_cast<std::uint32_t>(program.element_writers.size());
    for (const vm::ElementWriter& each : writers) program.element_writers_at[each.place] = number;
    program.element_writers.push_back({body + plan.variables[array].body, std::move(writers)});
  }
}

}  // namespace raddle::emit
