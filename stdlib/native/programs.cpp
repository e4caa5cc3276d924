#include "stdlib/native/programs.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "stdlib/native/output.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::stdlib::native {
namespace {

std::string read_all(int fd) {
  std::string text;
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t count = pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (count > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

int shell_exit_code(const vm::ProcessResult& result) {
  if (!result.start_error.empty()) {
    return result.start_error == vm::error_text(ENOENT) ? exit_not_found : exit_not_executable;
  }
  if (result.timed_out) return exit_timeout;
  return result.signal != 0 ? exit_signal + result.signal : result.exit_code;
}

Result start_program(Call call, vm::ProcessRequest request,
                     std::function<vm::BuiltinOutcome(const vm::ProcessResult&)> finish) {
  flush_output();
  request.environment = call.host->outside().environment_of(call.host->rank());
  call.host->outside().processes().spawn(
      std::move(request), [end = call.host->end_later(), finish = std::move(finish)](const vm::ProcessResult& result) {
        end(finish(result), vm::RankWish::any);
      });
  return {};
}

// Into memory that has a name, so that a program which others have started in the background can keep it open.
Result start_and_capture(Call call, std::vector<std::string> words,
                         std::function<vm::BuiltinOutcome(const vm::ProcessResult&, std::string output)> finish) {
  const auto output = std::make_shared<vm::FileDescriptor>(memfd_create("output", MFD_CLOEXEC));
  if (output->get() < 0) return fail("no memory for the program's output: " + vm::error_text(errno));
  vm::ProcessRequest request;
  request.words = std::move(words);
  request.stdout_path = fmt::format("/proc/self/fd/{}", output->get());
  return start_program(call, std::move(request), [output, finish = std::move(finish)](const vm::ProcessResult& result) {
    return finish(result, read_all(output->get()));
  });
}

}  // namespace raddle::stdlib::native
