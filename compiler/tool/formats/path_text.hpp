#pragma once
// Paths in the record: any bytes may stand in one, but JSON has only UTF-8.
#include <string>

namespace raddle::sweep {

/// The path itself; one that is no UTF-8 as a shell reads it: `$'caf\xe9.txt'`.
std::string path_text(const std::string& path);
/// The path that path_text() has made the text of.
std::string path_of_text(const std::string& text);

}  // namespace raddle::sweep
