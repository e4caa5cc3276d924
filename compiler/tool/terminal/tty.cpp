#include "compiler/tool/terminal/tty.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace raddle::terminal {

namespace {

constexpr std::string_view begin_paste_marks = "\x1b[?2004h", end_paste_marks = "\x1b[?2004l";

}  // namespace

Tty::Tty(int input, int output) : input_(fcntl(input, F_DUPFD_CLOEXEC, 3)), output_(fcntl(output, F_DUPFD_CLOEXEC, 3)) {
  enter();
}

Tty::~Tty() {
  leave();
  close(input_);
  close(output_);
}

void Tty::enter() {
  if (is_raw_ || tcgetattr(input_, &before_) != 0) return;
  termios raw = before_;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  is_raw_ = tcsetattr(input_, TCSADRAIN, &raw) == 0;
  raw_.store(this, std::memory_order_release);  // publishes before_
  write(begin_paste_marks);
}

void Tty::leave() {
  if (!std::exchange(is_raw_, false)) return;
  restore();
  raw_.store(nullptr, std::memory_order_release);
}

std::atomic<const Tty*> Tty::raw_{nullptr};

void Tty::restore() {
  const Tty* raw = raw_.load(std::memory_order_acquire);
  if (raw == nullptr) return;
  raw->write(end_paste_marks);
  tcsetattr(raw->input_, TCSADRAIN, &raw->before_);
}

std::optional<std::string> Tty::read(std::chrono::milliseconds most) {
  pollfd waited{input_, POLLIN, 0};
  const int ready = poll(&waited, 1, static_cast<int>(most.count()));
  if (ready == 0 || (ready < 0 && errno == EINTR)) return "";
  char bytes[4096];
  const ssize_t count = ::read(input_, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return "";
  if (count <= 0) return std::nullopt;
  return std::string(bytes, static_cast<std::size_t>(count));
}

void Tty::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(output_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

Size size_of_terminal(int descriptor) {
  winsize found{};
  if (ioctl(descriptor, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {found.ws_col, found.ws_row};
}

}  // namespace raddle::terminal
