#pragma once
// What can be seen of the bounds of a slice without running the script.
#include <cstdint>
#include <map>
#include <optional>

#include "compiler/ast/expressions.hpp"

namespace raddle::lowering {

/// How long a slice is: equal lengths of dimensions with equal extents select equally many. `i : i + k - 1` and
/// `2 : k + 1` do, whatever `i` and `k` are.
struct SliceLength {
  std::map<ast::VariableId, int> variables = {};  ///< how often they are added to the last index less the first one
  int ends = 0;                                   ///< likewise the end of the dimension
  std::int64_t offset = 0;
  std::int64_t step = 1;
  bool operator==(const SliceLength&) const = default;
  /// How many, if that is written there.
  std::optional<std::int64_t> count() const;
  /// That says how many, as `k` does of `i : i + k - 1`. @return no_variable: none
  ast::VariableId variable() const;
};
/// @return none: it can not be seen
std::optional<SliceLength> length_of(const ast::Slice& slice);

}  // namespace raddle::lowering
