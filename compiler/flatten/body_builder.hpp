#pragma once
// A function that is made operation by operation: equal ones are shared, those of constants folded. Files:
// body_builder.cpp operations, regions and loops; body_arrays.cpp arrays.
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

class BodyBuilder {
 public:
  using Operands = std::vector<ir::Operand>;

  BodyBuilder(ir::Module& module, std::string name, Span span);

  ir::Function take() { return std::move(function_); }
  TypeId type_of(ir::Operand operand) const { return ir::type_of(*module_, function_, operand); }
  TypeId element_of(TypeId array) const {
    return module_->types->base(module_->types->at(module_->types->base(array)).element);
  }
  ir::Operand add_parameter(const ir::Var& like);
  void add_output(ir::Operand value, Span span);
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

  // --- arrays
  /// Of the function's own, whose elements loops write. In loops in order its extents are to be known before them.
  ir::Operand new_array(TypeId type, const Operands& extents, Span span);
  /// One that grows, from its first element on.
  ir::Operand new_growing_array(TypeId type, Span span);
  /// What a function of stdlib/own_functions.hpp makes. @param extents  of each result, of no array none
  Operands own_function(const ir::Op& like, Operands inputs, const std::vector<TypeId>& types,
                        const std::vector<Operands>& extents);
  /// Begins a loop over 0 to count - 1. @return its point
  ir::Operand begin_each(ir::Operand count, Span span);
  void end_each();
  /// How many points a loop from 0 to `last` has.
  ir::Operand count_to(ir::Operand last, Span span);
  /// Begins a loop in order, as in Note [loop] in ir/module.hpp, with its test. @return its variables
  Operands begin_loop(Operands initial, Span span);
  void begin_body();
  /// As the value of a variable in the next round: an array is none that a loop inside has made.
  bool can_go_on(ir::Operand value) const;
  /// @return the variables' last values
  Operands end_loop(ir::Operand condition, bool test_after, Operands nexts);
  /// A loop over 0 to count - 1, in that order, that makes new sums of those before.
  Operands accumulate(ir::Operand count, Operands sums,
                      const std::function<Operands(ir::Operand point, const Operands& sums)>& next, Span span);
  bool is_in_each() const { return !points_.empty(); }
  bool is_in_loop() const { return !points_.empty() || !loops_.empty(); }
  ir::Operand point() const { return points_.back(); }
  /// @return false: it is not known that the loops around write each element of the array once
  bool insert(ir::Operand array, ir::Operand key, ir::Operand value, Span span);
  /// From now on: see Note [tracked arrays] in ir/module.hpp. @return false: a loop writes all elements
  bool track(ir::Operand array);
  /// Of any element, anywhere: see Note [tracked arrays] in ir/module.hpp.
  /// @return false: a loop writes all elements
  bool insert_tracked(ir::Operand array, ir::Operand key, ir::Operand value, Span span);
  bool is_tracked(ir::Operand array) const;
  ir::Operand get_tracked(ir::Operand array, ir::Operand key, Span span);
  /// What comes behind may read any element of the tracked array, which is made in the region that is open.
  /// @return false: it is made elsewhere
  bool complete(ir::Operand array);
  /// What is to be read in place of an own array that is complete: it, or as much of a growing one as is there.
  ir::Operand whole(ir::Operand array) const;
  /// All that are made in the region that is open, and tracked.
  void complete_all();
  /// The same of one element, outside of loops; the array has as many elements as are so written.
  void insert_one(ir::Operand array, std::int64_t key, ir::Operand value, Span span);
  /// Of an own array, when all of its elements are there; null: it is none, or they are not.
  const Operands* extents_of(ir::Operand array) const;
  /// Something that was to be made can not be a part of a kernel.
  bool is_impossible() const { return is_impossible_; }
  bool is_own(ir::Operand array) const { return !array.is_constant && own_.contains(array.index); }

 private:
  using Key = std::tuple<ir::OpKind, std::uint32_t, std::vector<std::uint64_t>>;

  std::optional<ir::Operand> simpler(ir::OpKind kind, const Operands& operands, TypeId type);
  std::optional<ir::Operand> shared(const Key& key) const;
  static Key key_of(const ir::Op& op);
  ir::Operand size_of(const Operands& extents, Span span);
  bool is_before_loops(ir::Operand operand) const;
  ir::Operand finish(ir::Op op, TypeId type, Span span);
  const ir::Op* made(ir::Operand operand, ir::OpKind kind) const;
  struct Own {
    Operands extents;
    ir::Operand size;
    std::size_t depth = 0;  ///< loops around where it is made
    std::size_t level = 0;  ///< regions that are open there
    ir::RegionId region = ir::none;
    bool is_written = false, is_filled = false, is_tracked = false, grows = false;
    ir::Operand whole = {};  ///< of one that grows, once it is filled
  };
  bool writes_all(const Own& own, ir::Operand key) const;

  ir::Module* module_;  // a pointer: builders are copied, to begin anew from where they were
  ir::Function function_;
  std::vector<ir::RegionId> open_;                  // the regions around, from the outside in
  std::vector<std::map<Key, ir::Operand>> shared_;  // by open region
  std::map<ir::VarId, ir::Op> made_by_;             // of operations without regions
  std::map<ir::VarId, Own> own_;
  Operands points_, counts_;  // of the loops around
  bool is_impossible_ = false;
  std::vector<ir::Op> loops_;  // in order, likewise
};

}  // namespace raddle::opt
