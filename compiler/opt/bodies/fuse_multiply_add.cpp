#include "compiler/opt/bodies/fuse_multiply_add.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// The products of one region that nothing but one operation reads.
class RegionFuser {
 public:
  RegionFuser(const ir::Function& function, ir::Region& region, const std::vector<std::uint32_t>& reads)
      : function_(function), region_(region), reads_(reads) {
    for (const ir::Op& op : region.ops)
      if (op.kind == OpKind::mul && is_only_read_once(op)) products_.emplace(op.results[0], op.operands);
  }

  void run() {
    for (ir::Op& op : region_.ops)
      if (op.kind == OpKind::add || op.kind == OpKind::sub) fuse(op);
    std::erase_if(region_.ops,
                  [this](const ir::Op& op) { return op.kind == OpKind::mul && fused_.contains(op.results[0]); });
    std::erase_if(region_.variables, [this](ir::VarId variable) { return fused_.contains(variable); });
  }

 private:
  bool is_only_read_once(const ir::Op& op) const {
    const ir::Var& result = function_.variables[op.results[0]];
    return result.name.empty() && result.type == TypeStore::float_ && reads_[op.results[0]] == 1 &&
           !(op.operands[0].is_constant && op.operands[1].is_constant);
  }

  bool is_product(const ir::Operand& operand) const {
    return !operand.is_constant && products_.contains(operand.index);
  }

  void fuse(ir::Op& op) {
    const bool left = is_product(op.operands[0]);
    if (left == is_product(op.operands[1])) return;
    const ir::Operand product = op.operands[left ? 0 : 1];
    const ir::Operand addend = op.operands[left ? 1 : 0];
    op.kind = op.kind == OpKind::add ? OpKind::mul_add : left ? OpKind::mul_sub : OpKind::sub_mul;
    const std::vector<ir::Operand>& factors = products_.at(product.index);
    op.operands = {factors[0], factors[1], addend};
    fused_.insert(product.index);
  }

  const ir::Function& function_;
  ir::Region& region_;
  const std::vector<std::uint32_t>& reads_;
  std::unordered_map<ir::VarId, std::vector<ir::Operand>> products_;
  std::unordered_set<ir::VarId> fused_;
};

/// Functions with a loop or recursion, and all that they call. Linear in the calls: a chain may have any length.
class Kernels {
 public:
  explicit Kernels(const ir::Module& module) : callees_(module.functions.size()), is_kernel_(module.functions.size()) {
    for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
      for (const ir::Region& region : module.functions[id].regions) {
        for (const ir::Op& op : region.ops) {
          if (op.kind == OpKind::call) callees_[id].push_back(op.callee);
          if (op.kind == OpKind::loop && id != module.script) is_kernel_[id] = true;
        }
      }
    }
    mark_recursive();
    mark_called();
  }
  bool contains(ir::FunctionId id) const { return is_kernel_[id]; }

 private:
  /// Functions that nobody calls are taken away, then those that only they called, and so on: what is left is on a
  /// cycle of calls, or called from one.
  void mark_recursive() {
    std::vector<std::uint32_t> callers(callees_.size(), 0);
    for (const auto& callees : callees_)
      for (const ir::FunctionId callee : callees) ++callers[callee];
    std::vector<ir::FunctionId> open;
    for (ir::FunctionId id = 0; id < callers.size(); ++id)
      if (callers[id] == 0) open.push_back(id);
    while (!open.empty()) {
      const ir::FunctionId id = open.back();
      open.pop_back();
      for (const ir::FunctionId callee : callees_[id])
        if (--callers[callee] == 0) open.push_back(callee);
    }
    for (ir::FunctionId id = 0; id < callers.size(); ++id)
      if (callers[id] != 0) is_kernel_[id] = true;
  }

  void mark_called() {
    std::vector<ir::FunctionId> open;
    for (ir::FunctionId id = 0; id < is_kernel_.size(); ++id)
      if (is_kernel_[id]) open.push_back(id);
    while (!open.empty()) {
      const ir::FunctionId id = open.back();
      open.pop_back();
      for (const ir::FunctionId callee : callees_[id]) {
        if (is_kernel_[callee]) continue;
        is_kernel_[callee] = true;
        open.push_back(callee);
      }
    }
  }

  std::vector<std::vector<ir::FunctionId>> callees_;
  std::vector<bool> is_kernel_;
};

}  // namespace

void fuse_multiply_add(ir::Module& module) {
  const Kernels kernels(module);
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
    if (!kernels.contains(id)) continue;
    ir::Function& function = module.functions[id];
    const std::vector<std::uint32_t> reads = count_reads(function);
    for (ir::Region& region : function.regions) RegionFuser(function, region, reads).run();
  }
}

}  // namespace raddle::opt
