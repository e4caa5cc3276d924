#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/body_accesses.hpp"
#include "compiler/ir/module.hpp"
#include "compiler/opt/leaves/loop_body_copier.hpp"

namespace raddle::opt {

/// Points that write to elements with their number, perhaps of a row that is the same for all, and read nothing that
/// the loop writes.
class PlainLaunch {
 public:
  /// All must outlive this.
  PlainLaunch(const ir::Module& module, const ir::Function& around, const ir::Op& loop);

  /// @return none if the loop can not be such a launch, whatever the rest of its body computes
  std::optional<ir::Function> run();
  const std::vector<ir::Operand>& captures() const { return copier_.captures(); }
  std::vector<ir::Access> accesses() const;

 private:
  bool is_over_array() const { return loop_.kind == ir::OpKind::foreach_array; }
  bool is_from_outside(ir::Operand operand) const { return operand.is_constant || !copier_.declares(operand.index); }
  bool is_sink(const ir::BodyAccess& write) const;
  bool writes_inside() const;
  bool reads_what_it_writes() const;

  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::Region& body_;
  const ir::VarId point_;  ///< none: the body does not name it
  const ir::BodyAccesses accesses_;
  LoopBodyCopier copier_;
};

}  // namespace raddle::opt
