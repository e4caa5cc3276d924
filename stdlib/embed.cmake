# Writes a C++ file that holds the texts of the library's modules and of what runs in Python and R:
#   cmake -DOUTPUT=module_sources.cpp "-DSOURCES=a.df;b.df" -DPYTHON_FUNCTIONS=python_functions.py
#         -DPYTHON_SERVER=python_server.py -DR_FUNCTIONS=r_functions.R -DR_SERVER=r_server.R
#         -DPARALLEL_PYTHON=parallel_python.py -P embed.cmake
set(entries "")
foreach(source IN LISTS SOURCES)
  get_filename_component(module "${source}" NAME_WE)
  file(READ "${source}" text)
  string(APPEND entries "    {\"${module}\", R\"raddle(${text})raddle\"},\n")
endforeach()
file(READ "${PYTHON_FUNCTIONS}" python_functions)
file(READ "${PYTHON_SERVER}" python_server)
file(READ "${R_FUNCTIONS}" r_functions)
file(READ "${R_SERVER}" r_server)
file(READ "${PARALLEL_PYTHON}" parallel_python)
file(WRITE "${OUTPUT}" "// Made by stdlib/embed.cmake.
#include \"stdlib/module_sources.hpp\"

namespace raddle::stdlib {

std::span<const ModuleSource> module_sources() {
  static constexpr ModuleSource all[] = {
${entries}  };
  return all;
}

std::string_view python_functions() {
  return R\"raddle(${python_functions})raddle\";
}

std::string_view python_server() {
  return R\"raddle(${python_server})raddle\";
}

std::string_view r_functions() {
  return R\"raddle(${r_functions})raddle\";
}

std::string_view r_server() {
  return R\"raddle(${r_server})raddle\";
}

std::string_view parallel_python() {
  return R\"raddle(${parallel_python})raddle\";
}

}  // namespace raddle::stdlib
")
