#pragma once
// Library functions of whole arrays as loops of a function that is made: with the same bits.
#include <optional>
#include <string_view>

#include "compiler/opt/flatten/body_builder.hpp"

namespace raddle::opt {

/// What `lines_` of stdlib/arrays.df gives for all lines of an array.
struct Lines {
  std::string_view what;
  ir::Operand array;
  ir::Operand length, apart, count;
};

/// @return none: it is no such function, or not for arrays like these
std::optional<ir::Operand> loops_over_lines(BodyBuilder& builder, const Lines& lines, TypeId type, Span span);

/// A vector of k numbers times a matrix of k x m: the sum of each column, in the order of the rows.
ir::Operand vector_product(BodyBuilder& builder, ir::Operand vector, ir::Operand matrix, ir::Operand k, ir::Operand m,
                           TypeId type, Span span);

/// What a reduction of the library makes of all elements of an array.
ir::Operand reduced(BodyBuilder& builder, const ir::Op& call, ir::Operand array, ir::Operand count, TypeId type);

}  // namespace raddle::opt
