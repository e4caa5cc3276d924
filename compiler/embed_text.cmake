# Writes a C++ file with functions that return the texts of files:
#   cmake -DOUTPUT=x.cpp -DHEADER=compiler/x.hpp -DNAMESPACE=raddle "-DTEXTS=name=file;name=file" -P embed_text.cmake
# Where a name comes more than once, its texts follow each other.
set(names "")
foreach(entry IN LISTS TEXTS)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" text)
  list(APPEND names "${name}")
  set(text_${name} "${text_${name}}${text}")
endforeach()
list(REMOVE_DUPLICATES names)
set(functions "")
foreach(name IN LISTS names)
  string(APPEND functions "std::string_view ${name}() { return R\"raddle(${text_${name}})raddle\"; }\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by compiler/embed_text.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

${functions}
}  // namespace ${NAMESPACE}
")
