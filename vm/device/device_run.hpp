#pragma once
// What devices have under way for a run.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "vm/device/devices.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// Shared with the devices' callbacks, which may come after the run has ended: then they find no pool. Threads: any.
struct DeviceRun {
  explicit DeviceRun(WorkerPool& pool) : pool(&pool) {}
  /// The run has ended: what is under way is dropped, and waited for. Before its tasks are freed.
  void close();
  /// It has not.
  bool is_wanted();
  /// Something is given to a device; end() is to follow.
  void begin();
  /// From here on workers have the tasks, one for each begin(), and what they point to. @pre the mutex is not held
  void end(TaskBatch tasks);
  /// @pre the mutex is held, here and below. The task waits for the devices to say something. @param waiting  chained
  /// by Task::next, each with a hold of the pool
  void keep(Task& task, Task*& waiting);
  /// Injects them all, unless the run has ended.
  void release(Task*& waiting);

  raddle_leaf_worker run{};  ///< stack_limit: relaxed atomic, by close()
  mutable std::mutex mutex;  ///< guards all below
  std::condition_variable ended;
  WorkerPool* pool;  ///< not changed, and read without the mutex, as long as something is under way
  /// Without the mutex. begin() comes before close(): relaxed. Who ends the last one (acq_rel) tells, under the mutex,
  /// so that close() does not miss it, and touches the pool no more.
  std::atomic<std::size_t> under_way{0};
};

}  // namespace raddle::vm
