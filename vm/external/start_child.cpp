#include "vm/external/start_child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "vm/external/program_watcher.hpp"
#include "vm/external/signals_blocked.hpp"
#include "vm/value/environment.hpp"

// glibc's own, by names that ThreadSanitizer does not replace: it would take the child for a fork, and what the child
// does to its signals and descriptors for something that we do to ours. Nor may it look at functions of the child.
extern "C" {
int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);
int __sigaction(int signal, const struct sigaction* action, struct sigaction* before);
int __dup2(int fd, int target);
}

namespace raddle::vm {
namespace {

// The environment with the additions in place of entries of the same name. `storage` owns the new texts.
std::vector<char*> environment_of(const ChildStart& start, std::vector<std::string>& storage) {
  std::vector<char*> entries;
  for (const auto& [name, value] : start.environment) storage.push_back(name + "=" + value);
  const auto is_replaced = [&](const char* entry) {
    for (const auto& [name, value] : start.environment) {
      if (std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=') return true;
    }
    return false;
  };
  for (char* const entry : environment()) {
    if (!is_replaced(entry)) entries.push_back(entry);
  }
  for (std::string& entry : storage) entries.push_back(entry.data());
  entries.push_back(nullptr);
  return entries;
}

// What the child needs, made before: there it must not allocate.
struct ChildPlan {
  char* const* words;
  char* const* environment;
  int fds[5];
  pid_t parent;
  std::optional<int> terminal;  // as in ChildStart
  const cpu_set_t* cores;
  bool outlives_us;
  WatchedLine* watched;    // null: none
  volatile int error = 0;  // written by the child: what failed
};

// A handler of ours must not run in the child, which shares our memory; ignored signals stay ignored (nohup), but
// for those that the run itself may ignore: SIGPIPE, which filters rely on, and SIGXFSZ.
[[gnu::no_sanitize("thread")]] void reset_handlers() {
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action;
    if (__sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_DFL) continue;
    if (action.sa_handler == SIG_IGN && signal != SIGPIPE && signal != SIGXFSZ) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    __sigaction(signal, &action, nullptr);
  }
}

// What was sent to our process group, by Ctrl-C for example, before the child had one of its own, is not the child's:
// while a signal is ignored, one that waits is dropped.
[[gnu::no_sanitize("thread")]] void drop_pending_signals() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return;
  for (int signal = 1; signal < 32; ++signal) {
    if (sigismember(&pending, signal) != 1) continue;
    struct sigaction ignored = {}, before;
    ignored.sa_handler = SIG_IGN;
    if (__sigaction(signal, &ignored, &before) == 0) __sigaction(signal, &before, nullptr);
  }
}

// Keys of the terminal that controls us are for whoever waits for the run. A new session is the sure way; on a system
// with autogroup scheduling it costs the making and the removal of a scheduling group, 10 us of 250 for /bin/true.
[[gnu::no_sanitize("thread")]] void leave_terminal(std::optional<int> terminal) {
  const bool has_left = terminal && (*terminal < 0 || syscall(SYS_ioctl, *terminal, TIOCNOTTY) == 0);
  if (has_left)
    setpgid(0, 0);
  else
    setsid();
}

// Runs in the child, in the parent's memory: system calls only. @return the errno of what failed
[[gnu::no_sanitize("thread")]] int become_program(const ChildPlan& plan) {
  leave_terminal(plan.terminal);
  drop_pending_signals();
  if (plan.watched != nullptr) plan.watched->set(getpid());
  if (!plan.outlives_us) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) return ESRCH;   // the parent died before prctl
  for (int target = 0; target < 5; ++target) {  // none of them is 0, 1 or 2
    const int fd = plan.fds[target];
    if (fd >= 0 && (fd == target ? fcntl(fd, F_SETFD, 0) : __dup2(fd, target)) < 0) return errno;
  }
  if (plan.cores) syscall(SYS_sched_setaffinity, 0, sizeof *plan.cores, plan.cores);
  reset_handlers();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(plan.words[0], plan.words, plan.environment);
  return errno;
}

// A function, no lambda: AddressSanitizer would look at the stack of a lambda that does not return, which it does not
// know.
[[gnu::no_sanitize("thread")]] int run_child(void* argument) {
  auto& plan = *static_cast<ChildPlan*>(argument);
  plan.error = become_program(plan);
  for (;;) syscall(SYS_exit_group, 127);  // _exit, past the tools that would take it for the end of ours
}

// As vfork, which tools that watch memory replace by fork: the child borrows our memory, and this thread sleeps until
// it has become the program or has ended. The child has a stack of its own.
std::expected<pid_t, int> fork_and_exec(ChildPlan& plan, std::size_t word_count) {
  // exec looks through PATH and, for a script without `#!`, copies the words, both on the stack.
  const std::size_t stack_size = 64 * 1024 + word_count * sizeof(char*);
  const auto stack = std::make_unique_for_overwrite<char[]>(stack_size);
  const auto top = reinterpret_cast<std::uintptr_t>(stack.get() + stack_size) & ~std::uintptr_t{63};
  plan.error = 0;
  const pid_t child = __clone(run_child, reinterpret_cast<void*>(top), CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
  if (child < 0) return std::unexpected(errno);
  if (plan.error == 0) return child;
  waitpid(child, nullptr, 0);
  return std::unexpected(plan.error);
}

}  // namespace

std::expected<pid_t, int> start_child(const ChildStart& start) {
  std::vector<char*> words;
  for (const std::string& word : start.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<std::string> storage;
  const std::vector<char*> entries = environment_of(start, storage);
  ChildPlan plan{words.data(),
                 entries.data(),
                 {start.stdin_fd, start.stdout_fd, start.stderr_fd, start.answer_fd, start.memory_fd},
                 getpid(),
                 start.terminal,
                 start.cores,
                 start.outlives_us,
                 start.outlives_us ? nullptr : watched_line()};
  const SignalsBlocked blocked;
  std::expected<pid_t, int> child = fork_and_exec(plan, start.words.size());
  // A program just written may still be open for writing in a child of another thread, between its fork and exec.
  for (int attempt = 0; attempt < 6 && !child && child.error() == ETXTBSY; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    child = fork_and_exec(plan, start.words.size());
  }
  if (!child && plan.watched != nullptr) plan.watched->clear();
  return child;
}

void child_has_ended() {
  if (WatchedLine* const line = watched_line()) line->clear();
}

}  // namespace raddle::vm
