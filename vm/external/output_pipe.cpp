#include "vm/external/output_pipe.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace raddle::vm {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 20;  // more than a pipe holds: others are to have their turn

struct Ends {
  FileDescriptor ours, programs;
};

std::expected<Ends, int> open_pipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return std::unexpected(errno);
  Ends ends{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
  if (fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0) return std::unexpected(errno);
  return ends;
}

// What is written to it is read as it is: the terminal that it goes to at last makes the ends of lines.
std::expected<Ends, int> open_terminal() {
  FileDescriptor ours(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!ours || unlockpt(ours.get()) != 0) return std::unexpected(errno);
  FileDescriptor programs(ioctl(ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios modes{};
  if (!programs || tcgetattr(programs.get(), &modes) != 0) return std::unexpected(errno);
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (tcsetattr(programs.get(), TCSANOW, &modes) != 0) return std::unexpected(errno);
  return Ends{std::move(ours), std::move(programs)};
}

std::expected<Ends, int> open_ends(bool is_terminal) {
  if (is_terminal)
    if (std::expected<Ends, int> ends = open_terminal()) return ends;
  return open_pipe();
}

}  // namespace

std::expected<OutputPipe, int> OutputPipe::open(const OutputSink& sink) {
  std::expected<Ends, int> ends = open_ends(sink.terminal_fd >= 0);
  if (!ends) return std::unexpected(ends.error());
  if (winsize size{}; sink.terminal_fd >= 0 && ioctl(sink.terminal_fd, TIOCGWINSZ, &size) == 0)
    ioctl(ends->programs.get(), TIOCSWINSZ, &size);
  return OutputPipe(sink, std::move(ends->ours), std::move(ends->programs));
}

bool OutputPipe::read_some() {
  std::array<char, std::size_t{64} << 10> buffer;
  for (std::size_t total = 0; our_end_ && total < most_at_once;) {
    const ssize_t count = read(our_end_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;  // of a pseudo-terminal, too, only when all has come through
    const std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    total += text.size();
    printed_.size += text.size();
    printed_.end += text.substr(text.size() - std::min(text.size(), kept_output_bytes));
    if (printed_.end.size() > 4 * kept_output_bytes) printed_.end.erase(0, printed_.end.size() - kept_output_bytes);
    if (text.empty() || !sink_->take(text)) return false;
  }
  return static_cast<bool>(our_end_);
}

PrintedText OutputPipe::take_printed() {
  printed_.end.erase(0, printed_.end.size() - std::min(printed_.end.size(), kept_output_bytes));
  return std::exchange(printed_, {});
}

}  // namespace raddle::vm
