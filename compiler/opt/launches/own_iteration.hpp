#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

/// Operations of a region that become one iteration, `foreach z in [0:0] { .. }`, which has arrays of its own in place
/// of those that they write, and stores each as a row at its end:
///   before  L = array_new n, m            after  foreach z in [0:0] {
///           .. writes L ..                         own = array_new n, m
///                                                  .. writes own ..
///                                                  foreach k in [0 : n * m - 1] { L[z * (n * m) + k] = own[k] }
///                                                }
/// What else they give and others read, a number or what a loop carries, goes the same way.
class OwnIteration {
 public:
  OwnIteration(ir::Module& module, ir::Function& function, ir::RegionId region)
      : module_(module), function_(function), region_(region), writers_(function) {}

  /// All that writes these arrays, and arrays that are so written.
  /// @param loop  an operation that is one of them in any case
  /// @return false: they are not all dense, or made elsewhere
  bool find_writers(std::set<ir::VarId> arrays, std::optional<std::size_t> loop = {});
  /// What they need does not depend on what they give, and that can be stored.
  bool can_be_one();

  const std::set<std::size_t>& operations() const { return writing_; }
  const std::set<ir::VarId>& arrays() const { return arrays_; }
  /// What makes one of them, in the region.
  const ir::Op* maker_of(ir::VarId array) const;

  /// The operations become the iteration. @return where it is
  OpPlace enclose();
  /// Copies of them do, where a condition is true; else they are as they were.
  /// @param asked  what computes the condition  @return where it is
  OpPlace enclose_if(ir::Operand condition, std::vector<ir::Op> asked);

 private:
  using Names = std::map<ir::VarId, ir::VarId>;  ///< what stands for variables

  std::vector<ir::Op>& ops() { return function_.regions[region_].ops; }
  const std::vector<ir::Op>& ops() const { return function_.regions[region_].ops; }
  bool is_dense(ir::VarId array) const;
  bool knows_all_inputs() const;
  bool find_results();
  bool can_be_stored(ir::VarId result) const;
  bool is_read_around(ir::VarId variable) const;
  bool is_inside(std::size_t op, ir::VarId id) const;

  ir::Operand number(std::int64_t value) { return ir::Operand::constant(module_.constant(value)); }
  ir::VarId declare(TypeId type, Span span, ir::RegionId in, std::string name = "");
  void move(ir::VarId id, ir::RegionId to);
  ir::Operand put(std::vector<ir::Op>& into, ir::RegionId in, ir::OpKind kind, std::vector<ir::Operand> operands,
                  TypeId type, Span span);
  ir::RegionId add_region(ir::RegionId parent, Span span);
  ir::Op loop_over(ir::RegionId region, ir::Operand last, Span span);
  Span span_of_loop() const;
  std::pair<ir::Operand, ir::Operand> size_of(const std::vector<ir::Operand>& extents, Span span);
  void rename(ir::Op& op, const Names& names);
  void move_in(ir::Op& op, ir::RegionId into, const Names& names);
  void take_dense();
  bool is_from_outside(ir::VarId id) const;
  void make_own();
  std::vector<ir::Op> copies();
  void store(ir::VarId array, ir::Operand own, std::vector<ir::Operand> extents);
  void store_result(ir::VarId result);
  void store_dense(ir::VarId result);
  void give(ir::VarId result, ir::OpKind kind, std::vector<ir::Operand> operands);
  void begin(ir::RegionId around, Span span);
  ir::Op finish(Span span);
  std::size_t replace(std::vector<ir::Op> made, const std::set<std::size_t>& gone);

  ir::Module& module_;
  ir::Function& function_;
  const ir::RegionId region_;
  const ir::Writers writers_;
  std::set<ir::VarId> arrays_;
  std::set<std::size_t> writing_;             ///< operations of the region
  std::set<ir::VarId> assigned_;              ///< what these assign, declared in the region
  std::map<ir::VarId, std::size_t> results_;  ///< those of `assigned_` that others read, and what gives them
  Names own_;                                 ///< in the iteration, of arrays and of what is assigned

  // while it is made: the region around it, its body, their operations
  ir::RegionId around_ = ir::none, body_ = ir::none;
  std::vector<ir::Op> before_, inside_, after_;
};

/// How many iterations may be tried in a function: a try looks at all of it.
std::size_t most_tries(const ir::Function& function);

/// Loops around it are kernels already.
bool is_in_launch(const ir::Function& function, ir::RegionId region);

}  // namespace raddle::opt
