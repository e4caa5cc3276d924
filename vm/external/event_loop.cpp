#include "vm/external/event_loop.hpp"

#include <system_error>

#include "vm/external/cores.hpp"
#include "vm/external/signals_blocked.hpp"

namespace raddle::vm {
namespace {

[[noreturn]] void fail(int status) { throw std::system_error(-status, std::generic_category(), "event loop"); }

}  // namespace

EventLoop::~EventLoop() {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    ending_ = true;
  }
  uv_async_send(&wake_);
  thread_.join();
  uv_loop_close(&loop_);
}

void EventLoop::begin() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return;
  if (const int status = uv_loop_init(&loop_); status != 0) fail(status);
  wake_.data = this;
  const auto woken = [](uv_async_t* wake) { static_cast<EventLoop*>(wake->data)->run_tasks(); };
  if (const int status = uv_async_init(&loop_, &wake_, woken); status != 0) {
    uv_loop_close(&loop_);
    fail(status);
  }
  try {
    const SignalsBlocked blocked;
    const AllCores everywhere;
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
  } catch (const std::system_error&) {
    uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
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
