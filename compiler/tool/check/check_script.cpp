#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/main/commands.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/executable/diagnostics_json.hpp"
#include "compiler/tool/formats/json_text.hpp"

namespace raddle::tool {

namespace {

int print_json(Session& session, const std::string& path) {
  const std::string found = diagnostics_json(session.diagnostics, session.sources);
  if (!write_output(json_line(fmt::format("\"script\":{},\"diagnostics\":{}", sweep::json_string(path), found))))
    return exit_failed;
  const auto warnings = std::ranges::count(session.diagnostics.all(), Severity::warning,
                                           [](const Diagnostic& each) { return severity_of(each.kind); });
  const bool is_refused = session.diagnostics.has_errors() || (session.options.warnings_are_errors && warnings != 0);
  return is_refused ? exit_compile_error : exit_ok;
}

}  // namespace

int check_script(Session& session, Script script, bool as_json) {
  const std::string path = script.path;
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  compile(session, file);
  if (as_json) return print_json(session, path);
  return session.print_diagnostics() ? exit_compile_error : exit_ok;
}

}  // namespace raddle::tool
