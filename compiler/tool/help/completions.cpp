// `raddle completions`: what a shell needs to complete the tool's command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/tool/help/command_tree.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"

namespace raddle::tool {

namespace {

// What positional words are, by their name in the help.
constexpr std::string_view runs_of_folder = "raddle runs list 2>/dev/null | cut -d' ' -f1";
constexpr std::string_view codes = "raddle explain 2>/dev/null | cut -d' ' -f1";
constexpr std::string_view functions = "raddle doc 2>/dev/null | sed -n 's/.*[ )]\\([A-Za-z_0-9]*\\)(.*/\\1/p'";

/// A command that prints what a positional word may be; "": files.
std::string_view command_for(const std::string& name) {
  if (name == "RUN") return runs_of_folder;
  if (name == "CODE") return codes;
  if (name == "NAME") return functions;
  return "";
}

const OptionInfo* first_positional(const CommandInfo& command) {
  const auto found = std::ranges::find(command.options, true, &OptionInfo::is_positional);
  return found == command.options.end() ? nullptr : &*found;
}

bool is_choice(const OptionInfo* positional) { return positional != nullptr && !positional->choices.empty(); }

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const CommandInfo& each : command.commands) names.push_back(each.name);
  return names;
}

bool is_file(const OptionInfo& option) { return option.value.starts_with("FILE") || option.value == "FOLDER"; }

/// In single quotes of any shell.
std::string quoted(const std::string& text) {
  std::string escaped = "'";
  for (const char sign : text) escaped += sign == '\'' ? std::string("'\\''") : std::string(1, sign);
  return escaped + "'";
}

/// All commands, with the words that lead to them: "", "run", "runs show".
std::vector<std::pair<std::string, const CommandInfo*>> all_commands(const CommandInfo& tree) {
  std::vector<std::pair<std::string, const CommandInfo*>> all{{"", &tree}};
  for (const CommandInfo& command : tree.commands) {
    all.emplace_back(command.name, &command);
    for (const CommandInfo& inner : command.commands) all.emplace_back(command.name + " " + inner.name, &inner);
  }
  return all;
}

// ---------------------------------------------------------------- bash

constexpr std::string_view bash_head = R"(# Completions of raddle for bash: source <(raddle completions bash)
_raddle() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= i
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $word == = ]]; then before=${COMP_WORDS[COMP_CWORD-1]} word=; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$verb ${COMP_WORDS[i]}" in
)";

constexpr std::string_view bash_end = R"(  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    if [[ -z $verb ]]; then COMPREPLY+=($(compgen -f -X '!*.df' -- "$word")); fi
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _raddle raddle
)";

std::string bash_values(const OptionInfo& option) {
  return fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))",
                     quoted(fmt::format("{}", fmt::join(option.choices, " "))));
}

std::string for_bash(const CommandInfo& tree) {
  std::string text(bash_head);
  for (const auto& [path, command] : all_commands(tree))
    if (!path.empty())
      text += fmt::format("      {}) verb={} ;;\n", quoted((path.find(' ') == std::string::npos ? " " : "") + path),
                          quoted(path));
  text += "    esac\n  done\n  local options= values=\n  case \"$verb\" in\n";
  for (const auto& [path, command] : all_commands(tree)) {
    text += fmt::format("    {})\n      case \"$before\" in\n", quoted(path));
    for (const OptionInfo& option : command->options) {
      if (option.is_positional || option.value.empty()) continue;
      const std::string reply = !option.choices.empty() ? bash_values(option)
                                : is_file(option)       ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                                        : "COMPREPLY=()";
      text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"), reply);
    }
    text += fmt::format("      esac\n      options={}\n",
                        quoted(fmt::format("{}", fmt::join(option_names(*command), " "))));
    const OptionInfo* positional = first_positional(*command);
    const std::string_view values = positional == nullptr ? "" : command_for(positional->names.front());
    if (!command->commands.empty())
      text += fmt::format("      values={}\n", quoted(fmt::format("{}", fmt::join(command_names(*command), " "))));
    else if (is_choice(positional))
      text += fmt::format("      values={}\n", quoted(fmt::format("{}", fmt::join(positional->choices, " "))));
    else if (!values.empty())
      text += fmt::format("      values=$({})\n", values);
    text += "      ;;\n";
  }
  return text + "  esac\n" + std::string(bash_end);
}

// ---------------------------------------------------------------- zsh

/// In a specification of _arguments some signs are its own.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char sign : text) {
    if (sign == ':' || sign == '[' || sign == ']' || sign == '\\') escaped += '\\';
    escaped += sign;
  }
  return escaped;
}

std::string zsh_value(const OptionInfo& option) {
  if (!option.choices.empty()) return fmt::format(":value:({})", fmt::join(option.choices, " "));
  return is_file(option) ? ":file:_files" : ":value:";
}

void add_zsh_arguments(std::string& text, const CommandInfo& command, const std::string& indent) {
  text += indent + "_arguments -s \\\n";
  for (const OptionInfo& option : command.options) {
    if (option.is_positional) continue;
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const std::string value = option.value.empty() ? "" : zsh_value(option);
      const std::string_view sign = value.empty() ? "" : is_long ? "=" : "+";
      text += fmt::format("{}  {} \\\n", indent,
                          quoted(fmt::format("*{}{}[{}]{}", name, sign, zsh_text(option.about), value)));
    }
  }
  const OptionInfo* positional = first_positional(command);
  const std::string_view values = positional == nullptr ? "" : command_for(positional->names.front());
  if (is_choice(positional))
    text += fmt::format("{}  {}\n", indent, quoted(fmt::format("*:word:({})", fmt::join(positional->choices, " "))));
  else if (values.empty())
    text += indent + "  '*:file:_files'\n";
  else
    text += fmt::format("{}  \"*:word:($({}))\"\n", indent, values);
}

void add_zsh_commands(std::string& text, const CommandInfo& command, const std::string& indent) {
  text += indent + "local -a commands=(\n";
  for (const CommandInfo& each : command.commands)
    text += fmt::format("{}  {}\n", indent, quoted(zsh_text(each.name) + ":" + each.about));
  text += indent + ")\n" + indent + "_describe command commands\n";
}

std::string for_zsh(const CommandInfo& tree) {
  std::string text =
      "#compdef raddle\n# Completions of raddle for zsh: raddle completions zsh > ~/.zfunc/_raddle, and "
      "fpath+=~/.zfunc\n"
      "_raddle() {\n  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n";
  add_zsh_commands(text, tree, "    ");
  text += "    _files -g '*.df'\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandInfo& command : tree.commands) {
    text += fmt::format("    {})\n", command.name);
    if (!command.commands.empty()) {
      text += "      if (( CURRENT == 3 )); then\n";
      add_zsh_commands(text, command, "        ");
      text += "        return\n      fi\n      case $words[3] in\n";
      for (const CommandInfo& inner : command.commands) {
        text += fmt::format("        {})\n          shift 2 words; (( CURRENT -= 2 ))\n", inner.name);
        add_zsh_arguments(text, inner, "          ");
        text += "          ;;\n";
      }
      text += "      esac\n      ;;\n";
      continue;
    }
    text += "      shift words; (( CURRENT -= 1 ))\n";
    add_zsh_arguments(text, command, "      ");
    text += "      ;;\n";
  }
  text += "    *)\n";
  add_zsh_arguments(text, tree, "      ");
  return text +
         "      ;;\n  esac\n}\nif [[ $funcstack[1] == _raddle ]]; then _raddle \"$@\"; else compdef _raddle raddle; "
         "fi\n";
}

// ---------------------------------------------------------------- fish

/// In single quotes of fish, where \ and ' are escaped.
std::string fish_quoted(const std::string& text) {
  std::string escaped = "'";
  for (const char sign : text) {
    if (sign == '\'' || sign == '\\') escaped += '\\';
    escaped += sign;
  }
  return escaped + "'";
}

std::string fish_condition(const std::string& path, bool has_commands) {
  if (path.empty()) return "__fish_use_subcommand";
  const std::size_t blank = path.find(' ');
  if (blank != std::string::npos)
    return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}", path.substr(0, blank),
                       path.substr(blank + 1));
  return fmt::format("__fish_seen_subcommand_from {}{}", path,
                     has_commands ? "; and test (count (commandline -opc)) -lt 3" : "");
}

std::string fish_option(const std::string& condition, const OptionInfo& option) {
  std::string line = fmt::format("complete -c raddle -n {}", fish_quoted(condition));
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) line += is_file(option) ? " -r -F" : " -x";
  if (!option.choices.empty()) line += " -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  return line + " -d " + fish_quoted(option.about) + "\n";
}

std::string for_fish(const CommandInfo& tree) {
  std::string text =
      "# Completions of raddle for fish: raddle completions fish > ~/.config/fish/completions/raddle.fish\n";
  for (const auto& [path, command] : all_commands(tree)) {
    const std::string condition = fish_condition(path, !command->commands.empty());
    for (const CommandInfo& each : command->commands)
      text += fmt::format("complete -c raddle -n {} {} -a {} -d {}\n", fish_quoted(condition), path.empty() ? "" : "-f",
                          each.name, fish_quoted(each.about));
    for (const OptionInfo& option : command->options)
      if (!option.is_positional) text += fish_option(condition, option);
    const OptionInfo* positional = first_positional(*command);
    const std::string_view values = positional == nullptr ? "" : command_for(positional->names.front());
    if (is_choice(positional))
      text += fmt::format("complete -c raddle -n {} -f -a {}\n", fish_quoted(condition),
                          fish_quoted(fmt::format("{}", fmt::join(positional->choices, " "))));
    else if (!values.empty())
      text += fmt::format("complete -c raddle -n {} -f -a {}\n", fish_quoted(condition),
                          fish_quoted(fmt::format("({})", values)));
  }
  return text;
}

// ---------------------------------------------------------------- the verb

using Print = std::string (*)(const CommandInfo&);
const std::map<std::string, Print> shells = {{"bash", for_bash}, {"zsh", for_zsh}, {"fish", for_fish}};

void add_completions_options(CLI::App& app, std::string& shell) {
  app.description(
      "raddle completions: a script with which a shell completes raddle's command line\n\nexamples:\n"
      "  source <(raddle completions bash)\n  raddle completions zsh > ~/.zfunc/_raddle\n"
      "  raddle completions fish > ~/.config/fish/completions/raddle.fish\n");
  app.add_option("SHELL", shell, "bash, zsh or fish")->type_name("")->required()->check(CLI::IsMember(shells));
}

}  // namespace

const Verb completions_verb = {
    .name = "completions",
    .about = "What a shell needs to complete the command line: completions bash, zsh or fish",
    .run = [](const std::vector<std::string>& words) -> int {
      CLI::App app("", "raddle completions");
      std::string shell;
      add_completions_options(app, shell);
      if (const std::optional<int> code = parse_verb(app, words, "completions")) return *code;
      return write_output(shells.at(shell)(command_tree())) ? exit_ok : exit_failed;
    },
    .describe = [](CLI::App& app) { describe_with(app, add_completions_options); }};

}  // namespace raddle::tool
