#pragma once
// `#include`, `#define`, `#if` and their like, in the main script and what it includes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/expanded_text.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

struct PreprocessOptions {
  std::vector<std::string> macros;           ///< of -D: `NAME`, `NAME=TEXT`, `NAME(a,b)=TEXT`
  std::vector<std::string> include_folders;  ///< where `#include` looks, after the folder of the including file
};

/// Carries out the directives of file `file` and replaces its macros. Included files are added to `sources`, and what
/// is wrong is reported where it is written.
///
/// @return nothing if there is nothing to do: the file's text is what it says. After errors the text is not worth
/// parsing
std::optional<ExpandedText> preprocess(std::uint32_t file, SourceMap& sources, const PreprocessOptions& options,
                                       Diagnostics& diagnostics);

/// Warns of lines in file `file` that look like directives, where they are comments: in an imported module.
void warn_of_directives(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

/// @return what is wrong with `definition` as the value of -D, "" if nothing
std::string fault_of_macro_option(const std::string& definition);

}  // namespace raddle
