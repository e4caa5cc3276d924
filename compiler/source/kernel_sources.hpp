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

struct Include {
  std::string name;  ///< empty: not known, as a macro stands for it
  bool is_quoted = false;
};
std::vector<Include> includes_of(const std::string& text);
/// Where `name` is to be, which `file` includes by `#include "name"`.
std::string place_beside(const SourceFile& file, const std::string& name);

}  // namespace raddle
