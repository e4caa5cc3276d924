#pragma once

namespace raddle::vm {

/// The lowest address that the calling thread's stack may reach within a recursive leaf: the end of its stack, less a
/// reserve for functions that look at no limit (libm, leaves that are not recursive, signal handlers).
/// Cost: the first call of a thread asks the system; then nanoseconds.
const void* stack_limit() noexcept;

}  // namespace raddle::vm
