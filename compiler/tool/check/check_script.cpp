// `raddle check`.
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ranges>
#include <set>
#include <system_error>

#include "compiler/ir/module.hpp"
#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/settings/settings.hpp"
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

struct CheckWords {
  Options options;
  std::string code;  ///< of -e
  bool as_json = false;
};

constexpr const char* about_check = "Compile without running: report all errors and warnings; check FILE..";

void add_check_options(CLI::App& app, CheckWords& words) {
  app.description(about_check);
  app.formatter(std::make_shared<ScriptUsage>("check [OPTIONS] FILE.."));
  app.prefix_command();
  add_reading_options(app, words.options);
  add_profile_option(app, words.options.profile);
  add_compile_options(app, words.options);
  app.add_option("-e", words.code, "Check this text instead of files")->type_name("CODE");
  app.add_flag("--json", words.as_json,
               "Findings as JSON on standard output, a line for each script, with the number of its form in `schema`");
}

/// Of libraries that the script calls: a run would only find out when it does.
void check_libraries(const ir::Module& module, Diagnostics& diagnostics) {
  std::set<ir::FunctionId> called{module.entry};
  std::vector<ir::FunctionId> next{module.entry};
  while (!next.empty()) {
    const ir::Function& function = module.functions[next.back()];
    next.pop_back();
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::call && called.insert(op.callee).second) next.push_back(op.callee);
  }
  for (const ir::FunctionId id : called) {
    const ir::Function& function = module.functions[id];
    if (function.kind != ir::FunctionKind::foreign) continue;
    const std::string& file = function.foreign.library;
    if (function.foreign.kind == ir::ForeignKind::library && file.find('/') != std::string::npos) {
      std::error_code error;
      if (!std::filesystem::exists(file, error))
        diagnostics.report(DiagnosticKind::bad_library, function.span,
                           fmt::format("can not be called: there is no `{}`", file));
    }
  }
}

int check_script(const CheckWords& words, Script script) {
  Session session;
  session.options = words.options;
  session.colour = wants_colour(STDERR_FILENO);
  const std::string path = script.path;
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  if (const auto compilation = compile(session, file)) check_libraries(compilation->module, session.diagnostics);
  if (words.as_json) return print_json(session, path);
  return session.print_diagnostics() ? exit_compile_error : exit_ok;
}

/// Each by itself. @return the worst exit code
int check_scripts(const CheckWords& words, const std::vector<std::string>& paths) {
  for (const std::string& path : paths | std::views::drop(1))
    if (path.starts_with('-'))
      return usage_error(fmt::format("options of check stand before the scripts: `{}`", path), "check");
  int code = exit_ok;
  for (const std::string& path : paths) {
    std::expected<Script, int> script = read_script(path, "check");
    if (!script) return script.error();
    code = std::max(code, check_script(words, std::move(*script)));
  }
  return code;
}

int check_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle check");
  CheckWords read;
  add_check_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "check")) return *code;
  const std::vector<std::string> rest = app.remaining();
  const bool is_typed = !read.code.empty();
  if (!is_typed && !rest.empty() && rest.front().size() > 1 && rest.front().starts_with('-'))
    return unknown_option(app, rest.front(), "check");
  if (const std::optional<int> code = apply_settings(app, "check", read.options.profile)) return *code;
  warn_of_missing_folders(read.options);
  if (is_typed && !rest.empty())
    return usage_error(fmt::format("check -e takes no script; found `{}`", rest.front()), "check");
  if (is_typed) return check_script(read, typed_script(read.code));
  return rest.empty() ? usage_error("no script given", "check") : check_scripts(read, rest);
}

}  // namespace

const Verb check_verb = {.name = "check",
                         .about = about_check,
                         .takes_options_before = true,
                         .run = check_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_check_options); }};

}  // namespace raddle::tool
