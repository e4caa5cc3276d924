#pragma once
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/body_accesses.hpp"
#include "compiler/ir/module.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/leaves/loop_body_copier.hpp"

namespace raddle::opt {

/// Points that read and write elements of arrays by keys that they compute: the projection. Elements that keys depend
/// on are read out of whole arrays, by whoever computes: `b[i, j] = a[x[i], j]`.
class ProjectedLaunch {
 public:
  /// All must outlive this.
  ProjectedLaunch(const ir::Module& module, const ir::Function& around, const ir::Op& loop);

  /// @return false if the loop can not be such a launch, whatever the functions can be
  bool run();
  /// Each key that is not affine in the point is a result of the projection.
  std::vector<ir::Access> accesses() const;
  bool computes_keys() const { return !computed_keys().empty(); }
  LoopBodyCopier& computation() { return computation_; }
  LoopBodyCopier& projection() { return projection_; }

 private:
  /// Operations of the body that some operands depend on.
  struct Slice {
    std::set<const ir::Op*> ops;
    std::set<ir::VarId> needed;
    bool is_closed = true;  ///< all that is needed of the loop's is made by these, is read, or is its variable
  };

  void read_whole_arrays();
  std::vector<ir::Operand> values_of_writes() const;
  std::optional<ir::Key> affine_key(ir::Operand key) const;
  std::vector<ir::Operand> computed_keys() const;
  std::vector<ir::Operand> all_keys() const;
  bool is_access(const ir::Op& op) const;
  std::vector<ir::VarId> assigned_by(const ir::Op& op) const;
  Slice slice(const std::vector<ir::Operand>& roots) const;
  bool reads_what_it_writes() const;
  bool delays_library_call() const;
  bool is_nested(ir::VarId id) const;
  bool is_all(const Slice& values, const Slice& keys) const;
  bool has_other_uses(const Slice& slice) const;
  bool writes_rows() const;

  const ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::Region& body_;
  const ir::BodyAccesses accesses_;
  const std::optional<ir::ReducedLoops> reduced_loops_;  ///< where there are loops within
  std::vector<ir::BodyAccess> reads_;                    ///< of single elements; others are operations like any
  LoopBodyCopier computation_, projection_;
};

}  // namespace raddle::opt
