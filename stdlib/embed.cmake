# Writes a C++ file that holds the texts of the library's modules and of the Python server:
#   cmake -DOUTPUT=module_sources.cpp "-DSOURCES=a.df;b.df" -DPYTHON_SERVER=python_server.py -P embed.cmake
set(entries "")
foreach(source IN LISTS SOURCES)
  get_filename_component(module "${source}" NAME_WE)
  file(READ "${source}" text)
  string(APPEND entries "    {\"${module}\", R\"raddle(${text})raddle\"},\n")
endforeach()
file(READ "${PYTHON_SERVER}" python_server)
file(WRITE "${OUTPUT}" "// Made by stdlib/embed.cmake.
#include \"stdlib/module_sources.hpp\"

namespace raddle::stdlib {

std::span<const ModuleSource> module_sources() {
  static constexpr ModuleSource all[] = {
${entries}  };
  return all;
}

std::string_view python_server() {
  return R\"raddle(${python_server})raddle\";
}

}  // namespace raddle::stdlib
")
