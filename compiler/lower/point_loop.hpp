#pragma once
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle {

/// Adds a function that calls the entry for each of many points: what a sweep over a script runs. As a script would
/// write it, of an entry with the parameters a and b, of which a varies, and the result e:
///
///     (float e[]) points(int count, float a[], float b) {
///       foreach i in [0:count - 1] { e[i] = entry(a[i], b); }
///     }
///
/// If the entry only computes numbers, the loop becomes an index launch.
/// @param varies  for each of the entry's parameters
/// @param draws   the script draws random numbers. The last parameter has the seeds of the points; each call has that
/// of
///                its point twice behind its operands: opt/bodies/explicit_streams.hpp
/// @return        none if a parameter or a result is no number or boolean, or if there is no result
ir::FunctionId add_point_loop(ir::Module& module, const std::vector<bool>& varies, bool draws);

}  // namespace raddle
