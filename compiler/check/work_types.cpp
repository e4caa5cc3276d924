#include "compiler/check/work_types.hpp"

#include <algorithm>
#include <cctype>

namespace raddle::check_detail {

std::string work_type_named(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::vector<std::string> work_types(const CheckedProgram& program) {
  std::vector<std::string> types;
  for (const auto& module : program.modules) {
    for (const ast::Pragma& pragma : module->pragmas) {
      if (pragma.name.text != "worktypedef" || pragma.arguments.size() != 1) continue;
      if (pragma.arguments[0]->kind != ast::ExprKind::Name) continue;
      std::string type = work_type_named(ast::as<ast::Name>(*pragma.arguments[0]).text);
      if (std::ranges::find(types, type) == types.end()) types.push_back(std::move(type));
    }
  }
  return types;
}

}  // namespace raddle::check_detail
