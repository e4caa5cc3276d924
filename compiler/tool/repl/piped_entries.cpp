#include "compiler/tool/repl/piped_entries.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <thread>
#include <utility>

#include "compiler/tool/repl/output_capture.hpp"

namespace raddle::tool::repl {

namespace {

constexpr int look_interval_ms = 100;

}  // namespace

PipedEntries::PipedEntries() : input_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input_ < 0 || nothing < 0) throw std::runtime_error("no descriptor for standard input");
  dup2(nothing, STDIN_FILENO);
  close(nothing);
}

PipedEntries::~PipedEntries() { close(input_); }

bool PipedEntries::is_interrupted(std::chrono::milliseconds most) const {
  std::this_thread::sleep_for(most);
  return must_leave_.load(std::memory_order_relaxed);
}

void PipedEntries::run(Conversation& conversation) {
  std::string entry, line;
  bool goes_on = true;
  while (goes_on && next_line(conversation, line)) {
    entry += line;
    const bool is_command = entry.starts_with(':');
    if (!is_command && PieceCompiler::is_unfinished(entry)) {
      entry += '\n';
      continue;
    }
    goes_on = conversation.answer(std::exchange(entry, {}));
    conversation.look();
    OutputCapture::flush();
  }
  if (goes_on && !entry.empty() && !is_interrupted(std::chrono::milliseconds(0))) conversation.answer(entry);
}

bool PipedEntries::next_line(Conversation& conversation, std::string& line) {
  std::size_t end;
  while ((end = read_.find('\n')) == std::string::npos) {
    if (must_leave_.load(std::memory_order_relaxed)) return false;
    pollfd waited{input_, POLLIN, 0};
    const int ready = poll(&waited, 1, look_interval_ms);
    if (ready == 0) conversation.look();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char bytes[16 * 1024];
    const ssize_t count = read(input_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      read_.append(bytes, static_cast<std::size_t>(count));
      continue;
    }
    if (read_.empty()) return false;
    end = read_.size();  // the last line has no end
    break;
  }
  line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return !must_leave_.load(std::memory_order_relaxed);
}

}  // namespace raddle::tool::repl
