#include "compiler/ir/waits_for_others.hpp"

#include <algorithm>

#include "stdlib/builtins.hpp"

namespace raddle::ir {

bool waits_for_others(const Module& module) {
  const auto waits = [&](const Op& op) {
    if (op.kind == OpKind::call_app) return true;
    if (op.kind == OpKind::call) return module.functions[op.callee].kind == FunctionKind::foreign;
    return op.kind == OpKind::call_builtin && stdlib::may_end_later(stdlib::builtins()[op.callee].effect);
  };
  return std::ranges::any_of(module.functions, [&](const Function& function) {
    return std::ranges::any_of(function.regions,
                               [&](const Region& region) { return std::ranges::any_of(region.ops, waits); });
  });
}

}  // namespace raddle::ir
