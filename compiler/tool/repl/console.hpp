#pragma once
// The terminal of a session: keys, the prompt, and what is printed above it.
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "compiler/tool/repl/conversation.hpp"
#include "compiler/tool/repl/output_capture.hpp"
#include "compiler/tool/terminal/history.hpp"
#include "compiler/tool/terminal/line_editor.hpp"
#include "compiler/tool/terminal/screen.hpp"
#include "compiler/tool/terminal/tty.hpp"

namespace raddle::tool::repl {

class Console {
 public:
  /// Standard output and error go above the prompt from now on.
  /// @param has_colour  of the terminal
  explicit Console(bool has_colour);

  /// Reads and answers until the user leaves.
  void run(Conversation& conversation);
  /// For Conversation.
  bool is_interrupted(std::chrono::milliseconds most);
  terminal::Size size() const { return tty_.size(); }
  /// The terminal's size has changed. Any thread.
  void resized() { has_resized_.store(true, std::memory_order_relaxed); }
  /// run() is to return soon. Any thread.
  void leave_soon() { must_leave_.store(true, std::memory_order_relaxed); }
  /// Before the process ends without destructors.
  void leave();

 private:
  enum class Reading : std::uint8_t { goes_on, leaves };

  void show(std::string_view printed);
  void begin_prompt(const Conversation& conversation);
  void draw();
  terminal::View view() const;
  Reading handle(const terminal::Key& key, Conversation& conversation);
  Reading submit(Conversation& conversation);
  void suspend();
  /// Reads keys into keys_. @return false: the terminal is gone, and run() is to return
  bool read_keys(std::chrono::milliseconds most);

  const bool has_colour_;
  std::mutex mutex_;  ///< guards screen_, is_prompting_, is_line_begun_ and the editor while it is drawn
  terminal::Screen screen_;
  bool is_prompting_ = false;
  bool is_line_begun_ = false;  ///< what was printed last does not end its line
  std::atomic<bool> has_resized_{false};
  std::atomic<bool> must_leave_{false};
  terminal::Tty tty_;
  OutputCapture capture_;  ///< after tty_, which it uses to its end
  terminal::KeyDecoder decoder_;
  std::deque<terminal::Key> keys_;  ///< typed, not handled yet
  terminal::History history_;
  terminal::LineEditor editor_;
  std::string prompt_;
  const Conversation* conversation_ = nullptr;  ///< for completion
  bool is_leaving_ = false;                     ///< Ctrl-D was typed while something runs: once more and it leaves
};

}  // namespace raddle::tool::repl
