#pragma once
// A libuv loop on a thread of its own. Only this folder includes libuv.
#include <uv.h>

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace raddle::vm {

class EventLoop {
 public:
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  /// Runs the tasks posted before, waits until every handle is closed, ends the thread. Not on the loop's thread.
  ~EventLoop();

  /// Starts the thread, if that was not done; any thread.
  /// @throws std::system_error without memory, descriptors or a thread
  void begin();
  bool has_begun() const;  ///< any thread
  /// Runs `task` on the loop's thread; any thread, after begin().
  void post(std::move_only_function<void()> task);
  uv_loop_t* loop() { return &loop_; }  ///< for the loop's thread only

 private:
  void run_tasks();  // on the loop's thread

  uv_loop_t loop_{};
  uv_async_t wake_{};         // the only handle of its own
  mutable std::mutex mutex_;  // held for queue operations only, never during a task
  std::vector<std::move_only_function<void()>> tasks_;
  std::thread thread_;
  bool ending_ = false;
};

}  // namespace raddle::vm
