#pragma once
// `--where`: an expression of the language over the parameters of a sweep.
#include <expected>
#include <string>
#include <vector>

#include "compiler/sweep/cursor.hpp"

namespace raddle::driver {

/// @param expression  boolean; names are those of the parameters, ints, floats and strings by their values
/// @return            keeps the points for which it is true; or an exit code, all said
std::expected<sweep::PointFilter, int> make_filter(const std::string& expression,
                                                   const std::vector<sweep::Parameter>& parameters);

}  // namespace raddle::driver
