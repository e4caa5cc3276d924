#pragma once
#include <signal.h>

namespace raddle::vm {

/// Blocks signals for the calling thread, and for threads that it starts meanwhile: they are for those of the tool.
/// But for SIGCHLD: what the parent of a program blocks is kept, though nobody listens, and another thread is woken at
/// each end to drop it. And but for SIGSEGV and SIGBUS: these are the thread's own, and may be served, or told
/// (vm/memory/page_faults.hpp, mapped_file.hpp).
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace raddle::vm
