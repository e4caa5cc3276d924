# Writes a C++ file that holds the texts of the library's modules:
#   cmake -DOUTPUT=module_sources.cpp "-DSOURCES=a.df;b.df" -P embed.cmake
set(entries "")
foreach(source IN LISTS SOURCES)
  get_filename_component(module "${source}" NAME_WE)
  file(READ "${source}" text)
  string(APPEND entries "    {\"${module}\", R\"raddle(${text})raddle\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by stdlib/embed.cmake.
#include \"stdlib/module_sources.hpp\"

namespace raddle::stdlib {

std::span<const ModuleSource> module_sources() {
  static constexpr ModuleSource all[] = {
${entries}  };
  return all;
}

}  // namespace raddle::stdlib
")
