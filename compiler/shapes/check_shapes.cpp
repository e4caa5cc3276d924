#include "compiler/shapes/check_shapes.hpp"

#include <unordered_set>

#include "compiler/shapes/shape_checker.hpp"

// Note [sure]. A statement of the script is surely done unless it stands in a branch, or in a loop that may have no
// iterations. A function is surely called if a statement that is surely done calls it. What is surely done and does not
// fit makes each run fail: an error. All else is a warning, as a script is right that never comes there.

namespace raddle::check_detail {

void check_shapes(Context& context) {
  if (context.diagnostics.has_errors()) return;
  const std::size_t reported_before = context.diagnostics.all().size();
  KnownShapes known(context);
  ShapeChecker checker(context, known);
  const bool is_session = context.options.piece != nullptr;
  const auto is_own = [&](const ast::Module& module) {
    return is_session ? module.file == context.main_file : !context.sources.at(module.file).is_of_library();
  };
  for (const auto& module : context.program.modules)
    if (is_own(*module)) checker.statements(module->statements, Certainty::sure);
  std::unordered_set<const ast::FunctionDefinition*> done;
  const auto check_body = [&](const ast::FunctionDefinition& function, Certainty certainty) {
    if (function.block == nullptr || !done.insert(&function).second) return;
    checker.statements(*function.block, certainty);
  };
  if (context.program.main_function)
    check_body(*context.program.functions[*context.program.main_function].definition, Certainty::sure);
  for (std::size_t next = 0; next < checker.called().size(); ++next)
    check_body(*checker.called()[next], Certainty::sure);
  for (const auto& module : context.program.modules) {
    if (!is_own(*module)) continue;
    for (const auto& function : module->functions) check_body(*function, Certainty::possible);
  }
  context.diagnostics.order_by_position(reported_before);
}

}  // namespace raddle::check_detail
