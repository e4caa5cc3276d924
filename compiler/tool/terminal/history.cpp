#include "compiler/tool/terminal/history.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace raddle::terminal {

namespace {

std::string one_line(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    if (c == '\\') line += '\\';
    line += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return line + "\n";
}

std::string from_line(std::string_view line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      entry += line[i];
    } else {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return entry;
}

/// 0600: what was typed is nobody else's. @return false: not all of it is there
bool write_to(const std::string& path, int flags, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (file < 0) return false;
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t count = write(file, left.data(), left.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
  }
  return close(file) == 0 && left.empty();
}

}  // namespace

std::string default_history_file() {
  const auto folder = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr && value[0] == '/' ? value : "");
  };
  std::string state = folder("XDG_STATE_HOME");
  if (const std::string home = folder("HOME"); state.empty() && !home.empty()) state = home + "/.local/state";
  return state.empty() ? "" : state + "/raddle/history";
}

History::History(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), code);
  read();
  if (entries_.size() <= most_kept + most_kept / 2) return;
  entries_.erase(entries_.begin(), entries_.end() - most_kept);
  rewrite();
}

void History::read() {
  std::ifstream stream(file_);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) entries_.push_back(from_line(line));
}

void History::rewrite() const {
  std::string all;
  for (const std::string& entry : entries_) all += one_line(entry);
  const std::string beside = file_ + ".new";
  std::error_code code;
  if (write_to(beside, O_TRUNC, all))
    std::filesystem::rename(beside, file_, code);
  else
    std::filesystem::remove(beside, code);  // the long one stays
}

void History::add(const std::string& entry) {
  if (entry.empty() || (!entries_.empty() && entries_.back() == entry)) return;
  entries_.push_back(entry);
  if (!file_.empty()) write_to(file_, O_APPEND, one_line(entry));
}

}  // namespace raddle::terminal
