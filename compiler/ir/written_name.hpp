#pragma once
#include <string>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// A function's name as it stands in the script. Overloads, instances of generic functions and variants of an app are
/// `f`, `f.1`, ... in the IR; the number depends on what else is in the script.
inline std::string written_name(const Function& function) { return function.name.substr(0, function.name.find('.')); }

/// What a function of the library makes, for messages: of its names a user knows only those of functions. Those that
/// end in `_` are parts of the one without.
inline std::string result_text(const Function& function) {
  std::string name = written_name(function);
  while (name.ends_with('_')) name.pop_back();
  return "the result of `" + name + "`";
}

}  // namespace raddle::ir
