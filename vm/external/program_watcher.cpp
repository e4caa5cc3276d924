#include "vm/external/program_watcher.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "vm/external/start_child.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t most_lines = 65536;
static_assert(sizeof(WatchedLine) == WatchedLine::digits + 1);

// The list is its descriptor 3. What it prints nobody is to hear of: of groups that are gone, above all.
constexpr const char* script =
    "trap '' HUP INT QUIT TERM; read -r gone; "
    "while read -r group; do [ -z \"$group\" ] || kill -s KILL -- \"-$group\"; done <&3";

class Watcher {
 public:
  /// @return null if it can not be started
  static std::unique_ptr<Watcher> start() {
    std::unique_ptr<Watcher> watcher(new Watcher);
    if (!watcher->make_list()) return nullptr;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
    const FileDescriptor its_end(ends[0]), nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
    watcher->our_end_ = FileDescriptor(ends[1]);
    const auto pid = start_child({.words = {"/bin/sh", "-c", script},
                                  .environment = {},
                                  .stdin_fd = its_end.get(),
                                  .stdout_fd = nothing.get(),
                                  .stderr_fd = nothing.get(),
                                  .answer_fd = watcher->list_.get(),
                                  .outlives_us = true});
    if (!pid) return nullptr;
    return watcher;
  }
  /// The process ends: the watcher ends what is left, then itself. A fork of the process that ends has no say.
  void end() {
    if (getpid() == owner_) our_end_.close();
  }

  WatchedLine* take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      WatchedLine* const line = free_.back();
      free_.pop_back();
      return line;
    }
    if (count_ == most_lines || ftruncate(list_.get(), static_cast<off_t>((count_ + 1) * sizeof(WatchedLine))) != 0)
      return nullptr;
    auto* const line = ::new (lines_ + count_++) WatchedLine;
    line->clear();
    return line;
  }
  void give_back(WatchedLine* line) {
    const std::lock_guard lock(mutex_);
    free_.push_back(line);
  }

 private:
  Watcher() = default;
  bool make_list() {
    list_ = FileDescriptor(memfd_create("programs", MFD_CLOEXEC));
    void* const mapped =
        mmap(nullptr, most_lines * sizeof(WatchedLine), PROT_READ | PROT_WRITE, MAP_SHARED, list_.get(), 0);
    if (!list_ || mapped == MAP_FAILED) return false;
    lines_ = static_cast<WatchedLine*>(mapped);
    return true;
  }

  FileDescriptor list_, our_end_;
  WatchedLine* lines_ = nullptr;
  const pid_t owner_ = getpid();
  std::mutex mutex_;  // guards the next two
  std::vector<WatchedLine*> free_;
  std::size_t count_ = 0;  // lines of the list
};

/// Never destroyed: threads may outlive everything else.
Watcher* watcher() {
  static Watcher* const only = [] {
    Watcher* const started = Watcher::start().release();
    if (started != nullptr) std::atexit([] { watcher()->end(); });
    return started;
  }();
  return only;
}

/// Of a thread.
struct OwnLine {
  WatchedLine* line = watcher() != nullptr ? watcher()->take() : nullptr;
  ~OwnLine() {
    if (line != nullptr) watcher()->give_back(line);
  }
};

}  // namespace

// ThreadSanitizer would take the child's store for one of this thread.
[[gnu::no_sanitize("thread")]] void WatchedLine::set(int process_group) {
  std::uint64_t line = blank;
  auto* const bytes = reinterpret_cast<unsigned char*>(&line);
  for (int at = digits; process_group > 0 && at > 0; process_group /= 10)
    bytes[--at] = static_cast<unsigned char>('0' + process_group % 10);
  __atomic_store_n(&line_, line, __ATOMIC_RELAXED);
}

WatchedLine* watched_line() {
  thread_local const OwnLine own;
  return own.line;
}

}  // namespace raddle::vm
