#pragma once
// What can be seen of the bounds of a slice without running the script.
#include <cstdint>
#include <optional>

#include "compiler/ast/expressions.hpp"

namespace raddle::lowering {

/// `i + 2`, `end`, `3`: a variable or the end of the dimension, and a number.
struct Bound {
  enum class Base : std::uint8_t { none, variable, end };
  Base base = Base::none;
  ast::VariableId variable = ast::no_variable;
  std::int64_t offset = 0;
  bool operator==(const Bound&) const = default;
  bool has_base_of(const Bound& other) const { return base == other.base && variable == other.variable; }
};

/// @return none: it is no such sum
std::optional<Bound> bound(const ast::Expr& expr);

/// How long a slice is: equal lengths of dimensions with equal extents select equally many.
struct SliceLength {
  Bound low, high;  ///< of which the lower one's offset is 0; both without a base if they have the same
  std::int64_t step = 1;
  bool operator==(const SliceLength&) const = default;
  /// How many, if that is written there.
  std::optional<std::int64_t> count() const;
};
/// @return none: it can not be seen
std::optional<SliceLength> length_of(const ast::Slice& slice);

}  // namespace raddle::lowering
