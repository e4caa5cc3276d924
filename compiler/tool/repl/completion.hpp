#pragma once
// What Tab offers.
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/repl/live_session.hpp"
#include "compiler/tool/terminal/line_editor.hpp"

namespace raddle::tool::repl {

/// Names of the session and of the library's imported modules, keywords; modules behind `import`; commands behind `:`;
/// files in strings and behind commands that take one; fields behind a dot.
terminal::Completions complete(const LiveSession& session, const std::vector<std::string>& commands,
                               std::string_view text, std::size_t cursor);

}  // namespace raddle::tool::repl
