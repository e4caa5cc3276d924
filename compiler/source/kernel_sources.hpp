#pragma once
// The files that an AppKernel by hand is made of.
#include <expected>
#include <string>
#include <vector>

namespace raddle {

struct SourceFile {
  std::string path, text;
  bool operator==(const SourceFile&) const = default;
};

/// The file, then all that it and these include by `#include "..."`, whichever of them the preprocessor takes. Those
/// that are not found beside the file that includes them are left out: they are the compiler's.
/// @return why the file can not be read, if so: only regular files are
std::expected<std::vector<SourceFile>, std::string> kernel_sources(const std::string& path);

}  // namespace raddle
