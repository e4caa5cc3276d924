#pragma once
// What each step of a function awaits before it can go, by its operation and the types of its operands.
#include "compiler/emit/function_plan.hpp"
#include "stdlib/signature.hpp"

namespace raddle::emit {

/// Once for each variable and mode.
void await(Step& step, ir::Operand operand, vm::AwaitMode mode);

/// Makes steps without the regions inside.
class StepInputs {
 public:
  StepInputs(const ir::Module& module, const ir::Function& function) : module_(module), function_(function) {}
  Step operation(const ir::Op& op) const;
  /// @param op  a loop
  Step loop_test(const ir::Op& op) const;
  /// The last step of an app function or of one in another language.
  Step run_app() const;

 private:
  vm::AwaitMode deep_mode(ir::Operand operand) const;
  vm::AwaitMode closed_mode(ir::Operand operand) const;
  vm::AwaitMode reference_mode(ir::Operand operand) const;
  vm::AwaitMode input_mode(ir::Operand operand, stdlib::InputMark mark) const;
  void await_builtin(Step& step) const;
  void await_memo(Step& step, std::size_t first_file) const;
  static bool is_synchronous(const ir::Op& op);
  void set_inputs(Step& step) const;
  void set_own_inputs(Step& step) const;
  bool is_file_output(ir::VarId variable) const;

  const ir::Module& module_;
  const ir::Function& function_;
};

}  // namespace raddle::emit
