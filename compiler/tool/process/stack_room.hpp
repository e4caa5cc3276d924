#pragma once
// Room on the stack: the compiler goes down into nested brackets, blocks and operators by recursion,
// and workers go through what was made of them.
#include <functional>

namespace raddle::tool {

/// Runs `work` on the calling thread or, if the limit on its stack (`ulimit -s`) is below what the deepest nesting that
/// is allowed takes, or addresses are limited (`ulimit -v`), on a thread that has as much. Where no such thread can be
/// had, the caller's has to do. Where the stack is short, threads that are started later have an eighth of it at least.
int with_stack_room(const std::function<int()>& work);

}  // namespace raddle::tool
