#pragma once
// A call in a process of its own: what crashes or exits is that process, not the run.
#include <functional>

#include "vm/foreign/foreign_code.hpp"

namespace raddle::vm {

/// Forks, calls in the child, and waits for it.
///
/// The child has only the calling thread, so a lock that another thread held stays locked. The C library's own locks
/// are safe; the call must use nothing else of this process.
/// @param kind  of `returned`: a scalar, a string or void
/// @param call  sets `returned` in the child
/// @return      as ForeignCode::call: what `call` gave, or how the process ended
std::string call_isolated(const std::string& name, ValueKind kind, Value& returned,
                          const std::function<std::string()>& call);

}  // namespace raddle::vm
