#include "vm/external/output_tap.hpp"

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

std::expected<OutputTap::Pointer, int> OutputTap::open(uv_loop_t& loop, const OutputSink& sink) {
  std::expected<Ends, int> ends = open_ends(sink.terminal_fd >= 0);
  if (!ends) return std::unexpected(ends.error());
  return Pointer(new OutputTap(loop, sink, std::move(ends->ours), std::move(ends->programs)));
}

OutputTap::OutputTap(uv_loop_t& loop, const OutputSink& sink, FileDescriptor ours, FileDescriptor programs)
    : sink_(sink), our_end_(std::move(ours)), program_end_(std::move(programs)) {
  uv_poll_init(&loop, &watch_, our_end_.get());
  watch_.data = this;
  uv_poll_start(&watch_, UV_READABLE,
                [](uv_poll_t* watch, int, int) { static_cast<OutputTap*>(watch->data)->read_some(); });
}

void OutputTap::begin() {
  printed_ = {};
  if (winsize size{}; sink_.terminal_fd >= 0 && ioctl(sink_.terminal_fd, TIOCGWINSZ, &size) == 0)
    ioctl(program_end_.get(), TIOCSWINSZ, &size);
}

PrintedText OutputTap::end() {
  read_some();  // a pseudo-terminal, too, says that nothing is there only when all that was written has come through
  printed_.end.erase(0, printed_.end.size() - std::min(printed_.end.size(), kept_output_bytes));
  return std::exchange(printed_, {});
}

void OutputTap::read_some() {
  std::array<char, std::size_t{64} << 10> buffer;
  for (std::size_t total = 0; our_end_ && total < most_at_once;) {
    const ssize_t count = read(our_end_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return stop();
    const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    total += text.size();
    printed_.size += text.size();
    printed_.end += text.substr(text.size() - std::min(text.size(), kept_output_bytes));
    if (printed_.end.size() > 4 * kept_output_bytes) printed_.end.erase(0, printed_.end.size() - kept_output_bytes);
    if (!sink_.take(text)) return stop();
  }
}

// Whoever writes to it from now on is told so, as by any reader that has gone.
void OutputTap::stop() {
  uv_poll_stop(&watch_);
  our_end_ = FileDescriptor();
}

void OutputTap::close() {
  stop();
  program_end_ = FileDescriptor();
  uv_close(reinterpret_cast<uv_handle_t*>(&watch_),
           [](uv_handle_t* handle) { delete static_cast<OutputTap*>(handle->data); });
}

std::expected<int, int> OutputTaps::begin(OutputTap::Pointer& tap, const OutputSink& sink) {
  if (!sink.take) return -1;
  if (!tap) {
    std::expected<OutputTap::Pointer, int> made = OutputTap::open(*loop_.loop(), sink);
    if (!made) return std::unexpected(made.error());
    tap = std::move(*made);
  }
  tap->begin();
  return tap->program_end();
}

std::expected<OutputTaps::Ends, int> OutputTaps::begin(unsigned slot, const ProcessRequest& request) {
  slots_.resize(std::max<std::size_t>(slots_.size(), slot));
  auto& [out, error] = slots_[slot - 1];
  Ends ends;
  if (request.stdout_fd < 0 && request.stdout_path.empty()) {
    const std::expected<int, int> end = begin(out, outputs_.out);
    if (!end) return std::unexpected(end.error());
    ends.out = *end;
  }
  if (request.stderr_fd >= 0 || !request.stderr_path.empty()) return ends;
  const std::expected<int, int> end = outputs_.are_one ? begin(out, outputs_.out) : begin(error, outputs_.error);
  if (!end) return std::unexpected(end.error());
  ends.error = *end;
  return ends;
}

// What a program has left behind may go on to print: the next one gets taps of its own.
void OutputTaps::end(unsigned slot, const Ends& ends, ProcessResult& result) {
  if (ends.out < 0 && ends.error < 0) return;
  auto& [out, error] = slots_[slot - 1];
  if (ends.out >= 0) result.out = out->end();
  if (ends.error >= 0 && !outputs_.are_one) result.error = error->end();
  if (ends.error >= 0 && ends.out < 0 && outputs_.are_one) result.error = out->end();
  if (!result.leaves_others) return;
  left_.remove_if([](const OutputTap::Pointer& tap) { return tap->is_closed(); });
  for (OutputTap::Pointer* tap : {&out, &error}) {
    if (!*tap) continue;
    (*tap)->leave();
    left_.push_back(std::move(*tap));
  }
}

void OutputTaps::close() {
  slots_.clear();
  left_.clear();
}

}  // namespace raddle::vm
