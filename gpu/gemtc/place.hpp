#pragma once
// Where the tasks of gemtc.h are computed, and their memory lies.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "gpu/gemtc/gemtc.h"

namespace raddle::gpu {

struct GemtcTask {
  std::uint32_t kernel = 0;
  std::int64_t threads = 0;
  gemtc_result result{};  ///< as it was pushed; the place fills in how it has ended
  std::mutex mutex;       ///< the place's
};

/// Threads: any.
class GemtcPlace {
 public:
  virtual ~GemtcPlace() = default;  ///< @pre no task is under way
  /// Of so many bytes as the device has, aligned to Arena::granule.
  virtual std::uint64_t memory() const = 0;
  /// Of a task.
  virtual std::int64_t most_threads() const = 0;
  virtual gemtc_code copy_in(void* to, const void* from, std::size_t bytes) = 0;
  virtual gemtc_code copy_out(void* to, const void* from, std::size_t bytes) = 0;
  /// Never waits. @param task  stays where it is until `done`  @param done  called once, on a thread of the place's,
  /// or here if the place is lost
  virtual void submit(GemtcTask& task, std::function<void()> done) = 0;
};

}  // namespace raddle::gpu
