#pragma once
// Inside of fuse_loops: two loops become one.
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

using Variables = std::set<ir::VarId>;

/// A loop that is an index launch, or loops around one that compute nothing but keys; it writes elements of arrays.
struct Loop {
  std::size_t number = 0;  ///< of its operation in the region
  LoopBodies bodies = {};  ///< from the outside in; those of an index launch alone are one
  Variables arrays_written = {};
  ir::RegionId points() const { return bodies.back(); }
};

/// Of one function.
class LoopMerger {
 public:
  /// All must outlive this.
  LoopMerger(ir::Module& module, ir::Function& function, LoopShapes& shapes)
      : module_(module), function_(function), shapes_(shapes), replacements_(function) {}

  /// The loop whose body is number `level` of `loop`, which is an operation of `region`.
  ir::Op& level_of(ir::RegionId region, const Loop& loop, std::size_t level);
  /// What the first loop writes where the second one reads. @return null: nothing is seen to be that
  const ir::Op* writer_of(const ir::Op& read, const Loop& first, const Loop& second);

  /// A loop over all elements of an array, one after the other, becomes loops over its dimensions with the ranges of
  /// `like`.
  void make_nest(ir::RegionId region, Loop& flat, const Loop& like, const std::vector<ir::Operand>& extents);
  /// The second loop gets the first one's body before its own, and so do the loops within. Of the first one an
  /// operation without a region is left.
  void merge(ir::RegionId region, Loop& first, Loop& second);
  /// At last: loops wait for the bounds of those that they have swallowed.
  void await_bounds();

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  ir::VarId new_int(ir::RegionId region, Span span);
  ir::Operand append_index(ir::RegionId region, ir::OpKind kind, ir::Operand one, ir::Operand other, Span span);
  void note_merged(const ir::Op& first, ir::Op& second) const;
  void note_bounds(ir::RegionId region, const Loop& first, const Loop& second);
  void await_bounds(ir::RegionId body, const Variables& bounds);
  void move_body(ir::RegionId from, ir::RegionId to);
  void replace_in(ir::Op& op);
  void take_values(ir::Op& op, const Loop& first, const Loop& second);

  ir::Module& module_;
  ir::Function& function_;
  LoopShapes& shapes_;
  Replacements replacements_;                 // of parameters of bodies
  std::map<ir::RegionId, Variables> bounds_;  // of loops that are gone, by the body of what they are part of
};

}  // namespace raddle::opt
