#pragma once
#include <functional>
#include <string>
#include <vector>

namespace raddle::vm {

/// A folder that a variable of the environment names, as `HOME` and those of XDG. "": there is none, or it is no
/// absolute path, which the XDG Base Directory Specification has ignored.
std::string environment_path(const char* variable);

/// The variables of this process, each "NAME=text", as whoever starts a program is to take them. Threads: any.
std::vector<char*> environment();

/// Does an action while this process has one more variable. Other threads' getenv finds it or does not; `environment`
/// waits until it is gone. Threads: any.
/// @param variable  "NAME=text"
void with_variable(const std::string& variable, const std::function<void()>& action);

}  // namespace raddle::vm
