#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/emit/kernel_builder.hpp"
#include "compiler/emit/tracker.hpp"
#include "compiler/ir/module.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "stdlib/own_functions.hpp"
#include "vm/kernel/kernel.hpp"

namespace raddle::emit {

/// Makes the kernel of a leaf function. Files: emit_kernel.cpp values, control, calls; emit_own_arrays.cpp what it
/// keeps in memory of its own.
class KernelEmitter : KernelBuilder {
 public:
  KernelEmitter(const ir::Module& module, const ir::Function& leaf)
      : module_(module),
        leaf_(leaf),
        reduced_loops_(module, leaf),
        registers_(leaf.variables.size(), vm::no_kernel_part) {
    for (const ir::Region& region : leaf.regions)
      for (const ir::Op& op : region.ops)
        for (const ir::VarId result : op.results) ++assignments_[result];
  }

  /// @return  one that does not exist: something in it can not be done
  vm::Kernel run();

 private:
  using KernelOp = vm::KernelOp;
  using KernelRegister = vm::KernelRegister;
  using KernelType = vm::KernelType;

  // ---------------------------------------------------------------- registers

  KernelType type_of(TypeId type);
  KernelType type_of(ir::Operand operand) { return type_of(ir::type_of(module_, leaf_, operand)); }
  KernelRegister register_of(ir::VarId variable);
  /// Outputs that are arrays: what calls the kernel has made them.
  void make_rows();
  bool is_row(ir::VarId array) const { return std::ranges::find(leaf_.outputs, array) != leaf_.outputs.end(); }
  KernelRegister register_of(ir::Operand operand);
  std::vector<KernelRegister> registers_of(const std::vector<ir::Operand>& operands);
  std::vector<KernelRegister> registers_of(const std::vector<ir::VarId>& variables);

  // ---------------------------------------------------------------- instructions

  vm::KernelBlockId block(ir::RegionId region);
  void operations(ir::RegionId region);

  void operation(const ir::Op& op);

  void compute(const ir::Op& op);
  void computed(const ir::Op& op, KernelOp made, const std::vector<KernelRegister>& inputs);
  void element(const ir::Op& op);
  void library(const ir::Op& op);

  // ---------------------------------------------------------------- control

  /// An int is a condition too: 0 is false.
  KernelRegister condition(ir::Operand operand, Span span);
  /// @return its number
  std::uint32_t put_branch(KernelRegister condition, Span span);
  void branch(const ir::Op& op);
  /// From its label `first` on.
  void choose(const ir::Op& op, std::size_t first);
  /// See Note [loop] in ir/module.hpp.
  void loop(const ir::Op& op);

  /// Of the points of a loop from 0 on in steps of 1.
  KernelRegister count_of(const ir::Op& loop);

  // ---------------------------------------------------------------- own arrays: flatten/flat_bodies.hpp makes these

  /// Of rank 1. In a loop it lies in memory that is there before the loop: hoist_arrays().
  void own_array(const ir::Op& op);
  /// With what says which elements are there, if that is to be known.
  void make_arrays(const ir::Op& op, const std::vector<KernelRegister>& arrays);
  void make_arrays(const std::vector<KernelRegister>& arrays, KernelRegister count, Span span);
  /// Note [own functions] in stdlib/own_functions.hpp. Behind its inputs stand how many numbers each output has.
  void own_function(const ir::Op& op, const stdlib::OwnFunction& function);
  void computed_of(ir::VarId result, KernelOp made, std::initializer_list<KernelRegister> inputs, Span span);
  /// Of a text the number of the word that it is.
  KernelRegister word_or_register(ir::Operand operand);
  /// What the operation makes in memory of its own: the array, and how many elements it has.
  std::vector<std::pair<ir::VarId, ir::Operand>> arrays_of(const ir::Op& op);
  /// Arrays that are made in a loop, or in loops of that, before the outermost one is entered. Of one that the loop
  /// around it carries on there are as many as that has variables that are arrays, and one, which are taken in turn:
  /// so long none of what it has made before is gone.
  void hoist_arrays(const ir::Op& loop, const ir::Op& outermost);
  std::size_t array_count(const ir::Op& loop, ir::VarId array);
  void hoist_arrays_in(ir::RegionId region, const ir::Op& loop, const ir::Op& outermost);
  bool is_in(const ir::Op& loop, ir::Operand operand) const;
  void own_element(const ir::Op& op);
  void each(const ir::Op& op);

  // ---------------------------------------------------------------- calls

  void call(const ir::Op& op);
  void reduce(const ir::ReducedLoop& reduced);
  void foreign(const ir::Op& op);

  void refuse() { is_refused_ = true; }

  const ir::Module& module_;
  const ir::Function& leaf_;
  const ir::ReducedLoops reduced_loops_;
  std::vector<KernelRegister> registers_;  ///< by variable; absent: none yet
  std::map<ir::VarId, unsigned> assignments_;
  std::map<ir::VarId, Tracker> there_;  ///< of tracked arrays which elements they have
  struct Turn {
    std::vector<KernelRegister> arrays, variables;  ///< the first variable has the one to be filled
  };
  std::map<const ir::Op*, std::vector<Turn>> turns_;  ///< by loop: of arrays that it may carry on
  std::set<ir::VarId> is_hoisted_;                    ///< arrays that lie in memory from before a loop
  unsigned loops_around_ = 0;
  bool is_refused_ = false;
};

}  // namespace raddle::emit
