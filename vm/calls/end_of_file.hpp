#pragma once
// What a failed program has said last.
#include <string>
#include <vector>

namespace raddle::vm {

/// The last lines of a regular file, at most 10 and 2 KiB of them; none if it is empty or can not be read. Control
/// characters become blanks: the lines are shown to people.
std::vector<std::string> last_lines(const std::string& path);

}  // namespace raddle::vm
