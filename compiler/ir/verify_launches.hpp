#pragma once
// Index launches and nests of them: types of their functions, and whether their accesses are those of the loop's body.
#include <string>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// @param op  a foreach with a launch or a nest; its ids, and those of the entries it names, are in range
/// @return what is wrong, or ""
std::string check_launch(const Module& module, const Function& function, const Op& op);

}  // namespace raddle::ir
