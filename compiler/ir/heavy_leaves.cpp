#include "compiler/ir/heavy_leaves.hpp"

#include <algorithm>

namespace raddle::ir {

bool HeavyLeaves::is_heavy(FunctionId leaf) {
  if (states_[leaf] == State::open) return true;  // recursion
  if (states_[leaf] == State::unknown) {
    states_[leaf] = State::open;
    const bool heavy = std::ranges::any_of(module_.functions[leaf].regions, [this](const Region& region) {
      return std::ranges::any_of(region.ops, [this](const Op& op) {
        return op.kind == OpKind::loop || (op.kind == OpKind::call && is_heavy(op.callee));
      });
    });
    states_[leaf] = heavy ? State::heavy : State::light;
  }
  return states_[leaf] == State::heavy;
}

bool is_heavy(const Module& module, const Function& leaf) {
  HeavyLeaves heavy(module);
  return std::ranges::any_of(leaf.regions, [&](const Region& region) {
    return std::ranges::any_of(region.ops, [&](const Op& op) {
      return op.kind == OpKind::loop || (op.kind == OpKind::call && heavy.is_heavy(op.callee));
    });
  });
}

}  // namespace raddle::ir
