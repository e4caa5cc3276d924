#include "compiler/tool/executable/make_library_kernels.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/appkernel/clang_compiler.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::tool {

int make_library_kernels(const char* folder) {
  Session session;
  const std::uint32_t file = session.sources.add("kernels.df", std::string(stdlib::module_source("kernels")));
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) {
    session.print_diagnostics();
    return exit_internal;
  }
  const vm::Program program = emit_program(compilation->module);
  for (const vm::ForeignFunction& function : program.foreigns) {
    const std::string problem = appkernel::make_library_code(function, folder);
    if (problem.empty()) continue;
    warn(problem);
    return exit_internal;
  }
  return exit_ok;
}

}  // namespace raddle::tool
