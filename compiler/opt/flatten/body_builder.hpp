#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "compiler/opt/flatten/function_builder.hpp"

namespace raddle::opt {

/// A function with arrays of its own.
class BodyBuilder : public FunctionBuilder {
 public:
  using FunctionBuilder::FunctionBuilder;

  void add_output(ir::Operand value, Span span);
  void end_each();
  /// As the value of a variable in the next round: an array is none that a loop inside has made.
  bool can_go_on(ir::Operand value) const;
  /// Of the function's own, whose elements loops write. In loops in order its extents are to be known before them.
  ir::Operand new_array(TypeId type, const Operands& extents, Span span);
  /// One that is only reduced, so that there need be no such array (ir/reduced_loops.hpp): of any number of elements.
  ir::Operand new_reduced_array(TypeId type, ir::Operand count, Span span);
  /// One that grows, from its first element on.
  ir::Operand new_growing_array(TypeId type, Span span);
  /// What a function of stdlib/own_functions.hpp makes. @param extents  of each result, of no array none
  Operands own_function(const ir::Op& like, Operands inputs, const std::vector<TypeId>& types,
                        const std::vector<Operands>& extents);
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
  /// Writes one element, outside of loops; the array has as many elements as are so written.
  void insert_one(ir::Operand array, std::int64_t key, ir::Operand value, Span span);
  /// Of an array of which all elements are there; null: they are not, or the extents are not known.
  const Operands* extents_of(ir::Operand array) const;
  /// Of one that is none of its own, as what a loop carries.
  void know_extents(ir::Operand array, Operands extents) { of_others_.try_emplace(array.index, std::move(extents)); }
  /// Something that was to be made can not be a part of a kernel.
  bool is_impossible() const { return is_impossible_; }
  bool is_own(ir::Operand array) const { return !array.is_constant && own_.contains(array.index); }

 private:
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
  ir::Operand size_of(const Operands& extents, Span span);
  ir::Operand add_array(TypeId type, const Operands& extents, ir::Operand size, Span span);
  bool is_before_loops(ir::Operand operand) const;

  std::map<ir::VarId, Own> own_;
  std::map<ir::VarId, Operands> of_others_;  ///< their extents
  bool is_impossible_ = false;
};

}  // namespace raddle::opt
