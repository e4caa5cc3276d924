#include "compiler/driver/commands.hpp"
#include "compiler/driver/compile.hpp"

namespace raddle::driver {

int check_script(Session& session, Script script) {
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  compile(session, file);
  return session.print_diagnostics() ? exit_compile_error : exit_ok;
}

}  // namespace raddle::driver
