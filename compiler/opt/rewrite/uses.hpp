#pragma once
// Which variables an operation reads and assigns, nested regions included.
#include <functional>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// An operation, by its place.
struct OpPlace {
  ir::RegionId region = ir::none;
  std::size_t index = 0;
};

/// Every operand of `op` itself (conditions, next values and priorities too), nested regions left out.
void visit_operands(ir::Op& op, const std::function<void(ir::Operand&)>& visit);
void visit_operands(const ir::Op& op, const std::function<void(const ir::Operand&)>& visit);

/// `op` and all operations of its nested regions, outermost first.
void visit_nested(const ir::Function& function, const ir::Op& op, const std::function<void(const ir::Op&)>& visit);

/// Variables that `op` or its nested regions read. Each once, any order.
std::vector<ir::VarId> variables_read(const ir::Function& function, const ir::Op& op);

/// Variables that `op` or its nested regions assign. Each once, any order.
std::vector<ir::VarId> variables_assigned(const ir::Function& function, const ir::Op& op);

/// Arrays that `op` or its nested regions insert into.
std::set<ir::VarId> inserted_into(const ir::Function& function, const ir::Op& op);

/// For each variable of the function: by how many operands it is read, outputs counting as one.
std::vector<std::uint32_t> count_reads(const ir::Function& function);

/// For each variable of the function: how many operations assign it.
std::vector<std::uint32_t> count_assignments(const ir::Function& function);

/// Every operand of a launch's table entry.
void visit_launch(ir::IndexLaunch& launch, const std::function<void(ir::Operand&)>& visit);

/// Every operand of the function, those of an app's command too.
void visit_all_operands(ir::Function& function, const std::function<void(ir::Operand&)>& visit);

/// What to read instead of each variable; the variable itself at first.
class Replacements {
 public:
  explicit Replacements(const ir::Function& function);
  /// The function has one more.
  void add_variable() { instead_.push_back(ir::Operand::variable(static_cast<ir::VarId>(instead_.size()))); }
  /// @return false, and nothing is replaced: `to` leads back to `from`, as two arrays may have their extents from each
  /// other, in a script that waits for ever
  bool add(ir::VarId from, ir::Operand to) {
    if (of(to) == ir::Operand::variable(from)) return false;
    instead_[from] = to;
    return true;
  }
  /// Also over several steps: a for b, c for a.
  ir::Operand of(ir::Operand operand) const {
    while (!operand.is_constant && instead_[operand.index] != operand) operand = instead_[operand.index];
    return operand;
  }
  void apply(ir::Op& op) const;
  void apply(ir::Function& function) const;

 private:
  std::vector<ir::Operand> instead_;
};

/// True if `op` is pure and gives a result whatever its operands are: no overflow, no division by zero, no missing
/// element.
bool can_not_fail(const ir::Module& module, const ir::Function& function, const ir::Op& op);

}  // namespace raddle::opt
