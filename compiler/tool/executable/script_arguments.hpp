#pragma once
// The script's own command line: values of its `@param` declarations.
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/check/checked_program.hpp"
#include "compiler/ir/module.hpp"
#include "stdlib/builtins.hpp"
#include "vm/value/value.hpp"

namespace raddle::tool {

struct ScriptArguments {
  std::vector<vm::Value> parameters;  ///< one for each of CheckedProgram::parameters, in order
  std::vector<std::string> rest;      ///< what argv() and argp() see: the words that are no parameter's
};

/// True if the script calls argv(), argp(), args()..., but for argp(0), its own path: then all words that are no
/// parameter's are for these.
bool reads_words(const ir::Module& module);

/// True if the script calls a function of the library that has one of these names.
bool calls_builtin(const ir::Module& module, stdlib::BuiltinEffect effect);
/// A call in the module that prints: of which function, and where. That which stands first.
std::optional<std::pair<std::string, Span>> printing_call(const ir::Module& module);

/// A value of this type as it is written on a command line. @return nothing if it is none
std::optional<vm::Value> read_value(TypeId type, const std::string& text);
/// Why a text is no such value. @pre !read_value(type, text)
std::string fault_of_value(const TypeStore& types, TypeId type, const std::string& text);
vm::Value default_value(const CheckedProgram& program, const ScriptParameter& parameter);

/// What to read the command line by.
struct ArgumentRules {
  const CheckedProgram& program;
  bool reads_words = false;
  const std::string& script;                     ///< its path
  const std::vector<std::string>& tool_options;  ///< `--workers`: behind the script they are the script's
  bool warns = true;                             ///< of words that nothing reads
};

/// Parameters: `--name=value`, `--name value` or the default. Words that nothing reads are warned of.
///
/// @param arguments  what stands after the script's name
/// @return           a text for the user if a value has the wrong type, or if nothing reads a word that is an option of
///                   the tool, or a flag of a script with parameters
std::expected<ScriptArguments, std::string> read_arguments(const ArgumentRules& rules,
                                                           const std::vector<std::string>& arguments);

/// What `raddle run script.df --help` prints.
std::string describe_parameters(const CheckedProgram& program, const std::string& script);

}  // namespace raddle::tool
