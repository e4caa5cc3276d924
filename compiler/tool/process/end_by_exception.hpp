#pragma once
// The end of a process by an exception that no thread has caught.

namespace raddle::tool {

/// For std::set_terminate: memory that is not there, code outside of the script, or a fault of ours.
[[noreturn]] void end_by_exception();

}  // namespace raddle::tool
