#pragma once
#include <string>

// Functions of shared libraries, in Tcl, in Python and in R: what can cross the border.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After the types of the formals are known.
void check_foreign(Context& context, const ast::FunctionDefinition& function);

/// Of `@kernel="file.cu:name"` and `@r="file.R:name"`.
struct NameInFile {
  std::string file, name;
};
/// @param value     what stands in quotes   @param function  the name if none is given
NameInFile name_in_file(const std::string& value, const std::string& function);

/// Of `@python="module:function"`.
struct PythonName {
  std::string module, function;
};
/// Likewise.
PythonName python_name(const std::string& value, const std::string& function);

}  // namespace raddle::check_detail
