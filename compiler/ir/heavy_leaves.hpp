#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// Leaves with a loop, with recursion, or that call such: a call may take long.
class HeavyLeaves {
 public:
  explicit HeavyLeaves(const Module& module) : module_(module), states_(module.functions.size(), State::unknown) {}
  bool is_heavy(FunctionId leaf);

 private:
  enum class State : std::uint8_t { unknown, open, light, heavy };
  const Module& module_;
  std::vector<State> states_;
};

/// The same of a function that need not be one of the module.
bool is_heavy(const Module& module, const Function& leaf);

}  // namespace raddle::ir
