#pragma once
// Inside of the passes that make one loop of two: which loops they look at, and what has to hold of two of them.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/opt/fusion/merge_loops.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"

namespace raddle::opt {

/// What the operations of a region read and change, by their numbers; and by variable which of them do.
class RegionDependences {
 public:
  RegionDependences(const ir::Function& function, ir::RegionId region);
  /// The operation has changed.
  void note(std::size_t number);
  const std::vector<ir::VarId>& read_by(std::size_t number) const { return read_[number]; }
  const std::vector<ir::VarId>& changed_by(std::size_t number) const { return changed_[number]; }
  const std::vector<std::size_t>& readers_of(ir::VarId variable) const { return numbers_of(readers_, variable); }
  const std::vector<std::size_t>& changers_of(ir::VarId variable) const { return numbers_of(changers_, variable); }

 private:
  using Numbers = std::map<ir::VarId, std::vector<std::size_t>>;
  static const std::vector<std::size_t>& numbers_of(const Numbers& all, ir::VarId variable);

  const ir::Function& function_;
  const ir::RegionId region_;
  std::vector<std::vector<ir::VarId>> read_, changed_;
  Numbers readers_, changers_;
};

/// Of one function. Source of the constraints: Sundram, Lee, Aiken, "Task Fusion in Distributed Runtimes" (PAW-ATM
/// 2022), section 4.
class FusibleLoops {
 public:
  /// All must outlive this.
  /// @param is_in_order  of a kernel, whose operations are done in their order
  FusibleLoops(ir::Module& module, ir::Function& function, LoopShapes& shapes, LoopMerger& merger, bool is_in_order);

  /// Index launches over ranges, alone or with loops around them that only compute keys, which write elements of
  /// arrays.
  std::vector<Loop> in(ir::RegionId region) const;

  // ---- the four constraints, in the paper's order

  /// Equal launch spaces; and both run at one place.
  bool have_one_space(ir::RegionId region, const Loop& first, const Loop& second);
  /// What the second loop reads of the first one's it reads at its own point. @return none: it reads nothing of it
  std::optional<bool> reads_own_points(const Loop& first, const Loop& second);
  /// The first one reads nothing that the second one writes, and none writes what the other one does.
  bool is_free_of_the_second(ir::RegionId region, const Loop& first, const Loop& second) const;
  /// Points of both have loops over arrays of their own, as a row times a vector, or none has: machine code computes
  /// these one after the other, and would so compute what the other loop computes in lanes.
  bool reduce_alike(const Loop& first, const Loop& second) const { return reduces(first) == reduces(second); }

  // ---- what else has to hold

  /// A loop over all elements of an array, one after the other, becomes loops over its dimensions where the other loop
  /// goes over these, which it reads or is read by.
  /// @return  they have as many now
  bool make_as_many_dimensions(ir::RegionId region, Loop& first, Loop& second);
  /// Nothing else that depends on the first one is needed by the second one: it would wait for itself.
  bool needs_nothing_between(const RegionDependences& dependences, ir::RegionId region, const Loop& first,
                             const Loop& second) const;
  /// What is made is not too large for registers.
  bool is_small(const Loop& first, const Loop& second) const;

 private:
  const std::vector<ir::Op>& ops(ir::RegionId region) const { return function_.regions[region].ops; }
  std::optional<Loop> loop_at(ir::RegionId region, std::size_t number) const;
  bool is_nest(const ir::Op& outermost, LoopBodies& bodies) const;
  bool reduces(const Loop& loop) const;

  ir::Module& module_;
  ir::Function& function_;
  LoopShapes& shapes_;
  LoopMerger& merger_;
  const bool is_in_order_;
  std::set<ir::RegionId> kept_;  // bodies of loops whose numbers a kernel reduces: they stay alone
};

}  // namespace raddle::opt
