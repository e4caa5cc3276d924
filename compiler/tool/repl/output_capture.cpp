#include "compiler/tool/repl/output_capture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "stdlib/native/output.hpp"

namespace raddle::tool::repl {
namespace {

constexpr int longest_wait_ms = 1000;  // for the rest of a line: the prompt would cut it in two
constexpr std::size_t longest_unfinished = std::size_t{1} << 20;

}  // namespace

OutputCapture::OutputCapture(Show show) : show_(std::move(show)) {
  int ends[2];
  std::fflush(nullptr);
  input_ = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  error_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input_ < 0 || nothing < 0 || output_ < 0 || error_ < 0 || pipe2(ends, O_CLOEXEC) != 0 ||
      pipe2(stop_, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe for standard output");
  read_end_ = ends[0];
  fcntl(read_end_, F_SETFL, O_NONBLOCK);
  dup2(nothing, STDIN_FILENO);
  close(nothing);
  dup2(ends[1], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  thread_ = std::thread([this] { relay(); });
}

OutputCapture::~OutputCapture() {
  drain();
  dup2(input_, STDIN_FILENO);
  dup2(output_, STDOUT_FILENO);
  dup2(error_, STDERR_FILENO);
  close(stop_[1]);
  thread_.join();
  for (const int file : {input_, output_, error_, read_end_, stop_[0]}) close(file);
}

void OutputCapture::relay() {
  bool is_line_unfinished = false;
  while (true) {
    pollfd waited[2] = {{read_end_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    const int ready = poll(waited, 2, is_line_unfinished ? longest_wait_ms : -1);
    if (ready < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    const std::lock_guard lock(mutex_);
    if (ready == 0) show_unfinished();
    if (ready > 0) show_some();
    is_line_unfinished = !unfinished_.empty();
  }
}

/// @return the number of bytes
std::size_t OutputCapture::show_some() {
  char bytes[16 * 1024];
  const ssize_t count = read(read_end_, bytes, sizeof bytes);
  if (count <= 0) return 0;
  unfinished_.append(bytes, static_cast<std::size_t>(count));
  if (const std::size_t end = unfinished_.rfind('\n') + 1; end != 0) {
    show_(std::string_view(unfinished_).substr(0, end));
    unfinished_.erase(0, end);
  }
  if (unfinished_.size() > longest_unfinished) show_unfinished();
  return static_cast<std::size_t>(count);
}

void OutputCapture::show_unfinished() {
  if (!unfinished_.empty()) show_(unfinished_);
  unfinished_.clear();
}

void OutputCapture::flush() {
  stdlib::flush_output();
  std::fflush(nullptr);
}

void OutputCapture::drain() {
  flush();
  const std::lock_guard lock(mutex_);
  int there = 0;  // what comes meanwhile may have no end
  if (ioctl(read_end_, FIONREAD, &there) != 0) there = 0;
  for (auto left = static_cast<std::size_t>(there); left > 0;) {
    const std::size_t shown = show_some();
    if (shown == 0) break;
    left -= std::min(left, shown);
  }
  show_unfinished();
}

}  // namespace raddle::tool::repl
