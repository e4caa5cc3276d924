#pragma once
// What is called by the instructions of a body, which are interpreted.
#include "vm/device/device_use.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// What in a body, or in what it calls, no kernel can do, or is likely to be what none can. None: nothing of which
/// that is known.
Obstacle no_kernel_in(const Program& program, BodyId body);

/// A function that is interpreted has a loop whose iterations follow each other, or calls itself; and none whose
/// iterations are tasks, for which it is told themselves whether they go.
bool loops_by_itself(const Program& program, FunctionId function);

}  // namespace raddle::vm
