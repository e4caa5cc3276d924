#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Makes a function for index launches of what a loop's body computes: copies operations; what they read from outside
/// of the loop becomes parameters.
class LoopBodyCopier {
 public:
  /// `module`, `around` and `loop` must outlive this.
  LoopBodyCopier(const ir::Module& module, const ir::Function& around, const ir::Op& loop, const char* what);

  /// By the loop's regions.
  bool declares(ir::VarId variable) const { return declared_.contains(variable); }
  /// Some operation of the body's own assigns a variable from outside. Of a loop with more than one iteration that is
  /// an error, which only dataflow finds.
  bool assigns_outside() const;
  /// A range's body reads its second parameter, which counts iterations: what runs natively has none.
  bool counter_is_read() const;
  void add_parameter(ir::VarId variable) { made_.parameters.push_back(take_over(variable, 0)); }
  /// Of no variable of the loop's.
  void add_unnamed_parameter(TypeId type);
  /// The parameter `array` at the first parameter is the value of `element`.
  void add_element(ir::Operand array, ir::VarId element);
  /// Copies operations of the body that `is_wanted` takes, with all that is nested in them.
  void copy_body(const std::function<bool(const ir::Op&)>& is_wanted);
  void add_output(ir::Operand value, Span span);
  /// What the parameters stand for that were added because something was read.
  const std::vector<ir::Operand>& captures() const { return captures_; }
  ir::Function take_function() { return std::move(made_); }

 private:
  void collect_declared(ir::RegionId id);
  ir::VarId take_over(ir::VarId id, ir::RegionId region);
  void declare(ir::VarId variable);
  ir::Operand translate(ir::Operand operand);
  void copy_op(const ir::Op& op, ir::RegionId to);
  void copy_nested(const ir::Op& op, ir::Op& copy, ir::RegionId around);
  bool is_of_nested(ir::Operand operand) const;

  const ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  std::set<ir::VarId> declared_;
  std::map<ir::VarId, ir::VarId> here_;  ///< variables of the function around, in the one made
  std::vector<ir::Operand> captures_;
  ir::Function made_;
};

}  // namespace raddle::opt
