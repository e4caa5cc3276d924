#pragma once
// The script's own command line: values of its `@param` declarations (language.md B5).
#include <expected>
#include <string>
#include <vector>

#include "compiler/check/checked_program.hpp"
#include "vm/value/value.hpp"

namespace raddle::driver {

struct ScriptArguments {
  std::vector<vm::Value> parameters;  ///< one for each of CheckedProgram::parameters, in order
  std::vector<std::string> rest;      ///< what argv() and argp() see: the words that are no parameter's
};

/// Parameters: `--name=value`, `--name value` or the default.
///
/// @param arguments  what stands after the script's name
/// @return           a text for the user if a value has the wrong type, or if the script declares parameters and a
///                   flag is none of them
std::expected<ScriptArguments, std::string> read_arguments(const CheckedProgram& program,
                                                           const std::vector<std::string>& arguments);

/// What `raddle run script.df --help` prints.
std::string describe_parameters(const CheckedProgram& program, const std::string& script);

}  // namespace raddle::driver
