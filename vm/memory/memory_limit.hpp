#pragma once
// How much memory this process may use.
#include <cstddef>
#include <string>
#include <string_view>

namespace raddle::vm {

/// The least of: the machine's memory, the limits of the control groups this process is in, its own limit of addresses
/// (`ulimit -v`). Bytes; found out once. Any thread.
std::size_t memory_limit_bytes();

/// Whether one thing of so many bytes may be made: more than half of the limit is a mistake of whoever gave its size.
/// Beside it there are large arrays that were made before.
bool fits_in_memory(double bytes);
/// What is told of one that does not fit. @param what  as a sentence begins: "the array `a[5]`"
std::string no_memory_text(std::string_view what, double bytes);

/// The least `memory.max` of the control group and of those it is in; SIZE_MAX if there is none.
/// @param groups  where the groups are mounted   @param group  "/user.slice/run.scope", as /proc/self/cgroup has it
std::size_t control_group_limit(const std::string& groups, std::string group);

}  // namespace raddle::vm
