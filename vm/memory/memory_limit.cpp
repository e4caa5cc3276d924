#include "vm/memory/memory_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "vm/memory/large_blocks.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t unlimited = SIZE_MAX;

std::size_t number_in(const std::string& path) {
  std::ifstream file(path);  // a number, or `max`
  std::size_t bytes = 0;
  return file >> bytes ? bytes : unlimited;
}

// A line `0::/group` is of the groups' second version; the first has a mount of its own for memory.
std::size_t limit_of_our_groups() {
  std::size_t limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) limit = std::min(limit, control_group_limit("/sys/fs/cgroup", line.substr(3)));
  }
  return limit;
}

std::size_t find_limit() {
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t limit = std::min(machine, limit_of_our_groups());
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    limit = std::min<std::size_t>(limit, addresses.rlim_cur);
  }
  return limit;
}

}  // namespace

std::size_t memory_limit_bytes() {
  static const std::size_t limit = find_limit();
  return limit;
}

bool fits_in_memory(double bytes) {
  const auto limit = static_cast<double>(memory_limit_bytes());
  return bytes <= limit / 2 && bytes + static_cast<double>(LargeBlocks::used_bytes()) <= limit;
}

std::string no_memory_text(std::string_view what, double bytes) {
  constexpr double gib = 1U << 30;
  const auto limit = static_cast<double>(memory_limit_bytes());
  const std::string needed = fmt::format("{} needs {:.3g} GiB of memory", what, bytes / gib);
  if (bytes > limit / 2) return needed + ": more than half of what this process may use";
  return fmt::format("{} beside the {:.3g} GiB that other arrays have: this process may use {:.3g} GiB", needed,
                     static_cast<double>(LargeBlocks::used_bytes()) / gib, limit / gib);
}

std::size_t control_group_limit(const std::string& groups, std::string group) {
  std::size_t limit = unlimited;
  for (;;) {
    while (group.ends_with('/')) group.pop_back();
    limit = std::min(limit, number_in(groups + group + "/memory.max"));
    if (group.empty()) return limit;
    group.resize(std::min(group.size(), group.rfind('/')));
    if (group.find('/') == std::string::npos) group.clear();
  }
}

}  // namespace raddle::vm
