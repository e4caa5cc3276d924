#pragma once
// Queues in memory of the host, and tasks for them that tell whether each of their points was computed once.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

#include "gpu/superkernel/producer.hpp"
#include "gpu/superkernel/queue_memory.hpp"

namespace raddle::gpu::superkernel {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t ever = ~std::uint64_t{0} >> 1;

/// How long a task may seem to take. With RADDLE_WEAKENED it is expected to take for ever.
inline std::chrono::seconds patience() {
  return std::chrono::seconds(std::getenv("RADDLE_WEAKENED") != nullptr ? 3 : 30);
}

/// Other threads wait for ever.
inline void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::_Exit(1);
}

/// Memory of the queues, all of the host.
struct QueueMemory {
  explicit QueueMemory(const QueueSizes& sizes, std::uint64_t start = 0)
      : host(HostBlock::size_bytes(sizes) / line_bytes),
        device(DeviceBlock::size_bytes(sizes) / line_bytes),
        block(sizes, host.front().bytes) {
    const DeviceBlock on_device(sizes, device.front().bytes);
    on_device.write_first_values(start);
    queues = queues_in(sizes, block, on_device);
    queues.idle_ns = ever;
  }
  struct alignas(line_bytes) Line {
    std::byte bytes[line_bytes];
  };
  std::vector<Line> host, device;
  const HostBlock block;
  Queues queues;
};

/// Adds 1 to each point's word. The point `bad` does not end well; some warps are slow.
struct SmallTask {
  SmallTask(std::uint64_t count, std::uint64_t bad) : bad(bad), points(count) {}
  std::uint64_t least() const { return bad < points.size() ? bad : no_failure; }
  bool is_right() const {
    for (std::uint64_t i = 0; i < std::min(bad, points.size()); ++i)
      if (points[i] != 1) return false;
    return true;
  }

  std::int64_t words[2] = {};  ///< the points, and how many 1 us the first of them takes: written by who submits
  const std::uint64_t bad;
  std::vector<std::int64_t> points;
  bool is_told = false;
};

inline std::uint64_t compute(std::uint64_t bad, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                             std::uint64_t end) {
  auto* const points = reinterpret_cast<std::int64_t*>(words[0]);
  if (first == 0 && words[1] != 0) std::this_thread::sleep_for(std::chrono::microseconds(words[1]));
  for (std::uint64_t number = first; number < end; number += step) {
    if (number == bad) return number;
    ++points[number];
  }
  return end;
}

inline QueueTask written(SmallTask& task, unsigned number, std::uint64_t shares) {
  task.words[0] = reinterpret_cast<std::int64_t>(task.points.data());
  task.words[1] = number % 61 == 17 ? 300 : 0;
  return {.function = task.bad,
          .words = reinterpret_cast<std::uint64_t>(task.words),
          .count = task.points.size(),
          .chunk = 1 + number % 50,
          .shares = 1 + number % shares,
          .tag = &task};
}

inline void make_tasks(std::deque<SmallTask>& tasks, unsigned count) {
  for (unsigned i = 0; i < count; ++i) tasks.emplace_back(1 + i * 7 % 90, i % 3 == 0 ? i * 5 % 100 : 1000);
}

}  // namespace raddle::gpu::superkernel
