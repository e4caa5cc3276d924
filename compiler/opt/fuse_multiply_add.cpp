#include "compiler/opt/fuse_multiply_add.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/opt/uses.hpp"

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

}  // namespace

void fuse_multiply_add(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    const std::vector<std::uint32_t> reads = count_reads(function);
    for (ir::Region& region : function.regions) RegionFuser(function, region, reads).run();
  }
}

}  // namespace raddle::opt
