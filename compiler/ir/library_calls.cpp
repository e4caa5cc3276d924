#include "compiler/ir/library_calls.hpp"

#include <algorithm>

namespace raddle::ir {
namespace {

bool is_number(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  return base == TypeStore::int_ || base == TypeStore::float_ || base == TypeStore::boolean;
}

bool is_passed(const TypeStore& types, TypeId type) {
  if (is_number(types, type)) return true;
  return types.is_array(type) && types.base(types.at(type).key) == TypeStore::int_ &&
         is_number(types, types.at(type).element);
}

}  // namespace

bool is_called_directly(const TypeStore& types, const Function& function) {
  const auto type = [&](VarId id) { return function.variables[id].type; };
  return function.kind == FunctionKind::foreign && function.foreign.kind == ForeignKind::library &&
         function.foreign.ranks.empty() && function.outputs.size() == 1 &&
         is_number(types, type(function.outputs[0])) &&
         std::ranges::all_of(function.parameters, [&](VarId id) { return is_passed(types, type(id)); });
}

bool calls_library(const Module& module, const Function& leaf) {
  return std::ranges::any_of(leaf.regions, [&](const Region& region) {
    return std::ranges::any_of(region.ops, [&](const Op& op) {
      return op.kind == OpKind::call && module.functions[op.callee].kind == FunctionKind::foreign;
    });
  });
}

}  // namespace raddle::ir
