#include "compiler/driver/kept_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "vm/value/temporaries.hpp"

namespace raddle::driver {

namespace {

/// A file without a name.
int open_nameless() {
  std::string path = vm::temporary_folder() + "/raddle-output-XXXXXX";
  const int opened = mkostemp(path.data(), O_APPEND | O_CLOEXEC);
  if (opened >= 0) unlink(path.c_str());
  return opened;
}

}  // namespace

KeptOutput::KeptOutput() : file_(open_nameless()), earlier_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (file_.get() < 0 || earlier_.get() < 0 || std::fflush(stdout) != 0 || dup2(file_.get(), STDOUT_FILENO) < 0)
    throw std::system_error(errno, std::generic_category(), "the script's output can not be kept for --json");
}

std::string KeptOutput::end() {
  if (std::exchange(has_ended_, true)) return "";
  std::fflush(stdout);
  dup2(earlier_.get(), STDOUT_FILENO);
  const std::uint64_t size = vm::size_of(file_);
  return vm::end_of(file_, size, size);
}

}  // namespace raddle::driver
