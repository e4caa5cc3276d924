#pragma once
#include <string>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// A function's name as it stands in the script. Overloads, instances of generic functions and variants of an app are
/// `f`, `f.1`, ... in the IR; the number depends on what else is in the script.
inline std::string written_name(const Function& function) { return function.name.substr(0, function.name.find('.')); }

}  // namespace raddle::ir
