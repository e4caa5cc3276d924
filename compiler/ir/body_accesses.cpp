#include "compiler/ir/body_accesses.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/affine_keys.hpp"

namespace raddle::ir {

namespace {

AccessMode mode_of(const Op& op) {
  if (op.kind == OpKind::array_get) return AccessMode::read;
  if (op.kind == OpKind::array_insert) return AccessMode::write;
  return op.number == 0 ? AccessMode::increment : op.number == 1 ? AccessMode::minimum : AccessMode::scale;
}

/// Finds rows: `foreach k in [0:w-1] { A[(b + i)*w + k] = .. }` within a loop over i, with A, b and w from outside of
/// it.
class RowFinder {
 public:
  RowFinder(const Module& module, const Function& function, const Op& loop)
      : module_(module), function_(function), loop_(loop), body_(loop.regions[0]) {}

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
    const auto has_length = [&](Operand width) { return is_last(op.operands[1], width); };
    return start ? row_from(*start, *insert, has_length) : std::nullopt;
  }

  /// `A[(b + i)*3] = ..; A[(b + i)*3 + 1] = ..; A[(b + i)*3 + 2] = ..;`
  std::vector<BodyAccess> rows_of_operations() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::int64_t, std::vector<const Op*>>> found;
    for (const Op& op : function_.regions[body_].ops) {
      if (op.kind != OpKind::array_insert || !is_outside(op.operands[0]) || op.operands[1].is_constant) continue;
      const Op* const key = maker_of(op.operands[1]);
      if (key && key->kind == OpKind::index_add && !key->operands[0].is_constant && key->operands[1].is_constant)
        found[{op.operands[0].index, key->operands[0].index}][number_of(key->operands[1])].push_back(&op);
    }
    std::vector<BodyAccess> rows;
    for (const auto& [place, elements] : found) {
      const auto count = static_cast<std::int64_t>(elements.size());
      const auto is_once = [](const auto& each) { return each.second.size() == 1; };
      if (elements.begin()->first != 0 || elements.rbegin()->first != count - 1 ||
          !std::ranges::all_of(elements, is_once))
        continue;
      const auto has_length = [&](Operand width) { return is_constant(width, count); };
      std::optional<BodyAccess> row =
          row_from(Operand::variable(place.second), *elements.begin()->second[0], has_length);
      if (!row) continue;
      for (const auto& [number, ops] : elements) row->elements.push_back(ops[0]);
      rows.push_back(std::move(*row));
    }
    return rows;
  }

  /// An element whose number goes up with the point is a row of one: rows are written by many points at once, so that
  /// there are none beside elements.
  void make_row(BodyAccess& write) const {
    const auto one = std::ranges::find(module_.constants, Constant(std::int64_t{1}));
    if (write.mode != AccessMode::write || write.keys.size() != 1 || one == module_.constants.end() ||
        !is_number_of_row(write.keys[0]))
      return;
    const auto width = static_cast<std::uint32_t>(one - module_.constants.begin());
    write = {write.op, AccessMode::row, write.array, {Operand::constant(width), write.keys[0]}, 1, {write.op}};
  }

  /// Of the loop.
  bool is_outside(Operand operand) const {
    if (operand.is_constant) return true;
    for (RegionId at = function_.variables[operand.index].region; at != none; at = function_.regions[at].parent)
      if (at == body_) return false;
    return true;
  }

 private:
  /// @param start  key of the row's first element  @param has_length  asked of how long rows are
  template <typename HasLength>
  std::optional<BodyAccess> row_from(Operand start, const Op& insert, const HasLength& has_length) const {
    const Op* const product = maker_of(start);
    if (!product || product->kind != OpKind::index_mul) return std::nullopt;
    for (const std::size_t i : {1UZ, 0UZ}) {
      const Operand row = product->operands[1 - i], width = product->operands[i];
      if (is_number_of_row(row) && is_outside(width) && has_length(width))
        return BodyAccess{&insert, AccessMode::row, insert.operands[0], {width, row}, 1};
    }
    return std::nullopt;
  }
  std::int64_t number_of(Operand constant) const { return std::get<std::int64_t>(module_.constants[constant.index]); }
  bool is_constant(Operand operand, std::int64_t number) const {
    return operand.is_constant && module_.constants[operand.index] == Constant(number);
  }
  /// The loop's variable, and what is the same for all points.
  bool is_number_of_row(Operand operand) const {
    const std::optional<Key> key = affine_key(module_, function_, loop_, operand);
    return key && (key->kind == Key::Kind::point || (key->kind == Key::Kind::affine && key->stride == 1));
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
  const Op& loop_;
  const RegionId body_;
};

}  // namespace

Access with_same_keys(const BodyAccess& access) {
  Access made{.mode = access.mode, .data = access.array, .keys = {}, .span = access.op->span};
  for (std::size_t i = 0; i < access.fixed_keys; ++i)
    made.keys.push_back({.kind = Key::Kind::same, .operand = access.keys[i]});
  return made;
}

BodyAccesses body_accesses(const Module& module, const Function& function, const Op& loop, RowsBy rows_by) {
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
  std::unordered_set<const Op*> in_rows;
  if (rows_by == RowsBy::loops_and_operations) found_rows = finder.rows_of_operations();
  for (const BodyAccess& row : found_rows) in_rows.insert(row.elements.begin(), row.elements.end());
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
    } else if ((op.kind == OpKind::array_insert || op.kind == OpKind::update) && !in_rows.contains(&op)) {
      BodyAccess made = access(op);
      const bool is_inside = !finder.is_outside(made.array);
      BodyAccess& write = (is_inside ? accesses.inside : accesses.writes).emplace_back(std::move(made));
      while (write.fixed_keys + 1 < write.keys.size() && is_from_outside(write.keys[write.fixed_keys]))
        ++write.fixed_keys;
    }
  }
  if (rows_by == RowsBy::loops_and_operations && !found_rows.empty())
    for (BodyAccess& write : accesses.writes) finder.make_row(write);
  accesses.writes.insert(accesses.writes.end(), found_rows.begin(), found_rows.end());
  for (const Op& op : body.ops)
    if (used.contains(&op)) accesses.rows.push_back(&op);
  return accesses;
}

}  // namespace raddle::ir
