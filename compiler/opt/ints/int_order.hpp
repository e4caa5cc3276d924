#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/opt/ints/int_sum.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::ints {

/// What is known of the order of a function's ints, by the loops and conditions that a region is in: of the iterations
/// of `foreach i in [1:n-2]` that 1 <= i and i <= n-2, in an arm of `if (i > 0 && i < n-1)` likewise, in the other arm
/// of `if (i == 0)` that i is greater, if it is not less in any case. What both arms of an `if` assign is what is true
/// of each there; so of `where`, `min`, `max`. Sums are taken to be there (int_sum). Operations of the function may
/// change, as long as no condition, loop or arm does. Threads: one.
class IntOrder {
 public:
  IntOrder(const ir::Module& module, const ir::Function& function);

  /// What assigns a variable, if one operation does, in the iteration of the loops around that reads it, too.
  /// @return null: none such
  const ir::Op* maker_of(ir::Operand operand) const;
  IntSum sum_of(ir::Operand operand) const;
  /// 0 <= index < extent, wherever both are known in the region.
  bool is_index(ir::Operand index, ir::Operand extent, ir::RegionId region);

 private:
  /// low <= high
  struct Fact {
    IntSum low, high;
  };
  struct Owner {
    const ir::Op* op = nullptr;
    std::size_t place = 0;  ///< among its regions
  };
  struct Assignment {
    const ir::Op* op = nullptr;
    ir::RegionId region = ir::none;
  };

  std::optional<std::int64_t> least(const IntSum& sum, ir::RegionId region, unsigned steps);
  bool is_at_most(const IntSum& low, const IntSum& high, ir::RegionId region, unsigned steps);
  bool is_of_same_iteration(ir::VarId variable, ir::RegionId assigned_in) const;
  const std::vector<Assignment>* assignments_of(ir::Operand operand) const;
  const std::vector<Assignment>* arms_of(const IntSum& sum) const;
  const std::vector<Fact>& facts_of(ir::RegionId region);
  void add_condition(std::vector<Fact>& facts, ir::Operand condition, bool holds, ir::RegionId region, unsigned& parts);
  bool is_int(ir::Operand operand) const;
  void add_order(std::vector<Fact>& facts, const IntSum& low, const IntSum& high, std::int64_t apart);

  const ir::Module& module_;
  const ir::Function& function_;
  std::unordered_map<ir::RegionId, Owner> owners_;
  std::unordered_map<ir::VarId, std::vector<Assignment>> assignments_;
  std::unordered_set<ir::VarId> other_iterations_;  ///< assigned in loops that they are declared outside of
  std::unordered_map<ir::RegionId, std::vector<Fact>> facts_;
};

}  // namespace raddle::ints
