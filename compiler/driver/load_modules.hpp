#pragma once
// Reads and parses a script and all that it imports.
#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/driver/session.hpp"

namespace raddle::driver {

/// Where an import is looked for: the library, `-I` folders in order, the current folder, the main script's folder;
/// first NAME.df, then NAME.swift.
///
/// @param file  the main script, already in `session.sources`
/// @return      each module once, imported ones before those that import them, the main one last. Unknown modules,
///              unreadable files and syntax errors are reported.
std::vector<std::unique_ptr<ast::Module>> load_modules(Session& session, std::uint32_t file);

/// Text of a file. @return false if it can not be read; `error` then says why
bool read_file(const std::string& path, std::string& text, std::string& error);

}  // namespace raddle::driver
