#pragma once
// The files that a command, or a script's programs, read at a point, known by what is in them: a result is taken from
// the record only while they are what they were.
//
// Nobody says which of the files that a command line names are read and which are written. So all are looked at before
// a program begins and once more when the point ends. What was written to meanwhile, even if its content is the same
// again, may have been edited: which content the point has read nobody knows, and it is run again the next time. Only
// what was written to while an earlier point ran, too, in this run or another, was written by the points, and is no
// input. Not so what is certainly read, as the program itself, and what an earlier point has left as it was.
//
// Of files that the point has certainly written it is kept that they are its outputs: without them its result is not
// taken either. What is in them does not matter, as the user's own programs may go on with them.
#include <cstdint>
#include <expected>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/tool/sweep/command_template.hpp"
#include "vm/record/kept_files.hpp"
#include "vm/record/named_files.hpp"
#include "vm/value/file_identity.hpp"

namespace raddle::sweep {

class InputFiles {
 public:
  /// @param declared  paths that no word need name, with placeholders as in the command
  /// @error  a placeholder that means nothing
  static std::expected<std::vector<CommandTemplate>, OptionError> parse(const std::vector<std::string>& declared,
                                                                        const std::vector<Parameter>& parameters);
  explicit InputFiles(std::vector<CommandTemplate> declared) : declared_(std::move(declared)) {}

  struct Input {
    std::string path, version;  ///< vm::version_of(); a path may be a pattern
    bool is_certain = false;    ///< it is read: vm::NamedFile::is_certain, declared, or a value of the script
    std::optional<vm::FileState> state = std::nullopt;  ///< before its version was read
    bool has_changed_before = false;                    ///< while a point ran that had ended when this one began
  };
  using Inputs = std::vector<Input>;
  /// What is there before a program begins. Any thread.
  /// @param words  of its command line   @param files  that it is given otherwise
  Inputs at_begin(const std::vector<std::string>& words, const std::vector<std::string>& files);
  /// The same of a command, with those that were declared.
  Inputs at_begin(const std::vector<std::string>& words, const Point& point);
  bool has_declared() const { return !declared_.empty(); }
  /// A file as it is now. Any thread.
  Input now(const vm::NamedFile& file);
  /// What is known of a file that was named twice. Any thread.
  void join(Input& input, const Input& later) { vm::join_versions(files_, input.path, input.version, later.version); }
  /// Those that were declared, at a point. Any thread.
  std::vector<vm::NamedFile> declared(const Point& point) const;
  /// Paths of files that a point is to write, and whether they were there before.
  using Outputs = std::map<std::string, bool>;
  /// Those that it has read, and of the outputs those that are there, as vm::Attempt::inputs. Any thread.
  std::string at_end(const Inputs& inputs, const Outputs& outputs);
  struct Change {
    std::string path;
    bool is_lost_output = false;  ///< the point has written it, and it is not there any more
  };
  /// A file that is not what it was, or not there, or of which it is not known what it was. Any thread.
  /// @param inputs  vm::Attempt::inputs of the point
  std::optional<Change> changed(const std::string& inputs, const Point& point);
  /// Files that have changed while points ran, sorted.
  struct Changes {
    std::vector<std::string> edited;   ///< somebody has: inputs
    std::vector<std::string> written;  ///< taken for what the points write: not for the first time, and none had left
                                       ///< them as they were till then
  };
  Changes changes();

 private:
  static constexpr std::size_t most_noted = 100'000;
  /// What has become of a file when the point ends that may have read it. If it was edited, nobody knows which of its
  /// contents the point has read: no version fits.
  enum class End : std::uint8_t { as_before, edited, written };
  End note(const Input& input);
  /// What a point has read that is in the record, by path.
  void note_earlier(const std::vector<std::pair<std::string, std::string>>& known);

  std::vector<CommandTemplate> declared_;  // of one word each
  vm::KeptFiles files_;
  std::mutex mutex_;  // guards the rest
  std::unordered_set<std::string> read_;
  std::unordered_set<std::string> have_changed_;  // while points ran that have ended, of earlier runs, too
  std::unordered_map<std::string, End> changed_;  // written, if that was once said of it
};

}  // namespace raddle::sweep
