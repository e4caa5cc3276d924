#pragma once
// Small programs of the shell for the tests of Processes, and what they leave behind.
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "vm/external/processes.hpp"

namespace raddle::vm {

inline ProcessRequest shell(const std::string& line) {
  ProcessRequest request;
  request.words = {"sh", "-c", line};
  return request;
}

inline std::future<ProcessResult> begin(Processes& processes, ProcessRequest request) {
  auto result = std::make_shared<std::promise<ProcessResult>>();
  auto future = result->get_future();
  processes.spawn(std::move(request), [result](ProcessResult ended) { result->set_value(std::move(ended)); });
  return future;
}

inline ProcessResult run(Processes& processes, ProcessRequest request) {
  return begin(processes, std::move(request)).get();
}

inline std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A folder of its own for a test, removed with it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "raddle_test_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

// Waits (bounded) for what another process does in its own time.
template <typename Condition>
inline bool becomes(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline bool is_alive(pid_t pid) {
  if (kill(pid, 0) != 0) return false;
  const std::string stat = content("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "Z") != 0;
}

// The number that a program writes to `path` once it runs.
inline pid_t pid_from(const std::string& path) {
  pid_t pid = 0;
  becomes([&] {
    const std::string text = content(path);
    if (text.empty() || text.back() != '\n') return false;
    pid = std::stoi(text);
    return true;
  });
  return pid;
}

}  // namespace raddle::vm
