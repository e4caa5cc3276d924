#pragma once
// What can be seen of the ranges of loops over arrays, and of the keys of their points.
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/opt/ints/int_sum.hpp"

namespace raddle::opt {

/// Bodies of loops that lie in each other, from the outside in; of one loop its own.
using LoopBodies = std::vector<ir::RegionId>;

/// Of one function.
class LoopShapes {
 public:
  /// Both must outlive this.
  LoopShapes(const ir::Module& module, const ir::Function& function) : module_(module), function_(function) {}
  /// Operations have moved.
  void forget() { makers_.clear(); }

  /// What assigns a variable, in the region that declares it. @return null: several operations, or none
  const ir::Op* maker_of(ir::Operand operand);
  bool is_builtin(const ir::Op& op, std::string_view name) const;
  std::optional<std::int64_t> number(ir::Operand operand) const;
  /// If both are there, and as far as that can be seen.
  bool is_same_int(ir::Operand one, ir::Operand other) { return one == other || sum_of(one) == sum_of(other); }

  /// The loop within a body that computes nothing else but what can not fail. @return null: there is none such
  const ir::Op* loop_within(ir::RegionId body) const;
  bool is_from_outside(ir::Operand operand, const LoopBodies& bodies) const;

  /// Keys that are computed in the same way from the points of both.
  bool is_same_key(ir::Operand one, ir::Operand other, const LoopBodies& bodies, const LoopBodies& other_bodies);

  /// The loop goes over 0 to the product of the extents, less one.
  bool goes_over_product(const ir::Op& loop, std::span<const ir::Operand> extents);
  /// Each loop goes over all indices of its dimension, and the key is that of row-major order.
  bool goes_over_rows(const ir::Op& outermost, ir::Operand key, std::span<const ir::Operand> extents);

 private:
  ints::IntSum sum_of(ir::Operand operand);
  /// Loops that have swallowed others wait for their bounds, too, of which they add 0 times.
  ir::Operand without_waits(ir::Operand operand);
  std::optional<std::int64_t> product_of(std::span<const ir::Operand> extents) const;
  bool is_product(ir::Operand count, std::span<const ir::Operand> extents);
  bool is_row_major(ir::Operand key, std::span<const ir::VarId> points, std::span<const ir::Operand> extents);
  void find_makers();

  const ir::Module& module_;
  const ir::Function& function_;
  std::vector<const ir::Op*> makers_;  ///< by variable; empty: not found yet
};

}  // namespace raddle::opt
