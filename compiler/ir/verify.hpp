#pragma once
// Checks the rules of module.hpp: after lower and, on request, after every pass. A problem is an internal error.
#include <string>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// @return one line for each problem, "@f: add: operands must have one type"; empty if all is well
std::vector<std::string> verify(const Module& module);

}  // namespace raddle::ir
