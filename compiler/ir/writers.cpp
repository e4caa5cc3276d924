#include "compiler/ir/writers.hpp"

#include <algorithm>
#include <unordered_map>

namespace raddle::ir {
namespace {

bool makes_row(OpKind kind) { return kind == OpKind::array_row || kind == OpKind::bag_row; }

bool writes_directly(OpKind kind) {
  return makes_row(kind) || kind == OpKind::array_insert || kind == OpKind::array_hold || kind == OpKind::bag_append;
}

bool makes_root(OpKind kind) { return kind == OpKind::array_new || kind == OpKind::bag_new; }

void make_unique(std::vector<VarId>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
}

}  // namespace

Writers::Writers(const Function& function) : function_(function), row_of_(function.variables.size(), none) {
  for (const Region& region : function.regions) {
    for (const Op& op : region.ops)
      if (makes_row(op.kind) && !op.results.empty()) row_of_[op.results[0]] = op.operands[0].index;
  }
}

VarId Writers::root(VarId variable) const {
  // a row of itself is refused by verify; it must not hang here
  for (std::size_t steps = 0; row_of_[variable] != none && steps < row_of_.size(); ++steps)
    variable = row_of_[variable];
  return variable;
}

void Writers::add_written(const Op& op, std::vector<VarId>& written) const {
  if (writes_directly(op.kind)) written.push_back(root(op.operands[0].index));
  for (const RegionId nested : op.regions)
    for (const Op& inner : function_.regions[nested].ops) add_written(inner, written);
}

bool Writers::is_declared_in(VarId variable, RegionId region) const {
  for (RegionId at = function_.variables[variable].region; at != none; at = function_.regions[at].parent)
    if (at == region) return true;
  return false;
}

std::vector<VarId> Writers::held_by(const Op& op) const {
  std::vector<VarId> written;
  add_written(op, written);
  std::erase_if(written, [&](VarId id) {
    return std::ranges::any_of(op.regions, [&](RegionId region) { return is_declared_in(id, region); });
  });
  make_unique(written);
  return written;
}

std::vector<VarId> Writers::written_in(RegionId region) const {
  std::vector<VarId> written;
  for (const Op& op : function_.regions[region].ops) add_written(op, written);
  std::erase_if(written, [&](VarId id) { return is_declared_in(id, region); });
  make_unique(written);
  return written;
}

/// Bodies of loops have variables.
static bool has_loop_around(const Function& function, RegionId region) {
  for (; region != 0 && region != none; region = function.regions[region].parent)
    if (!function.regions[region].parameters.empty()) return true;
  return false;
}

std::vector<VarId> written_by_loops_around(const Function& function, RegionId region) {
  if (!has_loop_around(function, region)) return {};  // before all of the function is looked at, for each of its loops
  struct Owner {
    const Op* op = nullptr;
    RegionId around = none;
  };
  std::vector<Owner> owners(function.regions.size());
  for (RegionId around = 0; around < function.regions.size(); ++around)
    for (const Op& op : function.regions[around].ops)
      for (const RegionId nested : op.regions) owners[nested] = {&op, around};
  const Writers writers(function);
  std::vector<VarId> written;
  for (RegionId at = region; owners[at].op; at = owners[at].around) {
    const OpKind kind = owners[at].op->kind;
    if (kind != OpKind::foreach_range && kind != OpKind::foreach_array && kind != OpKind::loop) continue;
    const std::vector<VarId> held = writers.held_by(*owners[at].op);
    written.insert(written.end(), held.begin(), held.end());
  }
  return written;
}

bool count_writers(Function& function) {
  const Writers writers(function);
  bool changed = false;
  for (Region& region : function.regions) {
    const auto is_root = [](const Op& op) { return makes_root(op.kind); };
    if (std::ranges::none_of(region.ops, is_root)) continue;
    std::unordered_map<VarId, std::int64_t> count;
    for (const Op& op : region.ops)
      for (const VarId array : writers.held_by(op)) ++count[array];
    for (Op& op : region.ops) {
      if (!is_root(op)) continue;
      const std::int64_t found = count[op.results.at(0)];
      changed = changed || found != op.number;
      op.number = found;
    }
  }
  return changed;
}

}  // namespace raddle::ir
