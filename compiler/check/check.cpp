#include "compiler/check/check.hpp"

#include "compiler/check/builtin_signatures.hpp"
#include "compiler/assignment/check_assignment.hpp"
#include "compiler/check/check_expression.hpp"
#include "compiler/check/check_functions.hpp"
#include "compiler/check/check_statement.hpp"
#include "compiler/check/declare.hpp"
#include "compiler/check/rank_users.hpp"
#include "compiler/check/resolve_types.hpp"
#include "compiler/shapes/check_shapes.hpp"

namespace raddle {

CheckedProgram check(std::vector<std::unique_ptr<ast::Module>> modules, const SourceMap& sources,
                     Diagnostics& diagnostics, const CheckOptions& options) {
  CheckedProgram program;
  program.modules = std::move(modules);
  check_detail::Context context{.program = program, .sources = sources, .diagnostics = diagnostics, .options = options};
  if (!program.modules.empty()) context.main_file = program.modules.back()->file;
  check_detail::declare_types(context);
  check_detail::declare_functions(context);
  check_detail::declare_builtins(context);
  check_detail::declare_constants(context);
  check_detail::check_default_values(context);
  check_detail::check_pragmas(context);
  for (const auto& module : program.modules) {
    check_detail::Scopes scopes(context, false);
    check_detail::StatementChecker(context, scopes).statements(module->statements);
  }
  check_detail::check_function_bodies(context);
  check_detail::check_arguments_read(context);
  check_detail::find_rank_users(context);
  check_detail::check_assignment(context);
  check_detail::check_shapes(context);
  return program;
}

}  // namespace raddle
