#include "compiler/tool/process/stack_room.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <exception>

namespace raddle::tool {

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t needed_bytes = std::size_t{64} << 20;  // its frames are several times as large
#else
constexpr std::size_t needed_bytes = std::size_t{8} << 20;
#endif

/// Of each thread: workers go through nested regions by recursion.
constexpr std::size_t least_bytes = needed_bytes / 8;

void give_threads_room(const rlimit& stack) {
  if (stack.rlim_cur >= least_bytes) return;  // RLIM_INFINITY is the largest number
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, least_bytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

struct Task {
  const std::function<int()>& work;
  sigset_t signals = {};  ///< that the thread blocks
  int code = 0;
  std::exception_ptr failure = {};
};

void* run(void* task) {
  auto& given = *static_cast<Task*>(task);
  pthread_sigmask(SIG_SETMASK, &given.signals, nullptr);
  try {
    given.code = given.work();
  } catch (...) {
    given.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

int with_stack_room(const std::function<int()>& work) {
  rlimit stack = {}, addresses = {};
  const bool has_room =
      getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= needed_bytes;
  // the first thread's stack is no memory yet: where addresses end (ulimit -v) it may find none, which is a crash
  const bool is_reserved = getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY;
  if (has_room && is_reserved) return work();
  if (!has_room) give_threads_room(stack);
  Task task{work};
  // a signal to the process is for the thread that does the work: this one only waits for it
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &task.signals);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread = {};
  const bool runs = pthread_attr_setstacksize(&attributes, needed_bytes) == 0 &&
                    pthread_create(&thread, &attributes, run, &task) == 0;
  pthread_attr_destroy(&attributes);
  if (runs) pthread_join(thread, nullptr);
  pthread_sigmask(SIG_SETMASK, &task.signals, nullptr);
  if (!runs) return work();
  if (task.failure) std::rethrow_exception(task.failure);
  return task.code;
}

}  // namespace raddle::tool
