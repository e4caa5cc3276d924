#include "compiler/opt/bodies/hoist_keys.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/opt/ints/int_sum.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

bool makes_keys(const ir::Op& op) { return op.kind == OpKind::index_add || op.kind == OpKind::index_mul; }

bool is_arithmetic(const ir::Op& op) {
  return op.kind == OpKind::add || op.kind == OpKind::sub || op.kind == OpKind::mul ||
         ints::is_called(op, "min_integer") || ints::is_called(op, "max_integer");
}

class Hoister {
 public:
  explicit Hoister(ir::Function& function) : function_(function), assignments_(count_assignments(function)) {}

  void run() {
    find_bounds();
    visit(0);
  }

 private:
  void find_bounds() {
    std::unordered_map<ir::VarId, const ir::Op*> made_by;
    std::vector<ir::VarId> found;
    const auto add = [&](const ir::Op& op) {
      for (const Operand operand : op.operands)
        if (!operand.is_constant && bounds_.insert(operand.index).second) found.push_back(operand.index);
    };
    for (const ir::Region& region : function_.regions) {
      for (const ir::Op& op : region.ops) {
        if (is_arithmetic(op)) made_by[op.results[0]] = &op;
        if (op.kind == OpKind::foreach_range) add(op);
      }
    }
    while (!found.empty()) {
      const auto made = made_by.find(found.back());
      found.pop_back();
      if (made != made_by.end()) add(*made->second);
    }
  }

  /// Of a loop's range. It may overflow, but only where the loop would never end.
  bool makes_bound(const ir::Op& op) const {
    return is_arithmetic(op) && bounds_.contains(op.results[0]) &&
           function_.variables[op.results[0]].type == TypeStore::int_;
  }

  /// Loops within come first: what leaves them may go on.
  void visit(ir::RegionId id) {
    for (std::size_t i = 0; i < function_.regions[id].ops.size(); ++i) {
      const std::vector<ir::RegionId> within = function_.regions[id].ops[i].regions;
      for (const ir::RegionId region : within) visit(region);
      const OpKind kind = function_.regions[id].ops[i].kind;
      if (kind == OpKind::foreach_range || kind == OpKind::foreach_array) i += leave(within[0], id, i);
    }
  }

  /// Moves what does not depend on the loop to before it. @return how many operations
  std::size_t leave(ir::RegionId body, ir::RegionId to, std::size_t before) {
    std::vector<ir::Op> moved;
    for (std::size_t i = 0; i < function_.regions[body].ops.size(); ++i) {
      if (makes_keys(function_.regions[body].ops[i]))
        join_fixed_terms(body, to, i, moved);
      else if (!makes_bound(function_.regions[body].ops[i]))
        continue;
      ir::Op& op = function_.regions[body].ops[i];
      if (assignments_[op.results[0]] != 1 ||
          !std::ranges::all_of(op.operands, [&](Operand operand) { return is_fixed(operand, body); }))
        continue;
      ir::Var& variable = function_.variables[op.results[0]];
      if (variable.region != body) continue;
      std::erase(function_.regions[body].variables, op.results[0]);
      function_.regions[to].variables.push_back(op.results[0]);
      variable.region = to;
      moved.push_back(std::move(op));
      function_.regions[body].ops.erase(function_.regions[body].ops.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
    }
    std::vector<ir::Op>& ops = function_.regions[to].ops;
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(before), std::make_move_iterator(moved.begin()),
               std::make_move_iterator(moved.end()));
    return moved.size();
  }

  /// It does not change in the loop.
  bool is_fixed(Operand operand, ir::RegionId body) const {
    if (operand.is_constant) return true;
    for (ir::RegionId region = function_.variables[operand.index].region; region != ir::none;
         region = function_.regions[region].parent)
      if (region == body) return false;
    return true;
  }

  /// A sum of which several variables do not depend on the loop reads their sum, which is computed before it.
  void join_fixed_terms(ir::RegionId body, ir::RegionId to, std::size_t number, std::vector<ir::Op>& before) {
    ir::Op& op = function_.regions[body].ops[number];
    if (op.kind != OpKind::index_add || is_fixed(op.operands[0], body) == is_fixed(op.operands[1], body)) return;
    const std::size_t fixed = is_fixed(op.operands[0], body) ? 0 : 1;
    if (op.operands[fixed].is_constant) return;
    const ir::Op* const rest = sum_in(body, op.operands[1 - fixed]);
    if (!rest) return;
    const std::size_t other = is_fixed(rest->operands[0], body) ? 0 : 1;
    if (!is_fixed(rest->operands[other], body) || rest->operands[other].is_constant) return;
    ir::Op sum = op;
    sum.operands = {op.operands[fixed], rest->operands[other]};
    sum.results = {new_variable(op, to)};
    op.operands = {Operand::variable(sum.results[0]), rest->operands[1 - other]};
    before.push_back(std::move(sum));
    join_fixed_terms(body, to, number, before);
  }

  const ir::Op* sum_in(ir::RegionId body, Operand operand) const {
    if (operand.is_constant || assignments_[operand.index] != 1) return nullptr;
    const std::vector<ir::Op>& ops = function_.regions[body].ops;
    const auto makes_it = [&](const ir::Op& op) {
      return op.kind == OpKind::index_add && op.results[0] == operand.index;
    };
    const auto found = std::ranges::find_if(ops, makes_it);
    return found != ops.end() ? &*found : nullptr;
  }

  ir::VarId new_variable(const ir::Op& op, ir::RegionId region) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({.name = "", .type = TypeStore::int_, .span = op.span, .region = region});
    function_.regions[region].variables.push_back(id);
    assignments_.push_back(1);
    return id;
  }

  ir::Function& function_;
  std::vector<std::uint32_t> assignments_;
  std::unordered_set<ir::VarId> bounds_;  ///< that ranges of loops are made of
};

}  // namespace

void hoist_keys(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (!function.regions.empty()) Hoister(function).run();
}

}  // namespace raddle::opt
