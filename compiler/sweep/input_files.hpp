#pragma once
// The files that a command, or a script's programs, read at a point, known by what is in them: a result is taken from
// the record only while they are what they were.
//
// Nobody says which of the files that a command line names are read and which are written. So all are looked at before
// a program begins and once more when the point ends: what has changed meanwhile was written by it, or by another
// point, and is no input. Not so the program itself, and what an earlier point has left as it was: somebody has edited
// them.
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
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
  /// What is there before a program begins. Any thread.
  /// @param words  of its command line   @param files  that it is given otherwise
  Inputs at_begin(const std::vector<std::string>& words, const std::vector<std::string>& files, const Point& point);
  /// Those that have stayed as they were, as vm::Attempt::inputs. Any thread.
  std::string at_end(const Inputs& inputs);
  /// A file that is not what it was, or not there, or of which it is not known what it was. Any thread.
  /// @param inputs  vm::Attempt::inputs of the point
  std::optional<std::string> changed(const std::string& inputs, const Point& point);
  /// Files that have changed while points ran, sorted.
  struct Changes {
    std::vector<std::string> edited;   ///< somebody has: inputs
    std::vector<std::string> written;  ///< no point has left them as they were: taken for what the points write
  };
  Changes changes();

 private:
  static constexpr std::size_t most_noted = 100'000;
  /// At a point's end. @return whether the file is read: it is as it was when the point began, or was so at another one
  bool note(const Input& input);

  std::vector<CommandTemplate> declared_;  // of one word each
  vm::KeptFiles files_;
  std::mutex mutex_;  // guards the next two
  std::unordered_set<std::string> read_, changed_;
};

}  // namespace raddle::sweep
