#include "compiler/tool/help/command_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/command/verb.hpp"

namespace raddle::tool {

namespace {

/// CLI11 has the set of a check as "{a,b,c}" only.
std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string text;
  try {
    text = const_cast<CLI::Option&>(option).get_validator(0)->get_description();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  if (!text.starts_with('{') || !text.ends_with('}')) return {};
  std::vector<std::string> choices = CLI::detail::split(text.substr(1, text.size() - 2), ',');
  std::ranges::sort(choices);
  return choices;
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  info.about = option.get_description();
  info.group = option.get_group();
  info.choices = choices_of(option);
  info.is_positional = option.get_positional();
  if (info.is_positional) {
    info.names.push_back(option.get_name(/*positional=*/true));
    return info;
  }
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  if (option.get_type_size_max() > 0) {
    info.value = option.get_type_name();
    info.value = info.value.substr(0, info.value.find(':'));  // behind it, what a check says
  }
  return info;
}

/// What stands behind `Usage:` in its help, up to an empty line.
std::vector<std::string> usage_of(const CLI::App& app, const std::string& path) {
  constexpr std::string_view mark = "Usage: ";
  const std::string help = app.help(path.substr(0, path.rfind(' ') == std::string::npos ? 0 : path.rfind(' ')));
  const std::size_t begin = help.find(mark);
  if (begin == std::string::npos) return {path};
  const std::size_t from = begin + mark.size();
  std::vector<std::string> lines = CLI::detail::split(help.substr(from, help.find("\n\n", from) - from), '\n');
  for (std::string& line : lines) CLI::detail::trim(line);
  std::erase(lines, "");
  return lines;
}

CommandInfo info_of(CLI::App& app, const std::string& path) {
  CommandInfo info{.name = app.get_name(),
                   .about = app.get_description(),
                   .description = app.get_description(),
                   .usage = usage_of(app, path),
                   .footer = app.get_footer(),
                   .options = {},
                   .commands = {}};
  for (const CLI::Option* option : app.get_options()) info.options.push_back(info_of(*option));
  for (CLI::App* command : app.get_subcommands({}))
    info.commands.push_back(info_of(*command, path + " " + command->get_name()));
  return info;
}

}  // namespace

CommandInfo command_tree() {
  CLI::App tool;
  describe_tool(tool);
  CommandInfo tree = info_of(tool, "raddle");
  tree.commands.clear();
  for (const Verb* verb : verbs()) {
    CLI::App app("", verb->name);
    verb->describe(app);
    CommandInfo& command = tree.commands.emplace_back(info_of(app, std::string("raddle ") + verb->name));
    command.about = verb->about;
  }
  return tree;
}

}  // namespace raddle::tool
