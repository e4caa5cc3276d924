#include "compiler/opt/fusion/drop_temporaries.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

class TemporaryDropper {
 public:
  TemporaryDropper(const ir::Module& module, ir::Function& function) : function_(function), shapes_(module, function) {}

  /// @return true: there were some
  bool run() {
    const std::vector<std::uint32_t> reads = count_reads(function_);
    std::vector<std::uint32_t> known(function_.variables.size(), 0);
    std::set<ir::VarId> made;
    for (const ir::Region& region : function_.regions) {
      for (const ir::Op& op : region.ops) {
        if (op.kind == OpKind::array_new) made.insert(op.results[0]);
        if (shapes_.is_builtin(op, "@complete")) ++known[op.operands[0].index];
        if (op.kind == OpKind::struct_make && reads[op.results[0]] == 0)
          for (const Operand field : op.operands)
            if (!field.is_constant) ++known[field.index];
        if (op.kind != OpKind::foreach_range || !op.is_needed) continue;
        visit_nested(function_, op, [&](const ir::Op& inner) {
          if (inner.kind == OpKind::array_insert && fills(op, inner)) ++known[inner.operands[0].index];
        });
      }
    }
    std::erase_if(made, [&](ir::VarId id) { return reads[id] != known[id]; });
    if (made.empty()) return false;
    for (ir::Region& region : function_.regions) {
      std::erase_if(region.ops, [&](const ir::Op& op) {
        const bool is_use = op.kind == OpKind::array_insert || shapes_.is_builtin(op, "@complete") ||
                            (op.kind == OpKind::struct_make && reads[op.results[0]] == 0);
        return is_use && !op.operands[0].is_constant && made.contains(op.operands[0].index);
      });
    }
    return true;
  }

 private:
  /// All elements that the array is to have are written by the loop: else it is an error that some are missing.
  bool fills(const ir::Op& loop, const ir::Op& insert) {
    const ir::Op* const made = shapes_.maker_of(insert.operands[0]);
    if (!made || made->kind != OpKind::array_new) return false;
    if (made->operands.empty()) return true;  // it has as many as there are
    return insert.operands[1] == Operand::variable(function_.regions[loop.regions[0]].parameters[0])
               ? shapes_.goes_over_product(loop, made->operands)
               : shapes_.goes_over_rows(loop, insert.operands[1], made->operands);
  }

  ir::Function& function_;
  LoopShapes shapes_;
};

/// Only loops that were fused are needed as a whole.
bool has_fused_loops(const ir::Function& function) {
  return std::ranges::any_of(function.regions, [](const ir::Region& region) {
    return std::ranges::any_of(region.ops, [](const ir::Op& op) { return op.is_needed; });
  });
}

}  // namespace

void drop_temporaries(const ir::Module& module, ir::Function& function) {
  if (has_fused_loops(function)) TemporaryDropper(module, function).run();
}

void drop_temporaries(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite && has_fused_loops(function))
      has_changed |= TemporaryDropper(module, function).run();
  if (!has_changed) return;
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
