#include "compiler/driver/usage.hpp"

#include <fmt/format.h>

#include "compiler/driver/commands.hpp"

namespace raddle::driver {

int usage_error(const std::string& message, const std::string& verb) {
  fmt::print(stderr, "raddle: {}\ntry `raddle {}--help`\n", message, verb.empty() ? "" : verb + " ");
  return exit_usage;
}

int unknown_option(const CLI::App& app, const std::string& option, const std::string& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::string nearest = nearest_name(option.substr(0, option.find('=')), names);
  return usage_error(
      fmt::format("unknown option `{}`{}", option, nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)),
      verb);
}

std::optional<int> parse_verb(CLI::App& app, const std::vector<std::string>& words, const std::string& verb) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return write_output(app.help()) ? exit_ok : exit_failed;
    return usage_error(error.what(), verb);
  }
  return std::nullopt;
}

std::string ScriptUsage::make_usage(const CLI::App*, std::string) const {
  return fmt::format("Usage: raddle {}\n", usage_);
}

}  // namespace raddle::driver
