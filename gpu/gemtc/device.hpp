#pragma once
// The device behind gemtc.h.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/gemtc/gemtc.h"
#include "gpu/memory/arena.hpp"
#include "gpu/simulated/thread_kernel.hpp"

namespace raddle::gpu {

/// Its memory is a block of the host's, of which a host map says which parts are taken: nothing is noted in it. Tasks
/// that have ended wait in a list which is as long as it needs to be, since no more tasks are taken than `task_limit`:
/// so none is lost, and no worker waits for whoever polls. Threads: any.
class GemtcDevice {
 public:
  /// @pre the options are in order  @throws std::bad_alloc, std::system_error
  GemtcDevice(const gemtc_options& options, unsigned workers);
  GemtcDevice(const GemtcDevice&) = delete;
  GemtcDevice& operator=(const GemtcDevice&) = delete;
  ~GemtcDevice();  ///< waits for what was pushed

  gemtc_code allocate(std::size_t bytes, void*& address);
  gemtc_code free(void* address);
  /// Whether the bytes lie in one block.
  bool has(const void* address, std::size_t bytes);
  gemtc_code push(gemtc_kernel kernel, std::int64_t threads, std::uint64_t id, void* parameters);
  gemtc_code poll(std::int64_t wait_ns, gemtc_result& result);
  /// @return null: none of this number
  gemtc_kernel kernel(std::uint32_t number) const { return number < kernels_.size() ? kernels_[number] : nullptr; }

 private:
  struct Task {
    gemtc_kernel kernel = nullptr;
    std::int64_t threads = 0;
    gemtc_result result{};
    std::mutex mutex;  ///< guards what is in `result` of failures, while it is computed
    std::list<Task>::iterator self{};
  };
  struct FreeMemory {
    void operator()(std::byte* first) const;
  };
  static std::uint64_t compute(std::uint64_t task, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                               std::uint64_t end);
  void end(Task& task, bool is_lost);

  const std::vector<gemtc_kernel> kernels_;
  const std::size_t task_limit_;
  const std::unique_ptr<std::byte, FreeMemory> memory_;
  std::mutex memory_mutex_;  ///< guards the next two
  Arena arena_;
  struct Block {
    Arena::Block* block = nullptr;
    std::size_t bytes = 0;  ///< that were asked for
  };
  std::map<std::uint64_t, Block> blocks_;  ///< by address
  std::mutex mutex_;                       ///< guards the next four
  std::condition_variable changed_;        ///< a task has ended
  std::list<Task> under_way_, ended_;      ///< in the order of their ends
  std::size_t waiting_ = 0;                ///< who polls
  ThreadKernel threads_;                   ///< last: its threads use all of the above
};

}  // namespace raddle::gpu
