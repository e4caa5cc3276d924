#pragma once
// Reads and parses a script and all that it imports.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/source/expanded_text.hpp"

namespace raddle::tool {

struct LoadedModules {
  /// Each once, imported ones before those that import them, the main one last.
  std::vector<std::unique_ptr<ast::Module>> modules;
  bool is_one_missing = false;  ///< unknown or unreadable
  bool are_well_formed = true;  ///< nothing else is wrong with them
};

/// Where an import is looked for: the library, `-I` folders in order, the current folder, the main script's folder;
/// first NAME.df, then NAME.swift.
///
/// @param file  the main script, already in `session.sources`
/// @param text  its text after preprocessing; null: it is yet to be preprocessed
/// @param most_axes  of arrays: NamedLibrary
/// @return      unknown modules, unreadable files and syntax errors are reported
LoadedModules load_modules(Session& session, std::uint32_t file, const ExpandedText* text = nullptr,
                           unsigned most_axes = 0);

/// The main script's text after preprocessing; nothing if that changes nothing.
std::optional<ExpandedText> preprocess_script(Session& session, std::uint32_t file);

}  // namespace raddle::tool
