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
  /// The same of a leaf that need not be one of the module.
  bool is_heavy(const Function& leaf);

 private:
  enum class State : std::uint8_t { unknown, open, light, heavy };
  const Module& module_;
  std::vector<State> states_;
};

}  // namespace raddle::ir
