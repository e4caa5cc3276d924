#pragma once
// Verbs that make a file: `raddle report`, `raddle trace`, `raddle graph`.
#include <string>

#include "compiler/tool/formats/writer.hpp"

namespace raddle::tool {

/// What tells the verbs apart.
struct PictureVerb {
  const char* name;
  const char* description;  ///< with examples
  const char* output;       ///< what it makes, for the help of -o: "The page"
  const char* example;      ///< name of a file
};

/// Writes to a file, or to standard output ("" or "-"), which is no terminal unless `for_terminal`. @return exit code
int write_picture(const std::string& path, const PictureVerb& verb, bool for_terminal, const sweep::Writing& writing);

}  // namespace raddle::tool
