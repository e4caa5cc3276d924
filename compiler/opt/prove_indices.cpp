#include "compiler/opt/prove_indices.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compiler/opt/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// `base + offset`; without a base a number.
struct Sum {
  std::optional<Operand> base;
  std::int64_t offset = 0;
};

/// Far from both ends of int64: sums of two can not overflow.
constexpr std::int64_t most = std::int64_t{1} << 61;

class Prover {
 public:
  Prover(const ir::Module& module, ir::Function& function) : module_(module), function_(function) {
    const std::vector<std::uint32_t> assignments = count_assignments(function);
    for (const ir::Region& region : function.regions) {
      for (const ir::Op& op : region.ops) {
        if (op.kind == OpKind::foreach_range) loops_[function.regions[op.regions[0]].parameters[0]] = &op;
        if (op.results.size() == 1 && assignments[op.results[0]] == 1) made_by_[op.results[0]] = &op;
      }
    }
  }

  void run() {
    Replacements replacements(function_);
    for (ir::Region& region : function_.regions) {
      for (ir::Op& op : region.ops) {
        if (!is_builtin(op, "@index") || !made_by_.contains(op.results[0]) || !holds(op.operands[0], op.operands[1]))
          continue;
        replacements.add(op.results[0], op.operands[0]);
        op.kind = OpKind::copy;  // nothing reads it
        op.callee = ir::none;
        op.operand_types.clear();
        op.operands.resize(1);
      }
    }
    replacements.apply(function_);
  }

 private:
  bool is_builtin(const ir::Op& op, std::string_view name) const {
    return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
  }

  std::optional<std::int64_t> number(Operand operand) const {
    if (!operand.is_constant) return std::nullopt;
    const auto* found = std::get_if<std::int64_t>(&module_.constants[operand.index]);
    return found == nullptr || *found > most || *found < -most ? std::nullopt : std::optional(*found);
  }

  /// What an operand is if it is there at all: an overflow has failed where it is computed.
  Sum sum_of(Operand operand) const {
    Sum sum{operand, 0};
    for (;;) {
      if (const auto known = number(*sum.base)) return {std::nullopt, sum.offset + *known};
      if (sum.base->is_constant) return sum;
      const auto found = made_by_.find(sum.base->index);
      if (found == made_by_.end()) return sum;
      const ir::Op& op = *found->second;
      if (op.kind == OpKind::copy) {
        sum.base = op.operands[0];
      } else if (is_builtin(op, "@extent")) {
        sum.base = op.operands[1];
      } else if (op.kind == OpKind::add || op.kind == OpKind::sub) {
        const auto right = number(op.operands[1]), left = number(op.operands[0]);
        const bool is_left = op.kind == OpKind::add && left && !right;
        if (!right && !is_left) return sum;
        const std::int64_t added = is_left ? *left : op.kind == OpKind::add ? *right : -*right;
        if (sum.offset + added > most || sum.offset + added < -most) return sum;
        sum.offset += added;
        sum.base = op.operands[is_left ? 1 : 0];
      } else {
        return sum;
      }
    }
  }

  /// 0 <= index < extent, wherever the two are known.
  bool holds(Operand index_operand, Operand extent_operand) const {
    const Sum index = sum_of(index_operand), extent = sum_of(extent_operand);
    if (!index.base) return index.offset >= 0 && !extent.base && index.offset < extent.offset;
    if (index.base->is_constant) return false;
    const auto loop = loops_.find(index.base->index);
    if (loop == loops_.end()) return false;
    const Sum low = sum_of(loop->second->operands[0]), high = sum_of(loop->second->operands[1]);
    const auto step = number(loop->second->operands[2]);
    return step && *step > 0 && !low.base && low.offset + index.offset >= 0 && high.base == extent.base &&
           high.offset + index.offset < extent.offset;
  }

  const ir::Module& module_;
  ir::Function& function_;
  std::unordered_map<ir::VarId, const ir::Op*> loops_;    ///< by their variable
  std::unordered_map<ir::VarId, const ir::Op*> made_by_;  ///< of what is assigned once
};

}  // namespace

void prove_indices(ir::Module& module) {
  for (ir::Function& function : module.functions) Prover(module, function).run();
}

}  // namespace raddle::opt
