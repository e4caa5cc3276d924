#include "compiler/opt/leaves/order_library_calls.hpp"

#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

using ir::OpKind;

bool has_library_call(const ir::Module& module, const ir::Function& function, const ir::Op& op) {
  bool has_any = false;
  visit_nested(function, op, [&](const ir::Op& inner) {
    has_any |= inner.kind == OpKind::call && module.functions[inner.callee].kind == ir::FunctionKind::foreign;
  });
  return has_any;
}

void put_library_calls_last(const ir::Module& module, ir::Function& leaf) {
  std::set<ir::VarId> made_by_library;
  const auto is_last = [&](const ir::Op& op) {
    bool depends = has_library_call(module, leaf, op);
    for (const ir::VarId id : variables_read(leaf, op)) depends |= made_by_library.contains(id);
    if (!depends) return false;
    for (const ir::VarId id : variables_assigned(leaf, op)) made_by_library.insert(id);
    return true;
  };
  std::vector<ir::Op> first, last;
  for (ir::Op& op : leaf.regions[0].ops) (is_last(op) ? last : first).push_back(std::move(op));
  first.insert(first.end(), std::make_move_iterator(last.begin()), std::make_move_iterator(last.end()));
  leaf.regions[0].ops = std::move(first);
}

}  // namespace raddle::opt
