#include "compiler/tool/run/kept_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "compiler/tool/process/nameless_file.hpp"

namespace raddle::tool {

KeptOutput::KeptOutput() : file_(open_nameless()), earlier_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (!file_ || earlier_.get() < 0 || std::fflush(stdout) != 0 || dup2(file_.get(), STDOUT_FILENO) < 0)
    throw std::system_error(errno, std::generic_category(), "the script's output can not be kept for --json");
}

KeptOutput::Text KeptOutput::end() {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  if (std::exchange(has_ended_, true)) return {};
  std::fflush(stdout);
  dup2(earlier_.get(), STDOUT_FILENO);
  const std::uint64_t size = vm::size_of(file_);
  return {vm::end_of(file_, size, most), size};
}

}  // namespace raddle::tool
