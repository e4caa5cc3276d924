#pragma once
// What was entered before, in this session and, through a file, in others.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::terminal {

/// One entry a line in the file, with `\n` and `\\` for newlines and backslashes. Sessions that run at the same time
/// append to the same file. Nothing that goes wrong with it is an error: then there is no history.
class History {
 public:
  static constexpr std::size_t most_kept = 5000;

  /// @param file  "": kept for this session only
  explicit History(std::string file = "");
  /// Adds an entry, unless it is the same as the last one.
  void add(const std::string& entry);
  const std::vector<std::string>& entries() const { return entries_; }  ///< oldest first

 private:
  void read();
  void rewrite() const;

  std::string file_;
  std::vector<std::string> entries_;
};

/// $XDG_STATE_HOME/raddle/history, else ~/.local/state/raddle/history; "" if there is no home.
std::string default_history_file();

}  // namespace raddle::terminal
