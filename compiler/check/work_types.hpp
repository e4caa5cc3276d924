#pragma once
// Types of work: `pragma worktypedef NAME;` and `@dispatch=NAME`. Upper and lower case mean the same in them.
#include <string>
#include <vector>

#include "compiler/check/checked_program.hpp"

namespace raddle::check_detail {

/// The one form of a name.
std::string work_type_named(std::string name);
/// Those that pragmas of any module declare, in order, in their one form.
std::vector<std::string> work_types(const CheckedProgram& program);

}  // namespace raddle::check_detail
