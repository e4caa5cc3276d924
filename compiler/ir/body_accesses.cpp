#include "compiler/ir/body_accesses.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace raddle::ir {

namespace {

AccessMode mode_of(const Op& op) {
  if (op.kind == OpKind::array_get) return AccessMode::read;
  if (op.kind == OpKind::array_insert) return AccessMode::write;
  return op.number == 0 ? AccessMode::increment : op.number == 1 ? AccessMode::minimum : AccessMode::scale;
}

/// Finds rows: `foreach k in [0:w-1] { A[i*w + k] = .. }` within a loop over i, with A and w from outside of it.
class RowFinder {
 public:
  RowFinder(const Module& module, const Function& function, const Op& loop)
      : module_(module), function_(function), body_(loop.regions[0]) {}

  std::optional<BodyAccess> row_of(const Op& op) {
    if (op.kind != OpKind::foreach_range || !is_constant(op.operands[0], 0) || !is_constant(op.operands[2], 1))
      return std::nullopt;
    const Region& inner = function_.regions[op.regions[0]];
    const Op* insert = nullptr;
    for (const Op& each : inner.ops) {
      if (each.kind != OpKind::array_insert) continue;
      if (insert) return std::nullopt;
      insert = &each;
    }
    if (!insert || !is_outside(insert->operands[0])) return std::nullopt;
    const Op* const key = maker_of(insert->operands[1]);
    const std::optional<Operand> start = other_operand(key, OpKind::index_add, inner.parameters[0]);
    const std::optional<Operand> width =
        start ? other_operand(maker_of(*start), OpKind::index_mul, function_.regions[body_].parameters[0])
              : std::nullopt;
    if (!width || !is_outside(*width) || !is_last(op.operands[1], *width)) return std::nullopt;
    return BodyAccess{insert, AccessMode::row, insert->operands[0], {*width}, 1};
  }

  /// Of the loop.
  bool is_outside(Operand operand) const {
    if (operand.is_constant) return true;
    for (RegionId at = function_.variables[operand.index].region; at != none; at = function_.regions[at].parent)
      if (at == body_) return false;
    return true;
  }

 private:
  bool is_constant(Operand operand, std::int64_t number) const {
    return operand.is_constant && module_.constants[operand.index] == Constant(number);
  }
  /// One less than that.
  bool is_last(Operand last, Operand width) const {
    if (width.is_constant && last.is_constant)
      return std::get<std::int64_t>(module_.constants[width.index]) ==
             std::get<std::int64_t>(module_.constants[last.index]) + 1;
    const Op* const made = maker_of(last);
    return made && made->kind == OpKind::index_add && made->operands[0] == width && is_constant(made->operands[1], -1);
  }
  static std::optional<Operand> other_operand(const Op* op, OpKind kind, VarId variable) {
    if (!op || op->kind != kind) return std::nullopt;
    if (op->operands[0] == Operand::variable(variable)) return op->operands[1];
    if (op->operands[1] == Operand::variable(variable)) return op->operands[0];
    return std::nullopt;
  }
  const Op* maker_of(Operand operand) const {
    if (operand.is_constant) return nullptr;
    const RegionId region = function_.variables[operand.index].region;
    if (region == none) return nullptr;
    for (const Op& op : function_.regions[region].ops)
      if (std::ranges::find(op.results, operand.index) != op.results.end()) return &op;
    return nullptr;
  }

  const Module& module_;
  const Function& function_;
  const RegionId body_;
};

}  // namespace

Access with_same_keys(const BodyAccess& access) {
  Access made{.mode = access.mode, .data = access.array, .keys = {}, .span = access.op->span};
  for (std::size_t i = 0; i < access.fixed_keys; ++i)
    made.keys.push_back({.kind = Key::Kind::same, .operand = access.keys[i]});
  return made;
}

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
  RowFinder finder(module, function, loop);
  std::vector<BodyAccess> found_rows;
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
      BodyAccess made = access(op);
      (finder.is_outside(made.array) ? accesses.reads : accesses.inside).push_back(std::move(made));
    } else if (loop.kind == OpKind::foreach_range && op.kind == OpKind::foreach_range) {
      if (const std::optional<BodyAccess> row = finder.row_of(op)) found_rows.push_back(*row);
    } else if (op.kind == OpKind::array_hold) {
      accesses.holds.push_back(&op);
    } else if (op.kind == OpKind::array_insert || op.kind == OpKind::update) {
      BodyAccess made = access(op);
      const bool is_inside = !finder.is_outside(made.array);
      BodyAccess& write = (is_inside ? accesses.inside : accesses.writes).emplace_back(std::move(made));
      while (write.fixed_keys + 1 < write.keys.size() && is_from_outside(write.keys[write.fixed_keys]))
        ++write.fixed_keys;
    }
  }
  accesses.writes.insert(accesses.writes.end(), found_rows.begin(), found_rows.end());
  for (const Op& op : body.ops)
    if (used.contains(&op)) accesses.rows.push_back(&op);
  return accesses;
}

}  // namespace raddle::ir
