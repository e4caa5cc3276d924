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

#include "gpu/gemtc/place.hpp"
#include "gpu/memory/arena.hpp"

namespace raddle::gpu {

/// Its memory is a block of its place's, of which a host map says which parts are taken: nothing is noted in it. Tasks
/// that have ended wait in a list which is as long as it needs to be, since no more tasks are taken than `task_limit`:
/// so none is lost, and no worker waits for whoever polls. Threads: any.
class GemtcDevice {
 public:
  /// @param options  the place's
  GemtcDevice(const gemtc_options& options, std::unique_ptr<GemtcPlace> place);
  GemtcDevice(const GemtcDevice&) = delete;
  GemtcDevice& operator=(const GemtcDevice&) = delete;
  ~GemtcDevice();  ///< waits for what was pushed

  gemtc_code allocate(std::size_t bytes, void*& address);
  gemtc_code free(void* address);
  /// Whether the bytes lie in one block.
  bool has(const void* address, std::size_t bytes);
  /// @pre both lie in one block, or on the host
  gemtc_code copy_in(void* to, const void* from, std::size_t bytes) { return place_->copy_in(to, from, bytes); }
  gemtc_code copy_out(void* to, const void* from, std::size_t bytes) { return place_->copy_out(to, from, bytes); }
  gemtc_code push(std::uint32_t kernel, std::int64_t threads, std::uint64_t id, void* parameters);
  gemtc_code poll(std::int64_t wait_ns, gemtc_result& result);
  std::uint32_t kernel_count() const { return kernel_count_; }
  std::int64_t most_threads() const { return place_->most_threads(); }

 private:
  struct Task : GemtcTask {
    std::list<Task>::iterator self{};
  };
  void end(Task& task);

  const std::uint32_t kernel_count_;
  const std::size_t task_limit_;
  std::mutex memory_mutex_;  ///< guards the next two
  Arena arena_;
  struct Block {
    Arena::Block* block = nullptr;
    std::size_t bytes = 0;  ///< that were asked for
  };
  std::map<std::uint64_t, Block> blocks_;    ///< by address
  std::mutex mutex_;                         ///< guards the next four
  std::condition_variable changed_;          ///< a task has ended
  std::list<Task> under_way_, ended_;        ///< in the order of their ends
  std::size_t waiting_ = 0;                  ///< who polls
  const std::unique_ptr<GemtcPlace> place_;  ///< last: its threads use all of the above
};

}  // namespace raddle::gpu
