#include "compiler/check/writes.hpp"

#include <algorithm>

namespace raddle::check_detail {
namespace {

enum class Overlap : std::uint8_t { none, same, part };

bool is_known(const Step& step) { return step.kind != Step::Kind::element || step.variable != ast::no_variable; }

/// How the places of two writes lie to each other; none where only the run can tell.
Overlap overlap(const Path& a, const Path& b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] != b[i] || !is_known(a[i])) return Overlap::none;
  }
  return a.size() == b.size() ? Overlap::same : Overlap::part;
}

Path common_part(const Path& a, const Path& b) { return a.size() < b.size() ? a : b; }

bool has_index(const Path& path) {
  return std::ranges::any_of(path, [](const Step& step) { return step.kind != Step::Kind::field; });
}

void show_condition(Diagnostic& diagnostic, const Write& first, const Write& second) {
  const Write& possible = first.definite ? second : first;
  if (!possible.condition) return;
  diagnostic.label(*possible.condition, possible.is_in_body ? "only in iterations of this" : "only if this is so");
}

/// A row of an array is made by whoever assigns it first, so that it may be whole here and in parts there.
bool is_row(const Write& first, const Write& second) { return has_index(common_part(first.path, second.path)); }

void report_whole_and_part(Context& context, VariableId variable, const Write& first, const Write& second) {
  const std::string whole = path_text(context, variable, common_part(first.path, second.path));
  const bool possible = is_row(first, second) && !(first.definite && second.definite);
  const DiagnosticKind kind =
      possible ? DiagnosticKind::may_be_whole_and_in_parts : DiagnosticKind::assigned_whole_and_in_parts;
  Diagnostic& diagnostic =
      context.diagnostics.report(kind, second.span, whole)
          .label(first.span, first.path.size() < second.path.size() ? "assigned whole here" : "a part is assigned here")
          .note("assign all of it at once, or each part by itself; what adds to an array goes into another one");
  if (possible) show_condition(diagnostic, first, second);
}

void report_overlap(Context& context, VariableId variable, const Write& first, const Write& second, Overlap how) {
  const std::string name = path_text(context, variable, second.path);
  const bool definite = first.definite && second.definite;
  if (how == Overlap::part) {
    report_whole_and_part(context, variable, first, second);
  } else if (has_index(first.path) && definite) {
    context.diagnostics.report(DiagnosticKind::element_assigned_twice, second.span, context.variable(variable).name)
        .label(first.span, "first assignment");
  } else if (definite) {
    context.diagnostics.report(DiagnosticKind::assigned_twice, second.span, name)
        .label(first.span, "first assignment")
        .note("a variable is assigned once: give the second value a name of its own");
  } else {
    Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::may_be_assigned_twice, second.span, name)
                                 .label(first.span, "first assignment");
    show_condition(diagnostic, first, second);
  }
}

std::optional<std::vector<Fact>> both_of(std::optional<std::vector<Fact>> all,
                                         const std::optional<std::vector<Fact>>& more) {
  if (!all || !more) return std::nullopt;
  all->insert(all->end(), more->begin(), more->end());
  return all;
}

std::string key_text(const Context& context, const Step& step, TypeId key_type) {
  if (step.kind != Step::Kind::literal)
    return step.variable == ast::no_variable ? "..." : context.program.variables[step.variable].name;
  return context.store().base(key_type) == TypeStore::string ? "\"" + step.key + "\"" : step.key;
}

}  // namespace

std::string path_text(const Context& context, VariableId variable, const Path& path) {
  std::string text = context.program.variables[variable].name;
  TypeId type = context.program.variables[variable].type;
  for (const Step& step : path) {
    const TypeId base = context.store().base(type);
    if (step.kind == Step::Kind::field && context.store().kind(base) == TypeKind::structure) {
      const StructType::Field& field = context.store().structure(base).fields.at(step.field);
      text += "." + field.name;
      type = field.type;
    } else {
      text += "[" + key_text(context, step, context.store().at(base).key) + "]";
      type = context.store().at(base).element;
    }
  }
  return text;
}

bool lies_in(const Path& part, const Path& whole) {
  return part.size() >= whole.size() && std::equal(whole.begin(), whole.end(), part.begin()) &&
         std::ranges::all_of(whole, is_known);
}

bool is_assigned(const std::vector<Write>& writes, const Path& path, const std::vector<Fact>& known) {
  std::vector<std::vector<Fact>> cases;
  for (const Write& write : writes) {
    if (!lies_in(path, write.path)) continue;
    // one iteration is taken to be there; what may be assigned twice is said to be that, and nothing else
    if (write.definite || write.reported || write.in_one_iteration) return true;
    if (write.only_if) cases.push_back(*write.only_if);
  }
  return one_is_so(std::move(cases), known);
}

std::vector<Write> WriteSet::take(VariableId variable) {
  const auto found = writes_.find(variable);
  if (found == writes_.end()) return {};
  std::vector<Write> taken = std::move(found->second);
  writes_.erase(found);
  return taken;
}

void WriteSet::then(Context& context, WriteSet next) {
  for (auto& [variable, added] : next.writes_) {
    std::vector<Write>& known = writes_[variable];
    const std::size_t before = known.size();
    for (Write& second : added) {
      for (std::size_t i = 0; i < before && !second.reported; ++i) {
        const Overlap how = overlap(known[i].path, second.path);
        if (how == Overlap::none || known[i].reported || context.silenced.contains(variable)) continue;
        const bool may_share = how == Overlap::same || is_row(known[i], second);
        if (may_share && exclude_each_other(known[i].facts, second.facts)) continue;
        report_overlap(context, variable, known[i], second, how);
        second.reported = true;
        // once for all parts; what was only possible may still be sure
        if (how == Overlap::part && known[i].definite && second.definite) known[i].reported = true;
      }
      known.push_back(std::move(second));
    }
  }
}

void WriteSet::report_whole_and_parts(Context& context, const WriteSet& one, WriteSet& other) {
  for (auto& [variable, writes] : other.writes_) {
    const auto found = one.writes_.find(variable);
    if (found == one.writes_.end() || context.silenced.contains(variable)) continue;
    bool is_reported = false;  // once for a variable
    for (Write& write : writes) {
      for (const Write& first : found->second) {
        if (first.reported || overlap(first.path, write.path) != Overlap::part) continue;
        if (is_row(first, write)) continue;
        if (!write.reported && !is_reported) report_overlap(context, variable, first, write, Overlap::part);
        is_reported = write.reported = true;
      }
    }
  }
}

WriteSet WriteSet::either(Context& context, std::vector<Branch> branches, Span condition) {
  for (std::size_t i = 0; i < branches.size(); ++i)
    for (std::size_t j = i + 1; j < branches.size(); ++j)
      report_whole_and_parts(context, branches[i].writes, branches[j].writes);
  const auto writes_definitely = [](const WriteSet& branch, VariableId variable, const Path& path) {
    const auto found = branch.writes_.find(variable);
    return found != branch.writes_.end() &&
           std::ranges::any_of(found->second, [&](const Write& write) { return write.definite && write.path == path; });
  };
  WriteSet merged;
  for (const Branch& branch : branches) {
    for (const auto& [variable, writes] : branch.writes.writes_) {
      for (Write write : writes) {
        const bool in_all = std::ranges::all_of(
            branches, [&](const Branch& other) { return writes_definitely(other.writes, variable, write.path); });
        if (in_all) {
          // one write stands for those of all branches: a later one is then reported once
          if (writes_definitely(merged, variable, write.path)) continue;
          write.needs.clear();
        } else {
          write.only_if = both_of(std::move(write.only_if), branch.condition.same);
          write.facts.insert(write.facts.end(), branch.condition.facts.begin(), branch.condition.facts.end());
          write.definite = false;
          write.condition = condition;
          write.is_in_body = false;
        }
        merged.add(variable, std::move(write));
      }
    }
  }
  return merged;
}

}  // namespace raddle::check_detail
