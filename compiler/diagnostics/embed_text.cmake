# Writes a C++ file that holds the page of explanations:
#   cmake -DOUTPUT=explanations_source.cpp -DSOURCE=explanations.md -P embed_text.cmake
file(READ "${SOURCE}" text)
file(WRITE "${OUTPUT}" "// Made by compiler/diagnostics/embed_text.cmake.
#include \"compiler/diagnostics/explanations_source.hpp\"

namespace raddle {

std::string_view explanations_source() { return R\"raddle(${text})raddle\"; }

}  // namespace raddle
")
