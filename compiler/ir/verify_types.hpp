#pragma once
// Operands and results of one operation: their number and types.
#include <string>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// @pre   all ids in `op` are in range
/// @return what is wrong, or ""
std::string check_types(const Module& module, const Function& function, const Op& op);

}  // namespace raddle::ir
