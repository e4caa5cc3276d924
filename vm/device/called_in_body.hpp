#pragma once
// What is called by the instructions of a body, which are interpreted.
#include <functional>
#include <set>
#include <string>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// All that a body calls, at any depth, also in what is a kernel.
std::set<FunctionId> functions_called_in(const Program& program, BodyId body);

/// What in a body, or in what it calls, no kernel can do, in words for the user; "": nothing of which that is known.
std::string no_kernel_in(const Program& program, BodyId body);

}  // namespace raddle::vm
