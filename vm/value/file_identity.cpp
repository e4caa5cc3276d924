#include "vm/value/file_identity.hpp"

#include <sys/stat.h>
#include <time.h>

#include <chrono>
#include <thread>

namespace raddle::vm {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return time.tv_sec * second_ns + time.tv_nsec;
}

}  // namespace

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim)};
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return identity_of(status);
}

FileState state_of(const struct stat& status) { return {identity_of(status), nanoseconds(status.st_ctim)}; }

std::optional<FileState> state_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return state_of(status);
}

std::optional<FileState> settled_state_of(const std::string& path) {
  constexpr int most_waits = 50;  // the clock of another machine may be ahead
  for (int i = 0;; ++i) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const std::optional<FileState> state = state_of(path);
    if (!state || state->changed_ns < nanoseconds(now) || i == most_waits) return state;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace raddle::vm
