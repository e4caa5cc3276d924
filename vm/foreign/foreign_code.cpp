#include "vm/foreign/foreign_code.hpp"

#include <signal.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "vm/foreign/app_kernel.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/library_function.hpp"

namespace raddle::vm {

void write_output_of_c() {
  if (__fpending(stdout) != 0 && std::fflush(stdout) != 0 && errno == EPIPE) kill(getpid(), SIGPIPE);
}

std::unique_ptr<ForeignCode> make_foreign_code(const ForeignFunction& function, AppKernelCompiler* kernels) {
  if (is_served(function.kind)) return nullptr;
  tell_of_crashes();
  switch (function.kind) {
    case ForeignKind::library:
    case ForeignKind::isolated_library: return std::make_unique<LibraryFunction>(function);
    case ForeignKind::app_kernel: return std::make_unique<AppKernelFunction>(function, kernels);
    case ForeignKind::tcl_template:
    case ForeignKind::tcl_procedure:
    case ForeignKind::python:
    case ForeignKind::r: break;
  }
  return nullptr;
}

}  // namespace raddle::vm
