#include "stdlib/native/output.hpp"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "vm/value/file_descriptor.hpp"

namespace raddle::stdlib {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kept_bytes = 64 * 1024;
constexpr auto kept_time = std::chrono::milliseconds(100);
constexpr auto next_look = std::chrono::milliseconds(5);

/// One stream. Nobody holds the lock while a write waits for the reader.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  void print(std::string_view text) {
    std::unique_lock lock(mutex_);
    add(text);
    if (is_terminal_ || kept_.size() >= kept_bytes || Clock::now() - last_write_ >= kept_time) write_kept(lock);
  }

  bool flush() {
    if (is_settled_.load(std::memory_order_acquire)) return true;
    std::unique_lock lock(mutex_);
    write_kept(lock);
    return good_;
  }

  bool flush_within(Clock::duration time) {
    for (const Clock::time_point end = Clock::now() + time;; std::this_thread::sleep_for(next_look)) {
      const std::lock_guard lock(mutex_);
      write_some();
      if (kept_.empty() && !is_writing_) return good_;
      if (Clock::now() >= end) return false;
    }
  }

  bool offer(std::string_view text) {
    const std::lock_guard lock(mutex_);
    add(text);
    write_some();
    return has_reader_;
  }

  bool is_full() {
    const std::lock_guard lock(mutex_);
    write_some();
    return kept_.size() >= kept_bytes;
  }

  bool has_text() {
    const std::lock_guard lock(mutex_);
    return has_text_;
  }

  bool has_reader() {
    const std::lock_guard lock(mutex_);
    return has_reader_;
  }

 private:
  /// What comes after something that could not be written is dropped: there is no hole in what was written.
  void add(std::string_view text) {
    has_text_ |= !text.empty();
    if (good_) kept_ += text;
    note_settled();
  }
  void note_settled() { is_settled_.store(good_ && kept_.empty() && !is_writing_, std::memory_order_release); }

  void write_kept(std::unique_lock<std::mutex>& lock) {
    written_.wait(lock, [this] { return !is_writing_; });  // what was taken before goes first
    while (!kept_.empty()) {
      const std::string text = std::exchange(kept_, {});
      is_writing_ = true;
      lock.unlock();
      const int error = vm::write_all(fd_, text);
      lock.lock();
      is_writing_ = false;
      note(error);
      written_.notify_all();
    }
    last_write_ = Clock::now();
    note_settled();
  }

  /// As much as can be written without waiting, with the lock held.
  void write_some() {
    std::size_t begin = 0;
    while (!is_writing_ && begin < kept_.size()) {
      pollfd room{.fd = fd_, .events = POLLOUT, .revents = 0};
      if (poll(&room, 1, 0) != 1) break;
      const ssize_t count = write(fd_, kept_.data() + begin, std::min(kept_.size() - begin, most_at_once_));
      if (count > 0) begin += static_cast<std::size_t>(count);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (count <= 0) return note(errno);
    }
    kept_.erase(0, begin);
    note_settled();
  }

  void note(int error) {
    if (error == 0) return;
    kept_.clear();
    good_ = false;
    note_settled();
    if (error != EPIPE) return;
    has_reader_ = false;
    kill(getpid(), SIGPIPE);  // this thread may block it, and what ends a run in order hears of signals of the process
  }

  static bool is_file(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  }

  const int fd_;
  const bool is_terminal_ = isatty(fd_) == 1;
  /// A pipe that has room at all has it for so much.
  const std::size_t most_at_once_ = is_file(fd_) ? std::numeric_limits<std::size_t>::max() : PIPE_BUF;
  /// All that was printed so far is written; false for good once something could not be. Written with the lock held;
  /// who reads it without (acquire) has printed, or knows of what was printed, before.
  std::atomic<bool> is_settled_{true};
  std::mutex mutex_;  // guards all below
  std::condition_variable written_;
  std::string kept_;
  bool has_text_ = false;
  Clock::time_point last_write_{};  // long ago: the first text is written at once
  bool is_writing_ = false;         // somebody writes what was in front of kept_
  bool good_ = true;
  bool has_reader_ = true;
};

Output& output(Stream stream) {
  // never destroyed: other threads may print until the process ends
  static auto* const out = new Output(STDOUT_FILENO);
  static auto* const error = new Output(STDERR_FILENO);
  return stream == Stream::out ? *out : *error;
}

}  // namespace

void print_text(std::string_view text) { output(Stream::out).print(text); }

bool flush_output() {
  output(Stream::error).flush();
  return output(Stream::out).flush();
}

bool flush_output_within(std::chrono::milliseconds time) {
  output(Stream::error).flush_within(time);
  return output(Stream::out).flush_within(time);
}

bool offer_text(Stream stream, std::string_view text) { return output(stream).offer(text); }
bool is_full(Stream stream) { return output(stream).is_full(); }
bool has_text(Stream stream) { return output(stream).has_text(); }
bool has_reader(Stream stream) { return output(stream).has_reader(); }

}  // namespace raddle::stdlib
