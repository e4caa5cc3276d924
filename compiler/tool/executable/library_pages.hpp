#pragma once
// What `raddle doc` shows of the library: made of builtins.def and of the modules in the language itself.
#include <string>
#include <vector>

namespace raddle::tool {

struct LibraryPage {
  std::string module;  ///< "": always there
  std::string name;
  std::vector<std::string> signatures;  ///< one for each overload, as `string trim(string s)`
  std::string summary;                  ///< "" for constants
  std::string example;                  ///< as in builtins.def
};

/// In the order of their declarations, modules together.
std::vector<LibraryPage> library_pages();

}  // namespace raddle::tool
