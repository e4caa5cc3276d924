#pragma once
// Times of the host.
#include <time.h>

#include <chrono>
#include <cstdint>

namespace raddle::gpu {

inline std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// That the thread has computed: what else runs on its processor does not count.
inline std::int64_t processor_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace raddle::gpu
