#pragma once
#include "compiler/ast/expressions.hpp"
#include "compiler/types/type_store.hpp"

namespace raddle::check_detail {

/// How arrays in the brackets of a dense array choose its elements.
enum class Choice {
  none,       ///< there are none
  by_mask,    ///< `A[mask]`: where an array of booleans of its rank is true, in row-major order
  of_points,  ///< `A[rows, cols]`: an element for each place of the arrays of indices
  along_one,  ///< `A[rows, :]`: along a dimension those that an array of indices or of booleans chooses, in its place
};

/// @param dense  the type of the array  @pre the types of the indices are set
Choice choice_of(const TypeStore& types, const ast::Index& index, TypeId dense);

}  // namespace raddle::check_detail
