#pragma once
// Keys of elements that are affine in a loop's variable: what opt/launches/index_launches makes a launch's keys of, and
// verify() compares them with.
#include <optional>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// @param loop  foreach_range
/// @param key   an int, as an operation of the loop's own body reads it
/// @return a key of the point, the same or affine; none: it is to be computed by a projection. Neither the key nor what
/// the body computes on the way to it overflows as long as the point is at most vm::affine_point_limit and the base
/// vm::affine_base_limit in size
std::optional<Key> affine_key(const Module& module, const Function& function, const Op& loop, Operand key);

}  // namespace raddle::ir
