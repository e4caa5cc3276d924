#include "vm/memory/page_faults.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <cerrno>

#if defined(__aarch64__)
#include <asm/sigcontext.h>
#endif

namespace raddle::vm {

namespace {

PageServer page_server = nullptr;  // written before there are other threads, as the next two
pid_t served_process = 0;
struct sigaction listened_before;

bool was_write(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  constexpr greg_t write_bit = 2;
  return (machine.gregs[REG_ERR] & write_bit) != 0;
#elif defined(__aarch64__)
  constexpr std::uint64_t write_bit = 1 << 6;
  for (const auto* part = reinterpret_cast<const _aarch64_ctx*>(machine.__reserved); part->magic != 0;
       part = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const std::byte*>(part) + part->size))
    if (part->magic == ESR_MAGIC) return (reinterpret_cast<const esr_context*>(part)->esr & write_bit) != 0;
  return false;
#endif
}

void on_page_fault(int signal, siginfo_t* info, void* context) {
  if (serve_page_fault(signal, *info, context)) return;
  sigaction(signal, &listened_before, nullptr);
  if (info->si_code <= 0) raise(signal);  // it was sent; a fault comes again by itself
}

}  // namespace

void serve_page_faults_by(PageServer server) {
  page_server = server;
  served_process = getpid();
  struct sigaction action = {};
  action.sa_sigaction = on_page_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;  // where the stack is full, others are to hear of it
  struct sigaction listens;
  sigaction(SIGSEGV, nullptr, &listens);
  if ((listens.sa_flags & SA_SIGINFO) != 0 && listens.sa_sigaction == on_page_fault) return;
  listened_before = listens;
  sigaction(SIGSEGV, &action, nullptr);
}

bool serve_page_fault(int signal, const siginfo_t& info, const void* context) {
  if (signal != SIGSEGV || info.si_code != SEGV_ACCERR || !page_server || getpid() != served_process) return false;
  const int error = errno;
  const bool is_served = page_server(static_cast<std::byte*>(info.si_addr), was_write(context));
  errno = error;
  return is_served;
}

}  // namespace raddle::vm
