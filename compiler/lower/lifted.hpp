#pragma once
// Whole-array expressions while they are lowered.
#include <functional>
#include <memory>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// One point of the loop over a whole-array expression's elements.
struct Point {
  std::vector<ir::Operand> indices = {};  ///< one for each dimension
  ir::Operand flat = {};                  ///< in place of them: the number in row-major order
  bool stretches = false;                 ///< extents of 1 are read again and again
};

/// A dense array that is read at the points of an expression: perhaps of fewer dimensions, or with an extent of 1.
struct Stretched {
  std::vector<ir::Operand> extents;
  /// For each dimension 0 where its extent is 1, else 1; index none: it is that of the expression. Made when the loop
  /// is.
  std::vector<ir::Operand> factors = {};
};

/// What the elements of a whole-array expression are, before there is a loop over them. A scalar has no extents.
struct Lifted {
  std::vector<ir::Operand> extents = {};
  std::vector<std::shared_ptr<Stretched>> read = {};  ///< all that it reads
  bool is_flat = true;                                ///< `at` takes flat points, if all that it reads has its extents
  /// Emits what computes the results at a point; the loop's body is where operations go.
  std::function<std::vector<ir::Operand>(const Point&)> at = {};
};

}  // namespace raddle::lowering
