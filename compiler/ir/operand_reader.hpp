#pragma once
// Inside of read_function: variables and constants of a function, as its text names them.
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/module_text.hpp"

namespace raddle::ir {

class OperandReader {
 public:
  OperandReader(ModuleText& text, Function& function) : text_(text), function_(function) {}

  /// The variable of that name, which may be declared later.
  VarId mention(const std::string& name);
  VarId declare(const std::string& name, RegionId region);
  /// `(%x: int, %y: float !0:1-2)`
  std::vector<VarId> declarations(RegionId region);
  Operand operand();
  std::vector<Operand> operand_list();
  /// An operation without operands is followed by something on the next line.
  bool at_operand(unsigned line) const;
  /// @throw Fault if a variable that was mentioned is not
  void check_declared() const;

 private:
  Operand number(const std::string& text);

  ModuleText& text_;
  Function& function_;
  std::unordered_map<std::string, VarId> variables_;
};

}  // namespace raddle::ir
