// The `raddle` tool.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/executable/make_library_kernels.hpp"
#include "compiler/tool/main/command_line.hpp"
#include "compiler/tool/process/end_by_exception.hpp"
#include "compiler/tool/process/out_of_memory.hpp"
#include "compiler/tool/process/stack_room.hpp"
#include "gpu/server/driver_server.hpp"
#include "gpu/server/message.hpp"
#include "vm/foreign/tcl_server.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/temporaries.hpp"

namespace {

/// @return whether it was a thread that could not be started
bool tell_of_threads(const std::system_error& error) {
  if (error.code() != std::errc::resource_unavailable_try_again) return false;
  raddle::vm::print_stderr("raddle: no thread could be started: the system allows no more (ulimit -u)\n");
  return true;
}

/// A standard stream that is closed is not to be the next file that is opened: as it is, standard input is empty,
/// standard output can not be written, and what goes to standard error is lost.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)  // the next file gets its number
      static_cast<void>(!open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == raddle::vm::tcl_server_word) return raddle::vm::serve_tcl(argv[2]);
  if (argc == 3 && std::string_view(argv[1]) == raddle::gpu::server_word) return raddle::gpu::serve_driver(argv[2]);
  if (argc == 3 && std::string_view(argv[1]) == raddle::tool::library_kernels_word)
    return raddle::tool::make_library_kernels(argv[2]);
  hold_standard_streams();
  signal(SIGXFSZ, SIG_IGN);  // what is too large for the limit (ulimit -f) is an error of the write, as a full disk is
  raddle::tool::end_where_memory_ends();
  std::set_terminate(raddle::tool::end_by_exception);
  try {
    const int code = raddle::tool::with_stack_room([&] {
      std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
      if (argc > 0 && std::string_view(argv[0]).ends_with("swift-t")) words.insert(words.begin(), "swift-t");
      return raddle::tool::run_command_line(words);
    });
    raddle::vm::remove_temporaries();
    if (code == raddle::tool::exit_broken_pipe) return code;  // it is clear why nothing can be written
    const bool written = raddle::tool::write_output("");
    return code == raddle::tool::exit_ok && !written ? raddle::tool::exit_failed : code;
  } catch (const std::bad_alloc&) {
    raddle::tool::end_out_of_memory();
  } catch (const std::exception& error) {
    const auto* of_system = dynamic_cast<const std::system_error*>(&error);
    if (of_system != nullptr && tell_of_threads(*of_system)) return raddle::tool::exit_failed;
    if (std::ferror(stdout) != 0 && !raddle::tool::write_output("")) return raddle::tool::exit_failed;
    raddle::vm::print_stderr("raddle: internal error: {}\nplease report it with the script that shows it\n",
                             error.what());
    return raddle::tool::exit_internal;
  }
}
