#include "compiler/opt/bodies/common_subexpressions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "compiler/ir/library_calls.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

/// Operation, operands, field, callee. They do not tell the type of all results: find() looks at it.
using Key = std::tuple<ir::OpKind, std::vector<std::pair<std::uint32_t, bool>>, std::int64_t, std::uint32_t>;

/// A check of one index of two arrays is one: what it says of them does not matter.
bool is_only_told(const ir::Op& op, std::size_t operand) {
  if (op.kind != ir::OpKind::call_builtin) return false;
  const std::string_view name = stdlib::builtins()[op.callee].name;
  if (name == "@joint_extent") return operand == 3 || operand == 4;
  return (name == "@index" && operand >= 2) || (name == "@slice" && operand >= 3) ||
         (name == "@stepped_slice" && operand >= 4);
}

Key key_of(const ir::Op& op) {
  std::vector<std::pair<std::uint32_t, bool>> operands;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (!is_only_told(op, i)) operands.emplace_back(op.operands[i].index, op.operands[i].is_constant);
  return {op.kind, std::move(operands), op.number, op.callee};
}

bool is_pure(const ir::Op& op) {
  if (op.kind == ir::OpKind::call_builtin)
    return stdlib::is_pure(stdlib::builtins()[op.callee].effect) && op.priority.index == ir::none;
  return ir::info(op.kind).effect <= ir::Effect::fails && op.kind != ir::OpKind::copy;
}

/// What constants give and was not folded may be a check that fails, at each place where it stands.
bool is_call_with_constants(const ir::Op& op) {
  return op.kind == ir::OpKind::call_builtin && std::ranges::all_of(op.operands, &ir::Operand::is_constant);
}

class Sharing {
 public:
  Sharing(const ir::Module& module, ir::Function& function)
      : module_(module),
        function_(function),
        replacements_(function),
        assignments_(count_assignments(function)),
        known_(function.regions.size()) {
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::foreach_range && calls_library(op.regions[0]))
          library_loops_.insert(op.regions[0]);
        else if (op.kind == ir::OpKind::attempt)
          attempts_.insert(op.regions[0]);
  }

  void run() {
    share_region(0);
    replacements_.apply(function_);
  }

 private:
  void share_region(ir::RegionId id) {
    std::vector<ir::Op>& ops = function_.regions[id].ops;
    std::vector<bool> shared(ops.size(), false);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      ir::Op& op = ops[i];
      replacements_.apply(op);
      if (!can_share(op, id)) continue;
      const Key key = key_of(op);
      const ir::VarId result = op.results[0];
      const ir::VarId earlier = find(op, id, key, function_.variables[result].type);
      if (earlier == ir::none) {
        known_[id].emplace(key, result);
      } else if (function_.variables[result].name.empty()) {
        replacements_.add(result, ir::Operand::variable(earlier));
        shared[i] = true;  // if it can fail, the earlier one fails for both
      }
    }
    std::size_t index = 0;
    std::erase_if(ops, [&](const ir::Op&) { return shared[index++]; });
    for (const ir::Op& op : ops)
      for (const ir::RegionId nested : op.regions) share_region(nested);
  }

  bool calls_library(ir::RegionId body) const {
    return std::ranges::any_of(function_.regions[body].ops, [this](const ir::Op& op) {
      return op.kind == ir::OpKind::call && ir::is_called_directly(*module_.types, module_.functions[op.callee]);
    });
  }

  bool can_share(const ir::Op& op, ir::RegionId region) const {
    if (!is_pure(op) || is_call_with_constants(op) || op.results.size() != 1) return false;
    return function_.variables[op.results[0]].region == region && assignments_[op.results[0]] == 1;
  }

  ir::VarId find(const ir::Op& op, ir::RegionId region, const Key& key, TypeId type) const {
    for (; region != ir::none; region = function_.regions[region].parent) {
      const auto [first, last] = known_[region].equal_range(key);
      for (auto found = first; found != last; ++found)
        if (function_.variables[found->second].type == type) return found->second;
      if (attempts_.contains(region) && ir::info(op.kind).effect >= ir::Effect::fails) break;  // builtins, too
      if (op.kind == ir::OpKind::array_get && library_loops_.contains(region) && !module_.types->is_array(type)) break;
    }
    return ir::none;
  }

  const ir::Module& module_;
  ir::Function& function_;
  /// Bodies of loops that may become index launches whose points call functions of shared libraries. A point waits by
  /// itself for elements that the body reads; an element that is read outside must be there when the loop begins.
  std::set<ir::RegionId> library_loops_;
  /// What fails in an attempt fails there, also if the same fails outside.
  std::set<ir::RegionId> attempts_;
  Replacements replacements_;
  std::vector<std::uint32_t> assignments_;
  std::vector<std::multimap<Key, ir::VarId>> known_;
};

/// Of the body of a loop over a range or an array.
class WrittenElements {
 public:
  WrittenElements(const ir::Module& module, ir::Function& function, ir::RegionId body)
      : module_(module), function_(function) {
    for (const ir::Op& op : function.regions[body].ops) {
      if (op.kind != ir::OpKind::array_insert || op.is_tracked) continue;
      const auto [found, is_first] = written_.try_emplace(element_of(op), op.operands[2]);
      if (!is_first) found->second = {};  // an error, of which the run tells
    }
    if (!written_.empty()) forward_in(body);
  }

 private:
  using Element = std::tuple<std::uint32_t, std::uint32_t, bool>;
  static Element element_of(const ir::Op& op) {
    return {op.operands[0].index, op.operands[1].index, op.operands[1].is_constant};
  }

  void forward_in(ir::RegionId region) {
    for (ir::Op& op : function_.regions[region].ops) {
      if (op.kind == ir::OpKind::array_get && !op.is_tracked) forward(op);
      // points of a loop within wait by themselves, and what fails in an attempt is to fail there
      if (op.kind != ir::OpKind::if_ && op.kind != ir::OpKind::switch_) continue;
      for (const ir::RegionId nested : op.regions) forward_in(nested);
    }
  }

  void forward(ir::Op& get) const {
    const auto found = written_.find(element_of(get));
    if (found == written_.end() || found->second.index == ir::none) return;
    const TypeId type = function_.variables[get.results[0]].type;
    if (!TypeStore::is_number_or_truth(module_.types->base(type)) || type_of(module_, function_, found->second) != type)
      return;
    get.kind = ir::OpKind::copy;
    get.operands = {found->second};
  }

  const ir::Module& module_;
  ir::Function& function_;
  std::map<Element, ir::Operand> written_;  ///< index none: by several operations
};

}  // namespace

void forward_written_elements(ir::Module& module) {
  for (ir::Function& function : module.functions)
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::foreach_range || op.kind == ir::OpKind::foreach_array)
          WrittenElements(module, function, op.regions[0]);
}

void share_common_subexpressions(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (!function.regions.empty()) Sharing(module, function).run();
}

}  // namespace raddle::opt
