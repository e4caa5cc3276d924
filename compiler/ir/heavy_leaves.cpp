#include "compiler/ir/heavy_leaves.hpp"

#include <algorithm>

namespace raddle::ir {

bool HeavyLeaves::is_heavy(FunctionId leaf) {
  if (states_[leaf] == State::open) return true;  // recursion
  if (states_[leaf] == State::unknown) {
    states_[leaf] = State::open;
    states_[leaf] = is_heavy(module_.functions[leaf]) ? State::heavy : State::light;
  }
  return states_[leaf] == State::heavy;
}

bool HeavyLeaves::is_heavy(const Function& leaf) {
  return std::ranges::any_of(leaf.regions, [this](const Region& region) {
    return std::ranges::any_of(region.ops, [this](const Op& op) {
      return op.kind == OpKind::loop || (op.kind == OpKind::call && is_heavy(op.callee));
    });
  });
}

}  // namespace raddle::ir
