#pragma once
// Whole-array expressions while they are lowered.
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// One point of the loop over a whole-array expression's elements.
struct Point {
  std::vector<ir::Operand> indices = {};  ///< one for each dimension
  ir::Operand flat = {};                  ///< in place of them: the number in row-major order
  bool stretches = false;                 ///< so may be extents that are only known to be 1 when the script runs
};

/// A dense array that is read at the points of an expression: perhaps of fewer dimensions, or with an extent of 1.
struct Stretched {
  std::vector<ir::Operand> extents;
  /// For each dimension 0 where its extent is 1, else 1; index none: it is that of the expression. A constant: it is
  /// sure to be 1, and that of the expression may be another. Made when the loop is.
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

/// The last dimensions of the expression are those of what is read.
inline std::size_t first_axis(const Lifted& of, const Stretched& read) {
  return of.extents.size() - read.extents.size();
}

}  // namespace raddle::lowering
