#include "compiler/ir/body_accesses.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace raddle::ir {

namespace {

AccessMode mode_of(const Op& op) {
  if (op.kind == OpKind::array_get) return AccessMode::read;
  if (op.kind == OpKind::array_insert) return AccessMode::write;
  return op.number == 0 ? AccessMode::increment : op.number == 1 ? AccessMode::minimum : AccessMode::scale;
}

}  // namespace

BodyAccesses body_accesses(const Module& module, const Function& function, const Op& loop) {
  BodyAccesses accesses;
  std::unordered_map<VarId, const Op*> rows;
  std::unordered_set<const Op*> used;
  const auto access = [&](const Op& op) {
    BodyAccess made{&op, mode_of(op), op.operands[0], {}};
    if (op.kind != OpKind::update) made.keys.push_back(op.operands[1]);
    for (auto row = rows.find(made.array.index); row != rows.end(); row = rows.find(made.array.index)) {
      used.insert(row->second);
      made.array = row->second->operands[0];
      made.keys.push_back(row->second->operands[1]);
    }
    std::ranges::reverse(made.keys);
    return made;
  };
  const Region& body = function.regions[loop.regions[0]];
  const auto is_from_outside = [&](Operand key) {
    const auto is_key = [&](VarId id) { return id == key.index; };
    return key.is_constant ||
           (std::ranges::none_of(body.parameters, is_key) && std::ranges::none_of(body.variables, is_key));
  };
  for (const Op& op : body.ops) {
    const bool is_read = op.kind == OpKind::array_get;
    if (op.kind == OpKind::array_row || (is_read && module.types->is_array(function.variables[op.results[0]].type))) {
      rows[op.results[0]] = &op;
    } else if (is_read) {
      accesses.reads.push_back(access(op));
    } else if (op.kind == OpKind::array_hold) {
      accesses.holds.push_back(&op);
    } else if (op.kind == OpKind::array_insert || op.kind == OpKind::update) {
      BodyAccess& write = accesses.writes.emplace_back(access(op));
      while (write.fixed_keys + 1 < write.keys.size() && is_from_outside(write.keys[write.fixed_keys]))
        ++write.fixed_keys;
    }
  }
  for (const Op& op : body.ops)
    if (used.contains(&op)) accesses.rows.push_back(&op);
  return accesses;
}

}  // namespace raddle::ir
