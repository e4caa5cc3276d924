#pragma once
#include <string>

namespace raddle::vm {

/// A folder that a variable of the environment names, as `HOME` and those of XDG. "": there is none, or it is no
/// absolute path, which the XDG Base Directory Specification has ignored.
std::string environment_path(const char* variable);

}  // namespace raddle::vm
