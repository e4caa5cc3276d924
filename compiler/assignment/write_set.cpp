#include "compiler/assignment/write_set.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <span>
#include <utility>

namespace raddle::check_detail {
namespace {

enum class Overlap : std::uint8_t { none, same, part };

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
  const bool is_whole_first = first.path.size() < second.path.size();
  const Path& part = is_whole_first ? second.path : first.path;
  const bool is_field = part[common_part(first.path, second.path).size()].kind == Step::Kind::field;
  Diagnostic& diagnostic =
      context.diagnostics.report(kind, second.span, whole)
          .label(first.span, is_whole_first ? "assigned whole here" : "a part is assigned here")
          .note(is_field
                    ? "assign all of it at once, or each field by itself; a structure with one other value is "
                      "another variable, whose fields are all assigned"
                    : "assign all of it at once, or each part by itself; what adds to an array goes into another one");
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

}  // namespace

Writes WriteSet::take(VariableId variable) {
  const auto found = writes_.find(variable);
  if (found == writes_.end()) return {};
  Writes taken = std::move(found->second);
  writes_.erase(found);
  return taken;
}

void WriteSet::then(Context& context, WriteSet next) {
  for (auto& [variable, added] : next.writes_) {
    Writes& known = writes_[variable];
    if (known.empty()) {
      known = std::move(added);
      continue;
    }
    std::vector<std::vector<std::size_t>> touched;  // all of them first: they are not compared with each other
    for (const Write& second : added) touched.push_back(known.touching(second.path, second.when));
    for (std::size_t i = 0; i < added.size(); ++i) {
      Write& second = added[i];
      for (const std::size_t index : touched[i]) {
        Write& first = known[index];
        const Overlap how = overlap(first.path, second.path);
        if (second.reported || first.reported || context.silenced.contains(variable)) continue;
        const bool may_share = how == Overlap::same || is_row(first, second);
        if (may_share && exclude_each_other(first.when, second.when)) continue;
        report_overlap(context, variable, first, second, how);
        second.reported = true;
        // once for all parts; what was only possible may still be sure
        if (how == Overlap::part && first.definite && second.definite) first.reported = true;
      }
      known.add(std::move(second));
    }
  }
}

void WriteSet::report_whole_and_parts(Context& context, std::vector<Branch>& branches) {
  std::unordered_map<VariableId, Writes> earlier;
  for (Branch& branch : branches) {
    for (auto& [variable, writes] : branch.writes.writes_) {
      const Writes& others = earlier[variable];
      if (others.empty() || context.silenced.contains(variable)) continue;
      bool is_reported = false;  // once for a variable
      for (Write& write : writes) {
        for (const std::size_t index : others.touching(write.path, always())) {
          const Write& first = others[index];
          if (first.reported || overlap(first.path, write.path) != Overlap::part || is_row(first, write)) continue;
          if (!write.reported && !is_reported) report_overlap(context, variable, first, write, Overlap::part);
          is_reported = write.reported = true;
        }
      }
    }
    for (const auto& [variable, writes] : branch.writes.writes_)
      for (const Write& write : writes) earlier[variable].add(write);
  }
}

/// What one branch assigns whole, and another one in parts, is made by that other one in a container of its own, and
/// assigned whole at its end.
void WriteSet::collect_parts(Context& context, std::vector<Branch>& branches) {
  const auto is_whole = [](const Write& write) { return write.path.empty(); };
  std::unordered_set<VariableId> whole;
  for (const Branch& branch : branches)
    for (const auto& [variable, writes] : branch.writes.writes_)
      if (std::ranges::any_of(writes, is_whole)) whole.insert(variable);
  for (Branch& branch : branches) {
    if (branch.statement == nullptr) continue;
    for (auto& [variable, writes] : branch.writes.writes_) {
      const TypeId type = context.store().base(context.variable(variable).type);
      const TypeKind kind = context.store().kind(type);
      const bool is_container = kind == TypeKind::array || kind == TypeKind::bag || kind == TypeKind::structure;
      if (!is_container || !whole.contains(variable) || writes.empty() || std::ranges::any_of(writes, is_whole))
        continue;
      std::vector<VariableId>& collected = context.program.collected[branch.statement];
      if (std::ranges::find(collected, variable) == collected.end()) collected.push_back(variable);
      Write all = *writes.begin();
      all.path.clear();
      all.needs.clear();
      all.definite = true;
      all.condition.reset();
      all.when = always();
      all.value = nullptr;
      Writes one;
      one.add(std::move(all));
      writes = std::move(one);
    }
  }
}

namespace {

constexpr std::size_t most_of_branches = 64;  // each branch around them makes copies

void add_of_branch(std::vector<Write>& all, const Write& write, const Condition& condition) {
  if (all.size() > most_of_branches) return;
  const std::span<const Write> parts = write.of_branches.empty() ? std::span(&write, 1) : std::span(write.of_branches);
  for (const Write& part : parts) all.emplace_back(part).when = both(part.when, condition);
}

}  // namespace

WriteSet WriteSet::either(Context& context, std::vector<Branch> branches, Span condition) {
  collect_parts(context, branches);
  report_whole_and_parts(context, branches);
  struct OfAPlace {
    std::size_t branches = 0;              ///< that write it definitely
    const Branch* last_of_them = nullptr;  ///< counted once, however often it writes it
    bool is_merged = false;
    std::vector<Write> of_branches;
  };
  std::unordered_map<VariableId, std::unordered_map<std::string, OfAPlace>> places;
  const auto place_of = [&](VariableId variable, const Write& write) -> OfAPlace& {
    return places[variable][place_text(write.path, write.path.size())];
  };
  for (const Branch& branch : branches) {
    for (const auto& [variable, writes] : branch.writes.writes_) {
      for (const Write& write : writes) {
        OfAPlace& place = place_of(variable, write);
        if (write.definite && std::exchange(place.last_of_them, &branch) != &branch) ++place.branches;
        if (write.path.empty()) add_of_branch(place.of_branches, write, branch.condition);
      }
    }
  }
  WriteSet merged;
  for (Branch& branch : branches) {
    for (auto& [variable, writes] : branch.writes.writes_) {
      for (Write& write : writes) {
        OfAPlace& place = place_of(variable, write);
        if (place.branches == branches.size()) {
          // one write stands for those of all branches: a later one is then reported once
          if (std::exchange(place.is_merged, place.is_merged || write.definite)) continue;
          write.needs.clear();
          write.waits.clear();
          write.of_branches =
              place.of_branches.size() > most_of_branches ? std::vector<Write>() : std::move(place.of_branches);
        } else {
          write.when = both(std::move(write.when), branch.condition);
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
