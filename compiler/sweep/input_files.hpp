#pragma once
// The files that a command reads at a point, known by what is in them: a result is taken from the record only while
// they are what they were.
//
// Nobody says which of the files that a command names are read and which are written. So all are looked at when a point
// begins and once more when it ends: what has changed meanwhile, the program itself excepted, was written by it, or by
// another point, and is no input.
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sweep/command_template.hpp"
#include "vm/record/kept_files.hpp"

namespace raddle::sweep {

class InputFiles {
 public:
  /// @param declared  paths that no word need name, with placeholders as in the command
  /// @error  a placeholder that means nothing
  static std::expected<std::vector<CommandTemplate>, OptionError> parse(const std::vector<std::string>& declared,
                                                                        const std::vector<Parameter>& parameters);
  explicit InputFiles(std::vector<CommandTemplate> declared) : declared_(std::move(declared)) {}

  struct Input {
    std::string path, version;  ///< vm::file_version()
    bool is_certain = false;    ///< the program, or declared
  };
  using Inputs = std::vector<Input>;
  /// What is there when a point begins. Any thread.
  /// @param words  of its command
  Inputs at_begin(const std::vector<std::string>& words, const Point& point);
  /// Those that have stayed as they were, as vm::Attempt::inputs. Any thread.
  std::string at_end(const Inputs& inputs);
  /// A file that is not what it was, or not there. Any thread.
  /// @param inputs  vm::Attempt::inputs
  std::optional<std::string> changed(const std::string& inputs);

 private:
  std::vector<CommandTemplate> declared_;  // of one word each
  vm::KeptFiles files_;
};

}  // namespace raddle::sweep
