#pragma once
// Inside of interchange_loops: what a `for` does with arrays.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"

namespace raddle::opt {

/// A `for` that computes arrays element by element, each from those with its number.
class ElementwiseLoop {
 public:
  /// All must outlive this, and not change before is_one() has been asked.
  /// @param reads  count_reads() of the function
  ElementwiseLoop(const ir::Module& module, const ir::Function& function, ir::RegionId around, std::size_t number,
                  const std::vector<std::uint32_t>& reads, LoopShapes& shapes);

  /// @return  false: the rest says nothing
  bool is_one();

  TypeId type_of(ir::Operand operand) const { return module.types->base(ir::type_of(module, function, operand)); }
  bool is_array(ir::VarId carried) const { return module.types->is_dense(type_of(ir::Operand::variable(carried))); }
  bool is_number(ir::Operand operand) const { return module.types->is_scalar(type_of(operand)); }
  /// Computes a number of numbers.
  bool is_of_numbers(const ir::Op& op) const;
  bool is_joint_extent(const ir::Op& op) const { return shapes_.is_builtin(op, "@joint_extent"); }

  const ir::Module& module;
  const ir::Function& function;
  const ir::RegionId around;
  const ir::Op loop;
  const ir::RegionId test, body;
  bool is_whole = true;                                   ///< its loops over elements are
  std::map<ir::VarId, std::vector<ir::Operand>> extents;  ///< of each array that is carried
  std::map<ir::VarId, std::set<ir::VarId>> elements_of;   ///< likewise: variables for its elements
  std::map<ir::VarId, ir::VarId> arrays;                  ///< that the body makes: their elements

 private:
  bool find_carried();
  std::optional<std::vector<ir::Operand>> extents_of(ir::Operand array);
  bool is_of_numbers(ir::RegionId region);
  bool takes_elements(const ir::Op& op);
  bool find_loops();
  bool is_told_complete(const ir::Op& op);
  bool is_over_elements(const ir::Op& over);
  bool is_elements(ir::Operand operand) const;
  bool ends_with_numbers();
  bool has_no_other_results() const;

  const std::vector<std::uint32_t>& reads_;
  LoopShapes& shapes_;
  bool has_loops_ = false;
  std::map<ir::VarId, std::vector<ir::Operand>> made_;  ///< elements that the body makes, with their extents
  std::set<ir::VarId> written_;                         ///< those of them that a loop has written
};

}  // namespace raddle::opt
