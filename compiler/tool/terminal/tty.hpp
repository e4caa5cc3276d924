#pragma once
// The terminal itself: its mode, its size, its bytes.
#include <termios.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/tool/terminal/screen.hpp"

namespace raddle::terminal {

/// Of the terminal that a descriptor is; of any other the usual one.
Size size_of_terminal(int descriptor);

/// Keys come one by one and unseen, Ctrl-C as a byte, until it is destroyed or suspended.
class Tty {
 public:
  /// @param input, output  descriptors of a terminal; they may be something else afterwards
  Tty(int input, int output);
  ~Tty();
  Tty(const Tty&) = delete;

  /// @return the bytes that are there, "" if none came in that time; nothing: the terminal is gone
  std::optional<std::string> read(std::chrono::milliseconds most);
  void write(std::string_view bytes) const;
  Size size() const { return size_of_terminal(output_); }
  /// As it was before: while others use it, and before the process ends without destructors.
  void leave();
  void enter();
  /// What leave() does to the terminal, of whichever Tty is raw: for the end of a process that no destructor sees, even
  /// in a signal handler.
  static void restore();

 private:
  static std::atomic<const Tty*> raw_;  ///< there is one terminal. Written by enter() and leave()
  const int input_, output_;
  termios before_{};
  bool is_raw_ = false;
};

}  // namespace raddle::terminal
