#pragma once
// `--where`: an expression of the language over the parameters of a sweep.
#include <expected>
#include <string>
#include <vector>

#include "compiler/tool/space/cursor.hpp"

namespace raddle::tool {

/// A name that has the same value at all points, as a declaration: `float g = 9.81;`.
struct FixedParameter {
  std::string name, declaration;
};

/// @param expression  boolean; names are those of the parameters, ints, floats and strings by their values
/// @param fixed       further names
/// @return            keeps the points for which it is true; or an exit code, all said
std::expected<sweep::PointFilter, int> make_filter(const std::string& expression,
                                                   const std::vector<sweep::Parameter>& parameters,
                                                   const std::vector<FixedParameter>& fixed);

}  // namespace raddle::tool
