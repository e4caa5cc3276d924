#include "compiler/opt/launches/gather_calls.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

class Gatherer {
 public:
  Gatherer(ir::HeavyLeaves& heavy, const ir::Function& function, std::vector<ir::Op>& ops)
      : heavy_(heavy), function_(function), ops_(ops) {}

  void gather() {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (is_worth_it(ops_[i])) i += gather_at(i) - 1;
  }

 private:
  bool is_worth_it(const ir::Op& op) { return op.kind == ir::OpKind::call && heavy_.is_heavy(op.callee); }
  static bool is_at_once(const ir::Op& op) { return op.regions.empty() && op.kind != ir::OpKind::call; }

  /// Moves calls from further on to behind the call at `first`, with what their arguments need before it.
  /// @return the place after the calls, counted from `first`
  std::size_t gather_at(std::size_t first) {
    std::unordered_set<ir::VarId> later;  // known, or written, only after the calls, or by something that is not moved
    std::unordered_map<ir::VarId, std::size_t> made_at;
    std::vector<bool> is_call(ops_.size(), false), is_needed(ops_.size(), false);
    const auto comes_later = [&](const ir::Op& op) {
      for (const ir::VarId id : variables_assigned(function_, op)) later.insert(id);
      for (const ir::VarId array : inserted_into(function_, op)) later.insert(array);
    };
    is_call[first] = true;
    comes_later(ops_[first]);
    for (std::size_t i = first + 1; i < ops_.size(); ++i) {
      const ir::Op& op = ops_[i];
      const bool waits =
          std::ranges::any_of(variables_read(function_, op), [&](ir::VarId id) { return later.contains(id); });
      if (!waits && is_at_once(op) && op.kind != ir::OpKind::array_insert) {
        for (const ir::VarId id : variables_assigned(function_, op)) made_at[id] = i;
        continue;
      }
      is_call[i] = !waits && is_worth_it(op);
      if (is_call[i]) mark_needed(op, made_at, is_needed);
      comes_later(op);
    }
    return reorder(first, is_call, is_needed);
  }

  void mark_needed(const ir::Op& op, const std::unordered_map<ir::VarId, std::size_t>& made_at,
                   std::vector<bool>& is_needed) const {
    for (const ir::VarId id : variables_read(function_, op)) {
      const auto found = made_at.find(id);
      if (found == made_at.end() || is_needed[found->second]) continue;
      is_needed[found->second] = true;
      mark_needed(ops_[found->second], made_at, is_needed);
    }
  }

  std::size_t reorder(std::size_t first, const std::vector<bool>& is_call, const std::vector<bool>& is_needed) {
    const auto rank = [&](std::size_t i) { return is_needed[i] ? 0 : is_call[i] ? 1 : 2; };
    std::vector<ir::Op> ordered;
    std::size_t end = 0;
    for (int wanted = 0; wanted < 3; ++wanted) {
      for (std::size_t i = first; i < ops_.size(); ++i)
        if (rank(i) == wanted) ordered.push_back(std::move(ops_[i]));
      if (wanted == 1) end = ordered.size();
    }
    std::ranges::move(ordered, ops_.begin() + static_cast<std::ptrdiff_t>(first));
    return end;
  }

  ir::HeavyLeaves& heavy_;
  const ir::Function& function_;
  std::vector<ir::Op>& ops_;
};

}  // namespace

void gather_calls(ir::Module& module) {
  ir::HeavyLeaves heavy(module);
  for (ir::Function& function : module.functions) {
    if (!function.is_leaf()) continue;
    for (ir::Region& region : function.regions) Gatherer(heavy, function, region.ops).gather();
  }
}

}  // namespace raddle::opt
