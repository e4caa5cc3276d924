#include "compiler/tool/command/picture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

int write_picture(const std::string& path, const PictureVerb& verb, bool for_terminal, const sweep::Writing& writing) {
  const bool to_stdout = path.empty() || path == "-";
  if (to_stdout && !for_terminal && isatty(STDOUT_FILENO) != 0)
    return usage_error(fmt::format("this is not for a terminal: raddle {} -o {}", verb.name, verb.example), verb.name);
  const auto written = to_stdout ? sweep::write_to_stdout(writing) : sweep::write_file(path, writing);
  if (written) return exit_ok;
  vm::print_stderr("raddle: {}\n", written.error());
  return exit_failed;
}

}  // namespace raddle::tool
