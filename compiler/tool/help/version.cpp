// `raddle version`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/command/words.hpp"

namespace raddle::tool {

namespace {

constexpr const char* about_version = "Print the version";

/// "raddle 0.1.0": "0.1.0"
std::string_view number_of(std::string_view name) { return name.substr(name.find(' ') + 1); }

struct VersionWords {
  bool as_json = false;
};

void add_version_options(CLI::App& app, VersionWords& words) {
  app.description(about_version);
  app.add_flag("--json", words.as_json, "As JSON, one line with the number of its form in `schema`");
}

int version_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle version");
  VersionWords read;
  add_version_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "version")) return *code;
  const std::string text =
      read.as_json ? json_line(fmt::format("\"version\":\"{}\"", number_of(version))) : fmt::format("{}\n", version);
  return write_output(text) ? exit_ok : exit_failed;
}

}  // namespace

const Verb version_verb = {
    .name = "version", .about = about_version, .run = version_command, .describe = [](CLI::App& app) {
      describe_with(app, add_version_options);
    }};

}  // namespace raddle::tool
