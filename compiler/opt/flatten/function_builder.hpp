#pragma once
// A function that is made operation by operation: equal ones are shared, those of constants folded.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Operations, regions and loops.
class FunctionBuilder {
 public:
  using Operands = std::vector<ir::Operand>;

  FunctionBuilder(ir::Module& module, std::string name, Span span);

  ir::Function take() { return std::move(function_); }
  TypeId type_of(ir::Operand operand) const { return ir::type_of(*module_, function_, operand); }
  TypeId element_of(TypeId array) const {
    return module_->types->base(module_->types->at(module_->types->base(array)).element);
  }
  ir::Operand add_parameter(const ir::Var& like);
  ir::Operand number(std::int64_t value) { return ir::Operand::constant(module_->constant(value)); }
  ir::Operand real(double value) { return ir::Operand::constant(module_->constant(value)); }
  std::optional<std::int64_t> known(ir::Operand operand) const;

  /// The result of an operation without nested regions, which may fail.
  ir::Operand put(ir::OpKind kind, Operands operands, TypeId type, Span span);
  /// Of a library function. @param types  as of ir::Op::operand_types
  ir::Operand call(std::string_view builtin, Operands operands, TypeId type, Span span);
  ir::Operand call(const ir::Op& like, Operands operands, TypeId type);
  /// Fails where the condition is not so.
  void expect(ir::Operand condition, Span span);
  /// The first one; fails where the second one is another int.
  ir::Operand same(ir::Operand one, ir::Operand other, Span span);

  /// A call of a leaf function. @return its results
  Operands call_leaf(const ir::Op& like, Operands operands, const std::vector<TypeId>& results);

  // --- control
  ir::RegionId region() const { return open_.back(); }
  void open_region(ir::RegionId region);
  void close_region();
  ir::RegionId add_region();
  ir::Op& add(ir::Op op);
  ir::VarId declare(TypeId type, Span span, ir::RegionId region);

  /// From now on what is made fails where a loop in a loop in order has more points.
  void expect_few_points(std::int64_t most) { most_points_ = most; }
  /// Begins a loop over 0 to count - 1. @return its point
  ir::Operand begin_each(ir::Operand count, Span span);
  /// How many points a loop from 0 to `last` has.
  ir::Operand count_to(ir::Operand last, Span span);
  /// Begins a loop in order, as in Note [loop] in ir/module.hpp, with its test. @return its variables
  Operands begin_loop(Operands initial, Span span);
  void begin_body();
  /// @return the variables' last values
  Operands end_loop(ir::Operand condition, bool test_after, Operands nexts);
  /// A loop over 0 to count - 1, in that order, that makes new sums of those before.
  Operands accumulate(ir::Operand count, Operands sums,
                      const std::function<Operands(ir::Operand point, const Operands& sums)>& next, Span span);
  bool is_in_each() const { return !points_.empty(); }
  bool is_in_loop() const { return !points_.empty() || !loops_.empty(); }
  ir::Operand point() const { return points_.back(); }
  /// The same in all rounds of the loops around.
  bool is_known_before_loops(ir::Operand operand) const;

 protected:
  using Key = std::tuple<ir::OpKind, std::uint32_t, std::vector<std::uint64_t>>;

  ir::Operand finish(ir::Op op, TypeId type, Span span);
  /// What gives the operand. null: it is an operation of another kind, or none
  const ir::Op* made(ir::Operand operand, ir::OpKind kind) const;
  void close_each();  ///< the loop of begin_each

  ir::Module* module_;  // a pointer: builders are copied, to begin anew from where they were
  ir::Function function_;
  std::vector<ir::RegionId> open_;                  // the regions around, from the outside in
  std::vector<std::map<Key, ir::Operand>> shared_;  // by open region
  std::map<ir::VarId, ir::Op> made_by_;             // of operations without regions
  Operands points_, counts_;                        // of the loops around
  std::vector<ir::Op> loops_;                       // in order, likewise
  std::optional<std::int64_t> most_points_;

 private:
  void expect_few(ir::Operand count, Span span);
  std::optional<ir::Operand> simpler(ir::OpKind kind, const Operands& operands, TypeId type);
  std::optional<ir::Operand> shared(const Key& key) const;
  static Key key_of(const ir::Op& op);
};

}  // namespace raddle::opt
