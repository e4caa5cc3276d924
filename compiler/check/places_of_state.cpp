#include "compiler/check/places_of_state.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "compiler/check/annotations.hpp"

namespace raddle::check_detail {

void refuse_places_of_state(Context& context) {
  using Function = const ast::FunctionDefinition*;
  std::unordered_map<Function, std::vector<Function>> callers;
  std::unordered_map<Function, const NotedCall*> keepers;  // functions whose bodies, or what they call, keep state
  std::vector<Function> open;
  for (const NotedCall& call : context.calls) {
    if (call.caller == nullptr) continue;
    if (call.callee != nullptr) callers[call.callee].push_back(call.caller);
    if (!call.state.empty() && keepers.emplace(call.caller, &call).second) open.push_back(call.caller);
  }
  while (!open.empty()) {
    const Function keeper = open.back();
    open.pop_back();
    for (const Function caller : callers[keeper])
      if (keepers.emplace(caller, keepers.at(keeper)).second) open.push_back(caller);
  }
  for (const NotedCall& call : context.calls) {
    const auto inside = keepers.find(call.callee);
    if (call.place == nullptr || (call.state.empty() && inside == keepers.end())) continue;
    const NotedCall& keeper = call.state.empty() ? *inside->second : call;
    const std::string around = &keeper == &call ? "" : fmt::format(" calls `{}`, which", keeper.name);
    context.diagnostics
        .report(DiagnosticKind::not_supported, mark_of(*call.place),
                fmt::format("a place for `{}`, which{} keeps {}", call.name, around, keeper.state))
        .note("any worker may answer each call; let one call do all that shares state");
  }
}

}  // namespace raddle::check_detail
