#include "compiler/tool/terminal/history.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "vm/value/environment.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/whole_file.hpp"

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

constexpr mode_t own = S_IRUSR | S_IWUSR;  // what was typed is nobody else's

}  // namespace

std::string default_history_file() {
  std::string state = vm::environment_path("XDG_STATE_HOME");
  if (const std::string home = vm::environment_path("HOME"); state.empty() && !home.empty())
    state = home + "/.local/state";
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
  [[maybe_unused]] const auto written =
      vm::write_whole(file_, own, [&all](int file) { return vm::write_all(file, all); });
}

void History::add(const std::string& entry) {
  if (entry.empty() || (!entries_.empty() && entries_.back() == entry)) return;
  entries_.push_back(entry);
  if (file_.empty()) return;
  const vm::FileDescriptor file(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, own));
  if (file) vm::write_all(file.get(), one_line(entry));
}

}  // namespace raddle::terminal
