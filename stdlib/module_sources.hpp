#pragma once
// The parts of the library that are written in the language itself: stdlib/*.df, embedded by embed.cmake.
#include <span>
#include <string_view>

namespace raddle::stdlib {

struct ModuleSource {
  std::string_view module;  ///< the file's name without its suffix
  std::string_view text;
};

/// Defined in the file that embed.cmake makes.
std::span<const ModuleSource> module_sources();

/// The text of native/python_functions.py.
std::string_view python_functions();
/// The text of native/python_server.py.
std::string_view python_server();
/// The text of native/parallel_python.py.
std::string_view parallel_python();
/// The text of native/r_functions.R.
std::string_view r_functions();
/// The text of native/r_server.R.
std::string_view r_server();

}  // namespace raddle::stdlib
