#pragma once
// Room on the stack: the compiler goes down into nested brackets, blocks and operators by recursion.
#include <functional>

namespace raddle::driver {

/// Runs `work` on the calling thread or, if the limit on its stack (`ulimit -s`) is below what the deepest nesting that
/// is allowed takes, or addresses are limited (`ulimit -v`), on a thread that has as much. Where no such thread can be
/// had, the caller's has to do.
int with_stack_room(const std::function<int()>& work);

}  // namespace raddle::driver
