#include "vm/foreign/open_call.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "vm/foreign/crash_notice.hpp"

namespace raddle::vm {

namespace {

thread_local OpenCall* innermost = nullptr;

std::mutex known_mutex;  // guards what follows
std::vector<const ForeignFunction*> known;

std::atomic<pid_t> watched_process = 0;  // relaxed: set before code of the script's runs

std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Whether a frame is of one of the C functions that are known.
void look_at(const Dl_info& frame, std::optional<RunningCode>& found) {
  const std::string_view file = name_of_file(frame.dli_fname);
  for (const ForeignFunction* function : known) {
    if (function->kind != ForeignKind::library || name_of_file(function->library) != file) continue;
    const bool is_it = frame.dli_sname != nullptr && function->code == frame.dli_sname;
    if (is_it || (!found && !file.starts_with("libc.so"))) found = RunningCode{function, is_it};
    if (is_it) return;
  }
}

/// Comes back if it is nobody's of the script's, or in a forked process.
void on_exit_call(const char* name, int code) {
  if (getpid() != watched_process.load(std::memory_order_relaxed)) return;
  OpenCall* const call = OpenCall::of_thread();
  if (call != nullptr && call->can_leave()) call->leave(fmt::format("{}({})", name, code));
  if (const auto running = running_code()) end_by_exit(*running, name, code);
}

template <typename Function>
Function* function_of_libc(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

[[noreturn]] void end_now(int code) {
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace

OpenCall::OpenCall(const ForeignFunction& function) : function_(function), around_(innermost) { innermost = this; }
OpenCall::~OpenCall() { innermost = around_; }
OpenCall* OpenCall::of_thread() { return innermost; }

void OpenCall::leave(std::string called) {
  left_by_ = std::move(called);
  longjmp(start_, 1);
}

std::string OpenCall::error() const {
  return fmt::format("`{}` has called `{}`, which would end the run", function_.name, left_by_);
}

KnownFunction::KnownFunction(const ForeignFunction& function) : function_(function) {
  const std::lock_guard lock(known_mutex);
  known.push_back(&function);
}

KnownFunction::~KnownFunction() {
  const std::lock_guard lock(known_mutex);
  known.erase(std::ranges::find(known, &function_));
}

std::optional<RunningCode> running_code() {
  if (const OpenCall* const call = OpenCall::of_thread()) return RunningCode{&call->function(), true};
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const std::unique_lock lock(known_mutex, std::try_to_lock);
  std::optional<RunningCode> found;
  for (int i = 0; lock && i < count && !(found && found->is_certain); ++i)
    if (Dl_info frame; dladdr(frames[i], &frame) != 0 && frame.dli_fname != nullptr) look_at(frame, found);
  return found;
}

void watch_exits() {
  void* frame;
  backtrace(&frame, 1);  // it loads a library at its first call
  watched_process.store(getpid(), std::memory_order_relaxed);
}

}  // namespace raddle::vm

// In the place of those of the C library: Note [exits] in open_call.hpp.
extern "C" {

void exit(int code) noexcept {
  raddle::vm::on_exit_call("exit", code);
  raddle::vm::function_of_libc<void(int)>("exit")(code);
  raddle::vm::end_now(code);
}

void quick_exit(int code) noexcept {
  raddle::vm::on_exit_call("quick_exit", code);
  raddle::vm::function_of_libc<void(int)>("quick_exit")(code);
  raddle::vm::end_now(code);
}

void _exit(int code) {
  raddle::vm::on_exit_call("_exit", code);
  raddle::vm::function_of_libc<void(int)>("_exit")(code);
  raddle::vm::end_now(code);
}

void _Exit(int code) noexcept {
  raddle::vm::on_exit_call("_Exit", code);
  raddle::vm::function_of_libc<void(int)>("_exit")(code);
  raddle::vm::end_now(code);
}

void pthread_exit(void* result) {
  raddle::vm::OpenCall* const call = raddle::vm::OpenCall::of_thread();
  if (call != nullptr && call->can_leave()) call->leave("pthread_exit");
  raddle::vm::function_of_libc<void(void*)>("pthread_exit")(result);
  for (;;) pause();
}
}
