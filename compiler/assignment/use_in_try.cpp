// `try`: one of its blocks assigns what is assigned. What the first one assigns is seen when all of it is done.
#include <algorithm>

#include "compiler/assignment/use_collector.hpp"

namespace raddle::check_detail {

WriteSet UseCollector::try_(const ast::Try& written) {
  Span word = written.span;
  word.end = word.begin + 3;
  WriteSet body = within({.span = word, .is_try = true}, [&] { return block(*written.body); });
  std::vector<AttemptedVariable>& all = context_.program.attempts[&written];
  for (const auto& [variable, writes] : body.all()) all.push_back(attempted(variable, writes));
  std::ranges::sort(all, {}, &AttemptedVariable::variable);
  WriteSet otherwise = within({.span = word, .is_try = true}, [&] { return block(*written.otherwise); });
  std::vector<WriteSet::Branch> branches;
  branches.push_back({std::move(body), always(), written.body.get()});
  branches.push_back({std::move(otherwise), always(), written.otherwise.get()});
  return WriteSet::either(context_, std::move(branches), word);
}

/// Reports what can not be put off until the block is done.
AttemptedVariable UseCollector::attempted(VariableId variable, const Writes& writes) {
  AttemptedVariable found{.variable = variable, .depth = writes.front().path.size()};
  const auto report = [&](Span at, const std::string& text) -> Diagnostic& {
    return context_.diagnostics.report(DiagnosticKind::bad_try, at, text);
  };
  const std::string& name = context_.variable(variable).name;
  for (const Write& write : writes) {
    const auto is_field = [](const Step& step) { return step.kind == Step::Kind::field; };
    if (std::ranges::any_of(write.path, is_field)) {
      report(write.span, "`" + path_text(context_, variable, write.path) + "` can not be assigned in `try`")
          .note("make the structure in a variable of its own, and assign it whole");
    } else if (write.path.empty()) {
      found.depth = 0;
    } else if (write.path.size() != found.depth && found.depth != 0) {
      report(write.span, "elements of `" + name + "` are assigned by different numbers of indices in one `try`")
          .label(writes.front().span, "another one here");
    }
  }
  found.is_made_there = found.depth != 0 && use_[variable].loop_depth == loops_.size();
  return found;
}

void UseCollector::find_made_in_try() {
  for (auto& [written, all] : context_.program.attempts) {
    const auto& body = as<const ast::Try>(*written).body;
    const auto is_within = [](const ast::Stmt& statement) {
      return [around = statement.span](const auto& use) {
        return use.span.file == around.file && use.span.begin >= around.begin && use.span.end <= around.end;
      };
    };
    for (AttemptedVariable& each : all) {
      const VariableUse& use = use_[each.variable];
      each.is_made_there = each.is_made_there && std::ranges::all_of(use.writes, is_within(*written)) &&
                           std::ranges::any_of(use.reads, is_within(*body));
      if (each.is_made_there) context_.program.collected[body.get()].push_back(each.variable);
    }
  }
}

}  // namespace raddle::check_detail
