#pragma once
// Standard output and error of the process while a prompt stands at the bottom of the terminal: what anybody writes
// there, programs that were started included, goes through a pipe and is shown above the prompt, line by line. Standard
// input is empty: what is typed is the session's.
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace raddle::tool::repl {

class OutputCapture {
 public:
  using Show = std::function<void(std::string_view)>;
  /// @param show  called from any thread, one call at a time; must not write to standard output
  explicit OutputCapture(Show show);
  /// The standard streams are what they were before.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;

  /// Shows all that was written so far, a line that is not through included.
  void drain();
  /// Lets the thread show what is written: whole lines, and the beginning of one if its rest is long in coming.
  static void flush();

 private:
  void relay();
  std::size_t show_some();
  void show_unfinished();

  Show show_;
  int input_ = -1, output_ = -1, error_ = -1;  ///< the descriptors before
  int read_end_ = -1;
  int stop_[2] = {-1, -1};  ///< a pipe that is closed to end the thread
  std::mutex mutex_;        ///< held from reading until it is shown, so that the order is kept; guards the next
  std::string unfinished_;  ///< the beginning of a line
  std::thread thread_;
};

}  // namespace raddle::tool::repl
