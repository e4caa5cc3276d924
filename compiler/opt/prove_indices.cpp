#include "compiler/opt/prove_indices.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/opt/int_sum.hpp"
#include "compiler/opt/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

class Prover {
 public:
  Prover(ir::Module& module, ir::Function& function) : module_(module), function_(function) {
    const std::vector<std::uint32_t> assignments = count_assignments(function);
    for (ir::Region& region : function.regions) {
      for (ir::Op& op : region.ops) {
        if (op.kind == OpKind::foreach_range) {
          loops_[function.regions[op.regions[0]].parameters[0]] = &op;
          loops_by_body_[op.regions[0]] = &op;
        }
        if (op.results.size() == 1 && assignments[op.results[0]] == 1) made_by_[op.results[0]] = &op;
        note_extents(op);
      }
    }
  }

  void run() {
    Replacements replacements(function_);
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) {
      for (ir::Op& op : function_.regions[region].ops) {
        if (op.kind != OpKind::call_builtin || op.results.size() != 1 || !made_by_.contains(op.results[0])) continue;
        const std::optional<Operand> result = is_builtin(op, "@index") ? proven_index(op, region)
                                              : is_slice(op)           ? proven_slice(op, region)
                                                                       : std::nullopt;
        if (!result) continue;
        replacements.add(op.results[0], *result);
        op.kind = OpKind::copy;  // nothing reads it
        op.callee = ir::none;
        op.operand_types.clear();
        op.operands = {*result};
      }
    }
    replacements.apply(function_);
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::foreach_range)
          for (const std::size_t bound : {0, 1}) prove_bound(op.operands[bound]);
  }

 private:
  /// Of arrays that exist: no number that is still to become an extent is one.
  void note_extents(const ir::Op& op) {
    const bool is_index = is_builtin(op, "@index");
    if (!is_index && !is_slice(op)) return;
    const Operand extent = op.operands[is_index ? 1 : 2];
    if (!extent.is_constant) extents_.insert(extent.index);
  }

  /// What bounds of loops are made of, an extent and small numbers, can not overflow.
  void prove_bound(Operand bound) {
    const IntSum sum = sum_of(bound);
    if (sum.base && !sum.base->is_constant && extents_.contains(sum.base->index)) keep_from_failing(bound);
  }

  bool is_builtin(const ir::Op& op, std::string_view name) const {
    return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
  }

  bool is_slice(const ir::Op& op) const { return is_builtin(op, "@slice") || is_builtin(op, "@stepped_slice"); }

  std::optional<Operand> proven_index(const ir::Op& op, ir::RegionId region) {
    if (!holds(op.operands[0], op.operands[1], region)) return std::nullopt;
    keep_from_failing(op.operands[0]);
    return op.operands[0];
  }

  /// How many indices it has, if that is always the same.
  std::optional<Operand> proven_slice(const ir::Op& op, ir::RegionId region) {
    const Operand first = op.operands[0], last = op.operands[1], extent = op.operands[2];
    const IntSum low = sum_of(first), high = sum_of(last);
    const auto step = is_builtin(op, "@stepped_slice") ? number(op.operands[3]) : 1;
    if (low.base != high.base || low.offset > high.offset || !step || *step < 1 || !holds(first, extent, region) ||
        !holds(last, extent, region))
      return std::nullopt;
    keep_from_failing(first);
    keep_from_failing(last);
    return Operand::constant(module_.constant((high.offset - low.offset) / *step + 1));
  }

  std::optional<std::int64_t> number(Operand operand) const { return int_constant(module_, operand); }

  IntSum sum_of(Operand operand) const {
    const auto maker = [this](Operand of) -> const ir::Op* {
      const auto found = made_by_.find(of.index);
      return found == made_by_.end() ? nullptr : found->second;
    };
    return int_sum(module_, operand, maker, SumsOf::indices);
  }

  /// What an index that holds is made of, a loop's variable and small numbers, can not overflow on the way.
  void keep_from_failing(Operand index) {
    while (!index.is_constant) {
      const auto found = made_by_.find(index.index);
      if (found == made_by_.end()) return;
      ir::Op& op = *found->second;
      if (op.kind != OpKind::copy) {
        if (op.kind != OpKind::add && op.kind != OpKind::sub && op.kind != OpKind::index_add) return;
        if (op.kind != OpKind::sub && !number(op.operands[1])) std::swap(op.operands[0], op.operands[1]);
        const auto added = number(op.operands[1]);
        if (!added) return;
        if (op.kind == OpKind::sub) op.operands[1] = Operand::constant(module_.constant(-*added));
        op.kind = OpKind::index_add;
      }
      index = op.operands[0];
    }
  }

  /// 0 <= index < extent, wherever the two are known.
  bool holds(Operand index_operand, Operand extent_operand, ir::RegionId region) const {
    const IntSum index = sum_of(index_operand), extent = sum_of(extent_operand);
    if (!index.base && !extent.base) return index.offset >= 0 && index.offset < extent.offset;
    if (!index.base) return index.offset >= 0 && index.offset < least(extent, region);
    if (index.base == extent.base)
      return index.offset < extent.offset && least({index.base, index.offset}, region) >= 0;
    if (index.base->is_constant) return false;
    const auto loop = loops_.find(index.base->index);
    if (loop == loops_.end()) return false;
    const IntSum low = sum_of(loop->second->operands[0]), high = sum_of(loop->second->operands[1]);
    const auto step = number(loop->second->operands[2]);
    return step && *step > 0 && !low.base && low.offset + index.offset >= 0 && high.base == extent.base &&
           high.offset + index.offset < extent.offset;
  }

  /// What a sum is at least, as loops around have iterations: in `[1 : n-2]` there is n >= 3.
  std::int64_t least(const IntSum& sum, ir::RegionId region) const {
    std::int64_t found = std::numeric_limits<std::int64_t>::min();
    for (; region != ir::none; region = function_.regions[region].parent) {
      const auto loop = loops_by_body_.find(region);
      if (loop == loops_by_body_.end()) continue;
      const IntSum low = sum_of(loop->second->operands[0]), high = sum_of(loop->second->operands[1]);
      const auto step = number(loop->second->operands[2]);
      if (step && *step > 0 && !low.base && high.base == sum.base)
        found = std::max(found, low.offset - high.offset + sum.offset);
    }
    return found;
  }

  ir::Module& module_;
  ir::Function& function_;
  std::unordered_map<ir::VarId, const ir::Op*> loops_;             ///< by their variable
  std::unordered_map<ir::RegionId, const ir::Op*> loops_by_body_;  ///< the same
  std::unordered_map<ir::VarId, ir::Op*> made_by_;                 ///< of what is assigned once
  std::unordered_set<ir::VarId> extents_;                          ///< of arrays
};

}  // namespace

void prove_indices(ir::Module& module) {
  for (ir::Function& function : module.functions) Prover(module, function).run();
}

}  // namespace raddle::opt
