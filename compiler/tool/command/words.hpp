#pragma once
// The words behind a verb: options that several verbs have, and errors in them.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

/// The option whose name an unknown one is nearly, given with its dashes and perhaps a value behind `=`; "": none.
std::string nearest_option(const CLI::App& app, const std::string& option);

/// A word of the command line begins with `-`, and no option has that name.
/// @param other  what is said if none has nearly that name, after the message
/// @return       exit_usage
int unknown_option(const CLI::App& app, const std::string& option, const std::string& verb = "",
                   const std::string& other = "");

/// The verb that has an option, given with its dashes and perhaps a value behind `=`; "": none.
std::string verb_with(const std::string& option);

/// `--quiet` and `--verbose`. @param verbose  what that one says
void add_loudness_options(CLI::App& app, Options& options, const char* verbose, const std::string& group = "Options");

/// A time as "90", "90s", "5m", "2h", in seconds. @throws CLI::ValidationError
double read_time(const std::string& option, const std::string& text);

/// A size as "700", "512k", "500M", "2G", in bytes. @throws CLI::ValidationError
std::size_t read_bytes(const std::string& option, const std::string& text);

/// Refuses what is no whole number from `least` on; a number below 0 would else become a very large one.
std::function<std::string(const std::string&)> is_whole_from(std::uint64_t least);

/// Refuses an expression that is blank, as that of a variable of the shell that is not set.
std::string is_expression(const std::string& text);

/// Options that say how scripts are found and read.
void add_reading_options(CLI::App& app, Options& options);

/// `-W error` and `-O`: how a script is compiled.
void add_compile_options(CLI::App& app, Options& options);

/// Reads the words behind a verb. @return an exit code if everything has been said: help, an error
std::optional<int> parse_verb(CLI::App& app, const std::vector<std::string>& words, const std::string& verb);

/// What `--help` of a verb shows as its usage where CLI11 does not know all of the command line.
class ScriptUsage : public CLI::Formatter {
 public:
  explicit ScriptUsage(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override;

 private:
  std::string usage_;
};

}  // namespace raddle::tool
