#pragma once
// `:save`: the entries of a session as a script that has the same results. In a session a name can be given anew, in a
// script it can not: what was given anew later has a name of its own there, `x_1`.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/tool/repl/definitions.hpp"

namespace raddle::tool::repl {

struct EnteredText {
  std::string statements;            ///< as they were typed, without an expression at the end
  std::string expression;            ///< which only shows a value, as `ans`
  std::uint32_t begin = 0;           ///< where in its file that text begins
  std::uint32_t line = 0;            ///< of the session
  std::set<std::string> made;        ///< names of variables that it makes, some of them anew
  std::vector<Definition> own;       ///< what it defines
  std::vector<Definition> replaced;  ///< what is not there any more since
};

struct SavedScript {
  std::string text;
  std::vector<std::string> renamed;  ///< in words: which name is another one in the script
};

SavedScript saved_script(const SourceMap& sources, const std::vector<EnteredText>& entries);

}  // namespace raddle::tool::repl
