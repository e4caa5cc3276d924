#include "vm/external/event_loop.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace raddle::vm {
namespace {

// libuv fails here only without memory or file descriptors, before anything was started: nothing can go on.
void require(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "internal error: %s: %s\n", what, uv_strerror(status));
  std::abort();
}

/// The kernel's sched_attr, which glibc lacks (and the kernel's header has a second sched_param).
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes), policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};
constexpr std::uint64_t reset_on_fork = 1;

/// The calling thread is run as soon as it is woken, before programs that compute: while it waits for its turn, the
/// processor of a program that has ended is idle. Linux 6.12 and later; elsewhere nothing happens. (Without it 5,000
/// runs of /bin/true took 2.9 s in place of 2.0 where sessions have no scheduling groups of their own.)
void ask_for_short_slices() {
  constexpr std::uint64_t shortest_ns = 100'000;
  SchedulingAttributes own;
  if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER || own.nice < 0)
    return;                    // somebody has said how it is to be run
  own.flags |= reset_on_fork;  // not for the programs
  own.runtime_ns = shortest_ns;
  syscall(SYS_sched_setattr, 0, &own, 0);
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

void EventLoop::post(std::move_only_function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) start();
  if (tasks_.size() == 1) uv_async_send(&wake_);  // else the loop was told already and has not looked yet
}

bool EventLoop::is_started() const {
  const std::lock_guard lock(mutex_);
  return thread_.joinable();
}

bool EventLoop::on_loop_thread() const {
  const std::lock_guard lock(mutex_);
  return std::this_thread::get_id() == thread_.get_id();
}

void EventLoop::start() {
  require(uv_loop_init(&loop_), "event loop");
  wake_.data = this;
  require(uv_async_init(&loop_, &wake_, [](uv_async_t* wake) { static_cast<EventLoop*>(wake->data)->run_tasks(); }),
          "event loop");
  // Signals are for the threads of the driver: the new thread inherits a mask that blocks all. But for SIGCHLD: what
  // the parent of a program blocks is kept, though nobody listens, and another thread is woken at each end to drop it.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGCHLD);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    ask_for_short_slices();
    uv_run(&loop_, UV_RUN_DEFAULT);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
