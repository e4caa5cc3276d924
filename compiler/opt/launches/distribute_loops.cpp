#include "compiler/opt/launches/distribute_loops.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

constexpr std::size_t most_parts = 16;

class Distributor {
 public:
  Distributor(ir::Module& module, ir::Function& function) : module_(module), function_(function) {}

  bool run() {
    visit(0);
    return has_changed_;
  }

 private:
  using Places = std::set<std::size_t>;  ///< of operations in a body

  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }

  /// Loops within come first: what becomes of them are parts of the loop around.
  void visit(ir::RegionId region) {
    for (std::size_t i = 0; i < ops(region).size(); ++i) {
      for (const ir::RegionId within : std::vector(ops(region)[i].regions)) visit(within);
      if (ops(region)[i].kind == OpKind::foreach_range && is_recurrent(ops(region)[i])) i += distribute(region, i);
    }
  }

  /// It reads elements of an array that it writes, and does nothing but compute and write elements.
  bool is_recurrent(const ir::Op& loop) const {
    std::set<ir::VarId> written, read;
    bool is_possible = !loop.is_whole;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      if (op.kind == OpKind::array_insert) written.insert(op.operands[0].index);
      if (op.kind == OpKind::array_get) read.insert(op.operands[0].index);
      const bool is_pure_call =
          op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].effect <= stdlib::BuiltinEffect::deviates;
      is_possible &= ir::info(op.kind).effect < ir::Effect::creates || is_pure_call ||
                     op.kind == OpKind::array_insert || op.kind == OpKind::if_ || op.kind == OpKind::foreach_range;
    });
    return is_possible && std::ranges::any_of(written, [&](ir::VarId array) { return read.contains(array); });
  }

  /// @return how many loops it has become, less one
  std::size_t distribute(ir::RegionId region, std::size_t index) {
    const std::vector<Places> parts = parts_of(ops(region)[index]);
    if (parts.size() < 2 || parts.size() > most_parts) return 0;
    has_changed_ = true;
    std::vector<ir::Op> made;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const ir::Op loop = ops(region)[index];
      made.push_back(RegionCopier(function_, function_).copy(loop, region));
      keep(made.back().regions[0], parts[i]);
    }
    keep(ops(region)[index].regions[0], parts[0]);
    ops(region).insert(ops(region).begin() + static_cast<std::ptrdiff_t>(index) + 1,
                       std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    return parts.size() - 1;
  }

  /// Operations of the loop's body by the loop that they go to: those that write, and what these need. One: it is to
  /// stay as it is.
  std::vector<Places> parts_of(const ir::Op& loop) const {
    const std::vector<ir::Op>& body = function_.regions[loop.regions[0]].ops;
    std::vector<Places> parts;
    if (std::ranges::find(body, OpKind::foreach_range, &ir::Op::kind) == body.end()) return parts;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (!writes(body[i])) continue;
      Places part = needed_by(body, i);
      // what may fail fails once
      const auto has_fallible_of = [&](const Places& other) {
        return std::ranges::any_of(
            other, [&](std::size_t k) { return part.contains(k) && !can_not_fail(module_, function_, body[k]); });
      };
      for (auto other = parts.begin(); other != parts.end();) {
        if (!has_fallible_of(*other)) {
          ++other;
          continue;
        }
        part.insert(other->begin(), other->end());
        other = parts.erase(other);
      }
      parts.push_back(std::move(part));
    }
    if (!parts.empty()) add_rest(body, parts);
    return parts;
  }

  bool writes(const ir::Op& op) const {
    bool writes = op.kind == OpKind::foreach_range;
    visit_nested(function_, op, [&](const ir::Op& inner) { writes |= inner.kind == OpKind::array_insert; });
    return writes;
  }

  Places needed_by(const std::vector<ir::Op>& body, std::size_t place) const {
    Places found{place};
    std::set<ir::VarId> needed;
    const auto add = [&](const ir::Op& op) {
      for (const ir::VarId id : variables_read(function_, op)) needed.insert(id);
    };
    add(body[place]);
    for (std::size_t i = body.size(); i-- > 0;) {
      const std::vector<ir::VarId> assigned = variables_assigned(function_, body[i]);
      if (!std::ranges::any_of(assigned, [&](ir::VarId id) { return needed.contains(id); })) continue;
      found.insert(i);
      add(body[i]);
    }
    return found;
  }

  /// What nobody reads, but may fail.
  static void add_rest(const std::vector<ir::Op>& body, std::vector<Places>& parts) {
    for (std::size_t i = 0; i < body.size(); ++i)
      if (std::ranges::none_of(parts, [&](const Places& part) { return part.contains(i); })) parts[0].insert(i);
  }

  void keep(ir::RegionId body, const Places& part) {
    std::vector<ir::Op> all = std::exchange(ops(body), {});
    std::set<ir::VarId> assigned;
    for (const std::size_t place : part) {
      for (const ir::VarId id : variables_assigned(function_, all[place])) assigned.insert(id);
      ops(body).push_back(std::move(all[place]));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!part.contains(i))
        for (const ir::RegionId nested : all[i].regions) clear_region(function_, nested);
    std::erase_if(function_.regions[body].variables, [&](ir::VarId id) { return !assigned.contains(id); });
  }

  ir::Module& module_;
  ir::Function& function_;
  bool has_changed_ = false;
};

}  // namespace

void distribute_loops(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite && Distributor(module, function).run())
      ir::count_writers(function);
}

}  // namespace raddle::opt
