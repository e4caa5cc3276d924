#include "stdlib/native/output.hpp"

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::stdlib {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kept_bytes = 64 * 1024;
constexpr auto kept_time = std::chrono::milliseconds(100);

class Output {
 public:
  void print(std::string_view text) {
    const std::lock_guard lock(mutex_);
    kept_ += text;
    if (is_terminal_ || kept_.size() >= kept_bytes || Clock::now() - last_write_ >= kept_time) write_kept();
  }

  bool flush() {
    const std::lock_guard lock(mutex_);
    write_kept();
    return good_;
  }

 private:
  void write_kept() {
    good_ = good_ && vm::write_all(STDOUT_FILENO, kept_) == 0;
    kept_.clear();
    last_write_ = Clock::now();
  }

  std::mutex mutex_;
  std::string kept_;
  Clock::time_point last_write_{};  // long ago: the first text is written at once
  const bool is_terminal_ = isatty(STDOUT_FILENO) == 1;
  bool good_ = true;
};

Output& output() {
  static auto* const only = new Output;  // never destroyed: other threads may print until the process ends
  return *only;
}

}  // namespace

void print_text(std::string_view text) { output().print(text); }
bool flush_output() { return output().flush(); }

}  // namespace raddle::stdlib
