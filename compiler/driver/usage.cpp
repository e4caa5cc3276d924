#include "compiler/driver/usage.hpp"

#include <fmt/format.h>

#include "compiler/driver/commands.hpp"
#include "compiler/preprocess/preprocess.hpp"

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

void add_reading_options(CLI::App& app, Options& options) {
  app.add_option("-I", options.include_folders, "Folder in which imports are looked for (may be repeated)")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app.add_option_function<std::string>(
         "-D",
         [&options](const std::string& macro) {
           if (const std::string fault = fault_of_macro_option(macro); !fault.empty())
             throw CLI::ValidationError("-D", fault);
           options.macros.push_back(macro);
         },
         "Define a macro of the preprocessor, with the text 1 unless one is given (may be repeated)")
      ->type_name("NAME[=TEXT]")
      ->allow_extra_args(false)
      ->trigger_on_parse();
  app.add_flag_callback(
      "-p", [&options] { options.preprocess = false; }, "No preprocessor: every line that begins with # is a comment");
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
