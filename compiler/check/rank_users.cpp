#include "compiler/check/rank_users.hpp"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace raddle::check_detail {

void find_rank_users(Context& context) {
  using Function = const ast::FunctionDefinition*;
  std::unordered_map<Function, std::vector<Function>> callers;
  std::unordered_set<Function> users;
  std::vector<Function> open;
  const auto add = [&](Function user) {
    if (user != nullptr && users.insert(user).second) open.push_back(user);
  };
  for (const NotedCall& call : context.calls) {
    if (call.callee != nullptr) callers[call.callee].push_back(call.caller);
    if (call.uses_rank) {
      add(call.callee);
      add(call.caller);
    }
  }
  while (!open.empty()) {
    const Function user = open.back();
    open.pop_back();
    for (const Function caller : callers[user]) add(caller);
  }
  for (CheckedFunction& function : context.program.functions) function.uses_rank = users.contains(function.definition);
}

}  // namespace raddle::check_detail
