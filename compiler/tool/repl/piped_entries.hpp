#pragma once
// A session without a terminal: its entries are lines of a pipe or a file.
#include <atomic>
#include <chrono>

#include "compiler/tool/repl/conversation.hpp"

namespace raddle::tool::repl {

class PipedEntries {
 public:
  /// Standard input is empty for others from now on: programs would take what is to come.
  PipedEntries();
  ~PipedEntries();

  /// Answers entry by entry until the input ends, or `:quit`.
  void run(Conversation& conversation);
  /// For Conversation.
  bool is_interrupted(std::chrono::milliseconds most) const;
  /// run() is to return soon. Any thread.
  void leave_soon() { must_leave_.store(true, std::memory_order_relaxed); }

 private:
  /// @return whether there is one; else the input has ended, or run() is to return
  bool next_line(Conversation& conversation, std::string& line);

  int input_;
  std::string read_;  ///< no line of it was taken yet
  std::atomic<bool> must_leave_{false};
};

}  // namespace raddle::tool::repl
