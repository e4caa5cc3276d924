#include "compiler/ir/reduced_loops.hpp"

#include <algorithm>
#include <utility>

#include "stdlib/builtins.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::ir {

bool holds_numbers(const TypeStore& types, TypeId type) {
  if (!types.is_array(type) || types.at(type).key != TypeStore::int_) return false;
  const TypeId element = types.base(types.at(type).element);
  return element == TypeStore::int_ || element == TypeStore::float_;
}

bool is_reduction(const Op& op) {
  return op.kind == OpKind::call_builtin && stdlib::is_reduction(stdlib::builtins()[op.callee].effect);
}

bool needs_deviation(const Op& reduction) {
  return stdlib::builtins()[reduction.callee].effect == stdlib::BuiltinEffect::deviates;
}

namespace {

/// That kernels can do.
bool is_of_kernels(const Op& op) {
  return is_reduction(op) && vm::reducer_of_function(stdlib::builtins()[op.callee].name);
}

/// From 0 on in steps of 1, of an expression's own: what it writes is all of an array.
bool is_over_all(const Module& module, const Op& op) {
  const auto is_constant = [&](const Operand& operand, std::int64_t number) {
    return operand.is_constant && module.constants[operand.index] == Constant(number);
  };
  return op.kind == OpKind::foreach_range && op.is_whole && is_constant(op.operands[0], 0) &&
         is_constant(op.operands[2], 1);
}

/// What has to do with an array.
struct Uses {
  const Op* array = nullptr;
  const Op* insert = nullptr;
  RegionId filled_in = none;  ///< the region of `insert`
  const Op* reduction = nullptr;
  RegionId made_in = none;     ///< of `array`
  RegionId reduced_in = none;  ///< of `reduction`
  unsigned count = 0;
};

}  // namespace

ReducedLoops::ReducedLoops(const Module& module, const Function& function) {
  std::unordered_map<VarId, Uses> arrays;
  for (RegionId region = 0; region < function.regions.size(); ++region)
    for (const Op& op : function.regions[region].ops)
      if (op.kind == OpKind::array_new && holds_numbers(*module.types, function.variables[op.results[0]].type)) {
        arrays[op.results[0]].array = &op;
        arrays[op.results[0]].made_in = region;
      }
  if (arrays.empty()) return;
  std::unordered_map<RegionId, std::pair<const Op*, RegionId>> loops;  // by the region of the body; with that around
  const auto note = [&](const Operand& operand, const Op& op, RegionId region) {
    const auto found = operand.is_constant ? arrays.end() : arrays.find(operand.index);
    if (found == arrays.end()) return;
    Uses& uses = found->second;
    ++uses.count;
    if (op.kind == OpKind::array_insert && &operand == &op.operands[0]) {
      uses.insert = &op;
      uses.filled_in = region;
    } else if (is_of_kernels(op)) {
      uses.reduction = &op;
      uses.reduced_in = region;
    }
  };
  for (RegionId region = 0; region < function.regions.size(); ++region) {
    for (const Op& op : function.regions[region].ops) {
      if (is_over_all(module, op)) loops[op.regions[0]] = {&op, region};
      for (const Operand& operand : op.operands) note(operand, op, region);
      for (const Operand& operand : op.nexts) note(operand, op, region);
    }
  }
  for (const VarId output : function.outputs) arrays.erase(output);
  for (const auto& [id, uses] : arrays) {
    const auto loop = loops.find(uses.filled_in);
    if (uses.count != 2 || uses.insert == nullptr || uses.reduction == nullptr || loop == loops.end()) continue;
    const auto [fill, around] = loop->second;
    // else it would fail in a branch only, or be computed in each round of a loop
    if (uses.made_in != around || uses.reduced_in != around) continue;
    const Region& body = function.regions[uses.filled_in];
    const auto writes = [](const Op& op) { return op.kind == OpKind::array_insert || op.kind == OpKind::update; };
    if (uses.insert->operands[1] != Operand::variable(body.parameters[0]) ||
        std::ranges::count_if(body.ops, writes) != 1)
      continue;
    for (const Op* op : {uses.array, fill, uses.reduction}) by_op_[op] = all_.size();
    all_.push_back({uses.array, fill, uses.reduction});
  }
}

}  // namespace raddle::ir
