#include "vm/foreign/crash_notice.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, faults.size()> before;  // of each; written once, before the handler is there
pid_t teller = 0;
std::atomic<pid_t> ending = 0;  // the first thread that got one; it ends the process, others wait for that

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

/// Allocates nothing: the heap may be what has been damaged. @pre `where` is in a library
void tell(int signal, const Dl_info& where) {
  std::array<char, 1024> text;
  const std::string_view file = where.dli_fname != nullptr ? where.dli_fname : "";
  if (file.starts_with("/proc/self/fd/")) {  // its code has no file of its own
    const auto written = fmt::format_to_n(text.data(), text.size(), "raddle: {} in an AppKernel{}{}{}\n",
                                          sigdescr_np(signal), where.dli_sname ? ": `" : "",
                                          where.dli_sname ? where.dli_sname : "", where.dli_sname ? "`" : "");
    write_all(STDERR_FILENO, {text.data(), std::min(written.size, text.size())});
    return;
  }
  const auto written =
      fmt::format_to_n(text.data(), text.size(),
                       "raddle: {} in {}{}{}`{}`\n  = help: with `@isolate` before `@library` each call has a process "
                       "of its own, and its "
                       "crash is an error of that call\n",
                       sigdescr_np(signal), where.dli_sname ? "`" : "", where.dli_sname ? where.dli_sname : "",
                       where.dli_sname ? "` of " : "", file);
  write_all(STDERR_FILENO, {text.data(), std::min(written.size, text.size())});
}

void on_fault(int signal, siginfo_t* info, void* context) {
  pid_t first = 0;
  const bool is_first = ending.compare_exchange_strong(first, gettid());
  while (!is_first && first != gettid()) pause();
  Dl_info own, where;
  const bool is_in_c = dladdr(reinterpret_cast<void*>(&on_fault), &own) != 0 &&
                       dladdr(program_counter(context), &where) != 0 && where.dli_fbase != own.dli_fbase;
  if (is_first && getpid() == teller && info->si_code > 0 && is_in_c) tell(signal, where);
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (faults[i] == signal) sigaction(signal, &before[i], nullptr);
  if (info->si_code <= 0) raise(signal);  // somebody has sent it; a fault comes again by itself
}

}  // namespace

void tell_of_crashes() {
  static std::once_flag once;
  std::call_once(once, [] {
    teller = getpid();
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      sigaction(faults[i], nullptr, &before[i]);
      sigaction(faults[i], &action, nullptr);
    }
  });
}

}  // namespace raddle::vm
