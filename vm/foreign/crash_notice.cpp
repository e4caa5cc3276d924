#include "vm/foreign/crash_notice.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "vm/memory/mapped_file.hpp"
#include "vm/memory/page_faults.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::time_t longest_keeping_s = 3;
constexpr int code_of_failure = 1;

std::array<struct sigaction, faults.size()> before;  // of each; written once, before the handler is there
pid_t teller = 0;
std::atomic<pid_t> ending = 0;  // the first thread that ends the process: it tells, others wait for that
std::atomic<PlaceWriter> place_writer = nullptr;

/// Who ends the process posts `asked`, and waits for `kept`, which the keeping thread posts.
sem_t asked, kept;
std::mutex keeper_mutex;  // guards the next two; held while `keeper` is called, so that it is there meanwhile
std::function<void()> keeper;
bool is_telling = false;               // tell_of_crashes() has been called
std::atomic<bool> is_keeping = false;  // the thread is there; set once, under the mutex

/// Of one message. Allocates nothing: the heap may be what has been damaged.
class Message {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const auto written =
        fmt::format_to_n(text_.data() + size_, text_.size() - size_, format, std::forward<Arguments>(arguments)...);
    size_ += std::min(written.size, text_.size() - size_);
  }
  /// "a.df:3:1: error: ", or "raddle: " where places can not be told.
  void add_beginning(const Place& place) {
    const PlaceWriter writer = place_writer.load(std::memory_order_acquire);
    const std::size_t written = writer == nullptr ? 0 : writer(place, text_.data(), text_.size());
    size_ = std::min(written, text_.size());
    add("{}", written == 0 ? "raddle: " : ": error: ");
  }
  void write() const { write_all(STDERR_FILENO, {text_.data(), size_}); }

 private:
  std::array<char, 2048> text_;
  std::size_t size_ = 0;
};

/// "a.df:1:30: error: `f` of `./fill.so`"
void add_code(Message& message, const RunningCode& running) {
  const ForeignFunction& function = *running.function;
  message.add_beginning(function.place);
  if (!running.is_certain)
    message.add("code of `{}`, where `{}` is from,", function.library, function.name);
  else if (function.kind == ForeignKind::library || function.kind == ForeignKind::app_kernel)
    message.add("`{}` of `{}`", function.name, function.library);
  else
    message.add("`{}`", function.name);
}

void add_help(Message& message, const RunningCode& running) {
  if (running.function->kind == ForeignKind::library)
    message.add(
        "  = help: with `@isolate` before `@library` each call has a process of its own, and its end is an "
        "error of that call\n");
}

void* program_counter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(machine.pc);
#else
  return nullptr;
#endif
}

/// The fault is where the stack ends.
bool is_overflow(int signal, const siginfo_t& info, const void* context) {
  if (signal != SIGSEGV || info.si_code <= 0) return false;
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto stack = static_cast<std::uintptr_t>(machine.sp);
#endif
  constexpr std::uintptr_t near = 1 << 16;
  const auto at = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return at + near > stack && at < stack + near;
}

/// @return whether it is code outside of the script
bool tell_fault(int signal, const siginfo_t& info, const void* context) {
  const char* const help = is_overflow(signal, info, context)
                               ? ": its stack is full, by a recursion without end or by large arrays on it"
                               : "";
  Message message;
  if (const auto running = running_code()) {
    add_code(message, *running);
    message.add(" has ended the run: {}{} [run_time]\n", sigdescr_np(signal), help);
    add_help(message, *running);
    message.write();
    return true;
  }
  Dl_info own, where;
  const bool is_in_c = info.si_code > 0 && dladdr(reinterpret_cast<void*>(&tell_fault), &own) != 0 &&
                       dladdr(program_counter(context), &where) != 0 && where.dli_fbase != own.dli_fbase;
  if (!is_in_c) return false;
  constexpr std::string_view app_kernel = "raddle_kernel_";  // appkernel::call_symbol(): its file is in memory
  if (where.dli_sname && std::string_view(where.dli_sname).starts_with(app_kernel))
    message.add("raddle: {} in the AppKernel `{}`{}\n", sigdescr_np(signal), where.dli_sname + app_kernel.size(), help);
  else
    message.add("raddle: {} in {}{}{}`{}`{}\n", sigdescr_np(signal), where.dli_sname ? "`" : "",
                where.dli_sname ? where.dli_sname : "", where.dli_sname ? "` of " : "",
                where.dli_fname ? where.dli_fname : "", help);
  message.write();
  return true;
}

/// By one thread at most.
void keep_what_is_done() {
  if (!is_keeping.load(std::memory_order_acquire)) return;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += longest_keeping_s;
  sem_post(&asked);
  while (sem_timedwait(&kept, &until) != 0 && errno == EINTR) continue;
}

/// @return whether the calling thread is the first; else another one ends the process meanwhile
bool begin_ending() {
  pid_t first = 0;
  const bool is_first = ending.compare_exchange_strong(first, gettid());
  while (!is_first && first != gettid()) pause();
  return is_first;
}

[[noreturn]] void end_process() {
  for (;;) syscall(SYS_exit_group, code_of_failure);  // `_exit` would be taken for the code's own call
}

void tell_lost_file(const char* path) {
  Message message;
  message.add(
      "raddle: `{}` was cut short while its numbers were in use: what is read may be replaced, not written to\n", path);
  message.write();
  keep_what_is_done();
  if (before[std::ranges::find(faults, SIGBUS) - faults.begin()].sa_handler == SIG_DFL) end_process();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (serve_page_fault(signal, *info, context)) return;
  const bool is_first = getpid() == teller && begin_ending();               // and no forked process
  const bool is_by_itself = info->si_code > 0 || info->si_pid == getpid();  // else somebody else has sent it
  if (const char* const path = lost_file(signal, *info); path && is_first)
    tell_lost_file(path);
  else if (is_first && is_by_itself && tell_fault(signal, *info, context))
    keep_what_is_done();
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (faults[i] == signal) sigaction(signal, &before[i], nullptr);
  if (info->si_code <= 0) raise(signal);  // it was sent; a fault comes again by itself
}

[[noreturn]] void end_at_once(const Message& message) {
  if (begin_ending()) {
    message.write();
    keep_what_is_done();
  }
  end_process();
}

void keep_in_thread() {
  while (sem_wait(&asked) != 0) continue;
  {
    const std::lock_guard lock(keeper_mutex);
    if (keeper) keeper();
  }
  sem_post(&kept);
}

/// As soon as there is code that may crash, and something to be kept. With keeper_mutex held.
void start_keeping() {
  if (!is_telling || !keeper || is_keeping.load(std::memory_order_relaxed)) return;
  sem_init(&asked, 0, 0);
  sem_init(&kept, 0, 0);
  sigset_t all, own;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);                  // a fault is the thread's own: see page_faults.hpp
  pthread_sigmask(SIG_SETMASK, &all, &own);  // signals are for other threads
  try {
    std::thread(keep_in_thread).detach();
    is_keeping.store(true, std::memory_order_release);
  } catch (const std::system_error&) {  // no thread: then nothing is kept
  }
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
}

}  // namespace

void tell_of_crashes() {
  static std::once_flag once;
  std::call_once(once, [] {
    teller = getpid();
    watch_exits();
    {
      const std::lock_guard lock(keeper_mutex);
      is_telling = true;
      start_keeping();
    }
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      sigaction(faults[i], nullptr, &before[i]);
      sigaction(faults[i], &action, nullptr);
    }
  });
}

void tell_places_by(PlaceWriter writer) { place_writer.store(writer, std::memory_order_release); }

CrashKeeper::CrashKeeper(std::function<void()> keep) {
  const std::lock_guard lock(keeper_mutex);
  keeper = std::move(keep);
  start_keeping();
}

CrashKeeper::~CrashKeeper() {
  const std::lock_guard lock(keeper_mutex);
  keeper = nullptr;
}

void end_by_exit(const RunningCode& running, const char* name, int code) {
  Message message;
  add_code(message, running);
  message.add(" has ended the run: it has called `{}({})` [run_time]\n", name, code);
  add_help(message, running);
  end_at_once(message);
}

void end_by_foreign_exception(const char* text) {
  const auto running = running_code();
  if (getpid() != teller || !running) return;
  Message message;
  add_code(message, *running);
  message.add(" has ended the run: an exception that it did not catch: {} [run_time]\n", text);
  add_help(message, *running);
  end_at_once(message);
}

}  // namespace raddle::vm
