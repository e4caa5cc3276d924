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
  /// Of the function's own, whose elements loops write.
  ir::Operand new_array(TypeId type, const Operands& extents, Span span);
  /// Begins a loop over 0 to count - 1. @return its point
  ir::Operand begin_each(ir::Operand count, Span span);
  void end_each();
  /// How many points a loop from 0 to `last` has.
  ir::Operand count_to(ir::Operand last, Span span);
  /// A loop over 0 to count - 1, in that order, that makes new sums of those before.
  Operands accumulate(ir::Operand count, Operands sums,
                      const std::function<Operands(ir::Operand point, const Operands& sums)>& next, Span span);
  bool is_in_loop() const { return !points_.empty(); }
  ir::Operand point() const { return points_.back(); }
  /// @return false: it is not known that the loops around write each element of the array once
  bool insert(ir::Operand array, ir::Operand key, ir::Operand value, Span span);
  /// The same of one element, outside of loops; the array has as many elements as are so written.
  void insert_one(ir::Operand array, std::int64_t key, ir::Operand value, Span span);
  /// Of an own array, when all of its elements are there; null: it is none, or they are not.
  const Operands* extents_of(ir::Operand array) const;
  bool is_own(ir::Operand array) const { return !array.is_constant && own_.contains(array.index); }

 private:
  using Key = std::tuple<ir::OpKind, std::uint32_t, std::vector<std::uint64_t>>;

  std::optional<ir::Operand> simpler(ir::OpKind kind, const Operands& operands, TypeId type);
  std::optional<ir::Operand> shared(const Key& key) const;
  static Key key_of(const ir::Op& op);
  ir::Operand size_of(const Operands& extents, Span span);
  ir::Operand finish(ir::Op op, TypeId type, Span span);
  const ir::Op* made(ir::Operand operand, ir::OpKind kind) const;
  struct Own {
    Operands extents;
    ir::Operand size;
    std::size_t depth = 0;  ///< loops around where it is made
    bool is_written = false, is_filled = false;
  };
  bool writes_all(const Own& own, ir::Operand key) const;

  ir::Module* module_;  // a pointer: builders are copied, to begin anew from where they were
  ir::Function function_;
  std::vector<ir::RegionId> open_;                  // the regions around, from the outside in
  std::vector<std::map<Key, ir::Operand>> shared_;  // by open region
  std::map<ir::VarId, ir::Op> made_by_;             // of operations without regions
  std::map<ir::VarId, Own> own_;
  Operands points_, counts_;  // of the loops around
};

}  // namespace raddle::opt
