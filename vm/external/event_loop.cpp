#include "vm/external/event_loop.hpp"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "vm/external/signals_blocked.hpp"

namespace raddle::vm {
namespace {

// libuv fails here only without memory or file descriptors, before anything was started: nothing can go on.
void require(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "internal error: %s: %s\n", what, uv_strerror(status));
  std::abort();
}

}  // namespace

EventLoop::~EventLoop() {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    ending_ = true;
  }
  uv_async_send(&wake_);
  thread_.join();
  require(uv_loop_close(&loop_), "event loop closed with open handles");
}

void EventLoop::begin() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return;
  require(uv_loop_init(&loop_), "event loop");
  wake_.data = this;
  require(uv_async_init(&loop_, &wake_, [](uv_async_t* wake) { static_cast<EventLoop*>(wake->data)->run_tasks(); }),
          "event loop");
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
  } catch (const std::system_error&) {
    uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    require(uv_loop_close(&loop_), "event loop");
    throw;
  }
}

bool EventLoop::has_begun() const {
  const std::lock_guard lock(mutex_);
  return thread_.joinable();
}

void EventLoop::post(std::move_only_function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) uv_async_send(&wake_);  // else the loop was told already and has not looked yet
}

void EventLoop::run_tasks() {
  std::vector<std::move_only_function<void()>> tasks;
  bool ending;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
    ending = ending_;
  }
  for (auto& task : tasks) task();
  // Without this handle uv_run returns as soon as the other handles are closed.
  if (ending && !uv_is_closing(reinterpret_cast<uv_handle_t*>(&wake_))) {
    uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
  }
}

}  // namespace raddle::vm
