#include "compiler/ir/writers.hpp"

#include <algorithm>
#include <unordered_map>

namespace raddle::ir {
namespace {

bool makes_row(OpKind kind) { return kind == OpKind::array_row || kind == OpKind::bag_row; }

bool writes_directly(OpKind kind) {
  return makes_row(kind) || kind == OpKind::array_insert || kind == OpKind::bag_append;
}

/// Root of each variable, found in one walk over the function.
class Roots {
 public:
  explicit Roots(const Function& function) : row_of_(function.variables.size(), none) {
    for (const Region& region : function.regions) {
      for (const Op& op : region.ops)
        if (makes_row(op.kind) && !op.results.empty()) row_of_[op.results[0]] = op.operands[0].index;
    }
  }
  VarId of(VarId variable) const {
    // a row of itself is refused by verify; it must not hang here
    for (std::size_t steps = 0; row_of_[variable] != none && steps < row_of_.size(); ++steps)
      variable = row_of_[variable];
    return variable;
  }

 private:
  std::vector<VarId> row_of_;
};

void add_written(const Function& function, const Roots& roots, const Op& op, std::vector<VarId>& written) {
  if (writes_directly(op.kind)) written.push_back(roots.of(op.operands[0].index));
  for (const RegionId nested : op.regions)
    for (const Op& inner : function.regions[nested].ops) add_written(function, roots, inner, written);
}

bool is_declared_in(const Function& function, VarId variable, RegionId region) {
  for (RegionId at = function.variables[variable].region; at != none; at = function.regions[at].parent)
    if (at == region) return true;
  return false;
}

std::vector<VarId> all_written(const Function& function, const Roots& roots, const Op& op) {
  std::vector<VarId> written;
  add_written(function, roots, op, written);
  std::ranges::sort(written);
  written.erase(std::ranges::unique(written).begin(), written.end());
  return written;
}

std::vector<VarId> written_outside(const Function& function, const Roots& roots, const Op& op) {
  std::vector<VarId> written = all_written(function, roots, op);
  std::erase_if(written, [&](VarId id) {
    return std::ranges::any_of(op.regions, [&](RegionId region) { return is_declared_in(function, id, region); });
  });
  return written;
}

}  // namespace

VarId root_array(const Function& function, VarId variable) { return Roots(function).of(variable); }

std::vector<VarId> arrays_written(const Function& function, const Op& op) {
  return written_outside(function, Roots(function), op);
}

std::uint32_t count_writing_ops(const Function& function, RegionId region, VarId array) {
  const Roots roots(function);
  return static_cast<std::uint32_t>(std::ranges::count_if(function.regions[region].ops, [&](const Op& op) {
    const std::vector<VarId> written = all_written(function, roots, op);
    return std::ranges::binary_search(written, array);
  }));
}

bool count_writers(Function& function) {
  const Roots roots(function);
  bool changed = false;
  for (Region& region : function.regions) {
    const auto makes_array = [](const Op& op) { return op.kind == OpKind::array_new || op.kind == OpKind::bag_new; };
    if (std::ranges::none_of(region.ops, makes_array)) continue;
    std::unordered_map<VarId, std::int64_t> writers;
    for (const Op& op : region.ops)
      for (const VarId array : all_written(function, roots, op)) ++writers[array];
    for (Op& op : region.ops) {
      if (!makes_array(op)) continue;
      const std::int64_t found = writers[op.results.at(0)];
      changed = changed || found != op.number;
      op.number = found;
    }
  }
  return changed;
}

}  // namespace raddle::ir
