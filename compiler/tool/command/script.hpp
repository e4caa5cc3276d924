#pragma once
// Scripts that the command line names.
#include <expected>
#include <string>

#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

/// Text of a script and the name it goes by in messages: a path, "<stdin>" or "<command line>".
struct Script {
  std::string path;
  std::string text;
};

/// What stands behind `-e`.
Script typed_script(const std::string& code);

/// @param word  a path, or `-`: standard input
/// @param verb  that was typed; "": none
/// @param hint  ends the message that it can not be read
/// @return      or an exit code, all said
std::expected<Script, int> read_script(const std::string& word, const std::string& verb, const std::string& hint = "");

/// Those of -I, unless --quiet.
void warn_of_missing_folders(const Options& options);

}  // namespace raddle::tool
