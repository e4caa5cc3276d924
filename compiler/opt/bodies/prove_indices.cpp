#include "compiler/opt/bodies/prove_indices.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/opt/ints/int_order.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

class Prover {
 public:
  Prover(ir::Module& module, ir::Function& function) : module_(module), function_(function), order_(module, function) {
    for (ir::RegionId region = 0; region < function.regions.size(); ++region)
      for (ir::Op& op : function.regions[region].ops) {
        for (const ir::VarId result : op.results) assigned_[result].push_back({&op, region});
        note_extents(op);
      }
  }

  void run() {
    Replacements replacements(function_);
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) {
      for (ir::Op& op : function_.regions[region].ops) {
        if (op.kind != OpKind::call_builtin || op.results.size() != 1 || assigned_[op.results[0]].size() != 1) continue;
        const std::optional<Operand> result = is_builtin(op, "@index") ? proven_index(op, region)
                                              : is_slice(op)           ? proven_slice(op, region)
                                                                       : std::nullopt;
        if (!result || !replacements.add(op.results[0], *result)) continue;
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
    const ints::IntSum sum = order_.sum_of(bound);
    if (sum.base && !sum.base->is_constant && extents_.contains(sum.base->index))
      keep_from_failing(bound, [](ir::RegionId) { return true; });
  }

  bool is_builtin(const ir::Op& op, std::string_view name) const {
    return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
  }

  bool is_slice(const ir::Op& op) const { return is_builtin(op, "@slice") || is_builtin(op, "@stepped_slice"); }

  std::optional<Operand> proven_index(const ir::Op& op, ir::RegionId region) {
    if (!order_.is_index(op.operands[0], op.operands[1], region)) return std::nullopt;
    keep_index_from_failing(op.operands[0], op.operands[1]);
    return op.operands[0];
  }

  /// How many indices it has, if that is always the same.
  std::optional<Operand> proven_slice(const ir::Op& op, ir::RegionId region) {
    const Operand first = op.operands[0], last = op.operands[1], extent = op.operands[2];
    const ints::IntSum low = order_.sum_of(first), high = order_.sum_of(last);
    const auto step = is_builtin(op, "@stepped_slice") ? number(op.operands[3]) : 1;
    if (low.base != high.base || low.offset > high.offset || !step || *step < 1 ||
        !order_.is_index(first, extent, region) || !order_.is_index(last, extent, region))
      return std::nullopt;
    keep_index_from_failing(first, extent);
    keep_index_from_failing(last, extent);
    return Operand::constant(module_.constant((high.offset - low.offset) / *step + 1));
  }

  std::optional<std::int64_t> number(Operand operand) const { return ints::int_constant(module_, operand); }

  /// What an index is made of, a loop's variable or an extent and small numbers, can not overflow on the way, where it
  /// is known to be one; nor in the arms of an `if` that assign it, each of which is an index there. Who computes it
  /// elsewhere may fail.
  void keep_index_from_failing(Operand index, Operand extent) {
    const bool is_of_extent = order_.sum_of(index).base == order_.sum_of(extent).base;
    const Operand last = keep_from_failing(
        index, [&](ir::RegionId region) { return is_of_extent || order_.is_index(index, extent, region); });
    if (last.is_constant) return;
    const auto found = assigned_.find(last.index);
    if (found == assigned_.end() || found->second.size() < 2 || last != index) return;
    for (const auto& [op, region] : found->second)
      if (op->kind == OpKind::copy && order_.is_index(op->operands[0], extent, region))
        keep_index_from_failing(op->operands[0], extent);
  }

  /// @return  what all of it is made of, that one operation does not assign
  Operand keep_from_failing(Operand index, const std::function<bool(ir::RegionId)>& holds) {
    while (!index.is_constant) {
      const auto found = assigned_.find(index.index);
      if (found == assigned_.end() || found->second.size() > 1) return index;
      const auto& [op, region] = found->second.front();
      if (op->kind != OpKind::copy) {
        if ((op->kind != OpKind::add && op->kind != OpKind::sub && op->kind != OpKind::index_add) || !holds(region))
          return index;
        if (op->kind != OpKind::sub && !number(op->operands[1])) std::swap(op->operands[0], op->operands[1]);
        const auto added = number(op->operands[1]);
        if (!added) return index;
        if (op->kind == OpKind::sub) op->operands[1] = Operand::constant(module_.constant(-*added));
        op->kind = OpKind::index_add;
      }
      index = op->operands[0];
    }
    return index;
  }

  ir::Module& module_;
  ir::Function& function_;
  ints::IntOrder order_;
  std::unordered_map<ir::VarId, std::vector<std::pair<ir::Op*, ir::RegionId>>> assigned_;
  std::unordered_set<ir::VarId> extents_;  ///< of arrays
};

}  // namespace

void prove_indices(ir::Module& module) {
  for (ir::Function& function : module.functions) Prover(module, function).run();
}

}  // namespace raddle::opt
