#include "compiler/assignment/file_order.hpp"

#include <algorithm>

#include "compiler/assignment/read_variables.hpp"

// Note [what ends a loop]. Where a file is written, what is made in other branches does not count. So it is in the
// iteration before, if that one has written the file, too. If it has not, an earlier one has: as what the loop's
// condition reads is awaited by all iterations, each of them waits for that one. Of other variables that a loop carries
// this is not so: an iteration that does not write the file need not wait for them.
namespace raddle::check_detail {
namespace {

/// The write that gives the part at `path` its value, if there is but one that may.
const Write* only_source(const Writes& writes, const Path& path) {
  const Write* found = nullptr;
  for (const std::size_t index : writes.holding(path, always())) {
    if (found != nullptr || !lies_in(path, writes[index].path)) return nullptr;
    found = &writes[index];
  }
  return found;
}

/// The only write of a whole variable that may be done where `when` is so.
const Write* source_where(const Condition& when, const Writes& writes) {
  const Write* found = nullptr;
  int count = 0;
  const auto add = [&](const Write& write) {
    if (exclude_each_other(write.when, when)) return;
    found = &write;
    ++count;
  };
  for (const std::size_t index : writes.holding({}, when)) {
    const Write& write = writes[index];
    if (write.of_branches.empty()) add(write);
    for (const Write& part : write.of_branches) add(part);
  }
  return count == 1 ? found : nullptr;
}

bool is_in_parts(const Writes& writes) {
  return std::ranges::none_of(writes, [](const Write& write) { return write.path.empty(); });
}

}  // namespace

FileOrders::Past FileOrders::past_of(const std::vector<Awaited>& awaited, const Scope& scope) const {
  struct Need {
    Awaited awaited;
    bool is_reached;  ///< in an iteration that reaches the declaration of the file
    bool is_before;   ///< in the iteration before
  };
  Past found;
  const Condition reached = condition_in(scope.reached);
  std::vector<Need> open;
  std::set<std::tuple<VariableId, std::string, bool, bool, bool>> seen;
  const auto add = [&](const std::vector<Awaited>& all, bool closed, bool is_reached, bool is_before) {
    for (Awaited each : all) {
      if (each.call != nullptr && found.calls[each.call].insert(each.output).second)
        open.push_back({each, is_reached, is_before});
      if (each.variable == ast::no_variable) continue;
      each.closed = each.closed || closed;
      found.at.emplace(each.span.file, each.span.begin);
      const std::string place = place_text(each.path, each.path.size());
      if (seen.emplace(each.variable, place, each.closed, is_reached, is_before).second)
        open.push_back({std::move(each), is_reached, is_before});
    }
  };
  const auto add_write = [&](const Write& write, bool is_reached, bool is_before) {
    add(write.needs, false, is_reached, is_before);
    add(write.waits, true, is_reached, is_before);
  };
  add(awaited, false, true, false);
  while (!open.empty()) {
    const auto [need, is_reached, is_before] = std::move(open.back());
    open.pop_back();
    if (need.call != nullptr) {
      if (needs_of_call) add(needs_of_call(*need.call), false, is_reached, is_before);
      continue;
    }
    const VariableUse& use = all_[need.variable];
    if (need.path.empty()) found.variables.insert(need.variable);
    if (!is_before && scope.loop_depth != 0 && use.loop_depth == scope.loop_depth)
      add(use.carried, false, use.ends_loop, true);
    if (scope.first == First::of_all || (scope.first == First::of_conditions && use.ends_loop))
      add(use.initial, false, is_reached, is_before);
    const Write* source = only_source(use.writes, need.path);
    if (is_reached && need.path.empty()) source = source_where(reached, use.writes);
    if (source != nullptr)
      add_write(*source, is_reached, is_before);
    else if (need.closed && need.path.empty() && is_in_parts(use.writes))
      for (const Write& write : use.writes) add(write.waits, true, is_reached, is_before);
  }
  return found;
}

const FileOrders::Past& FileOrders::past(VariableId file, std::size_t loop_depth) {
  const auto key = std::pair(file, loop_depth);
  const auto found = pasts_.find(key);
  if (found != pasts_.end()) return found->second;
  const VariableUse& use = all_[file];
  std::vector<Awaited> awaited;
  const auto add = [&](const std::vector<Awaited>& all, bool closed, const ast::Expr* but) {
    for (const Awaited& each : all) {
      if (each.call != nullptr && each.call == but) continue;
      awaited.push_back(each);
      awaited.back().closed |= closed;
    }
  };
  add(use.waits, true, nullptr);
  if (const Write* own = only_source(use.writes, {})) {
    add(own->needs, false, own->value);  // a function with a body may write it before it has its inputs
    add(own->waits, true, nullptr);
  }
  return pasts_.emplace(key, past_of(awaited, {.reached = use.known.get(), .loop_depth = loop_depth})).first->second;
}

bool FileOrders::may_depend(VariableId later, VariableId earlier) const {
  std::set<VariableId> seen{later};
  std::vector<VariableId> open{later};
  const auto add = [&](VariableId variable) {
    if (variable != ast::no_variable && seen.insert(variable).second) open.push_back(variable);
  };
  while (!open.empty()) {
    const VariableUse& use = all_[open.back()];
    open.pop_back();
    for (const Awaited& each : use.waits) add(each.variable);
    for (const Write& write : use.writes) {
      if (!write.definite || write.value == nullptr || calls_a_body(context_, *write.value)) return true;
      read_variables(context_, *write.value, [&](VariableId variable, const Read&) { add(variable); });
      for (const Awaited& each : write.waits) add(each.variable);
    }
  }
  return seen.contains(earlier);
}

FileOrder FileOrders::of(VariableId earlier, VariableId later) {
  if (past(later, 0).variables.contains(earlier)) return FileOrder::surely;
  return may_depend(later, earlier) ? FileOrder::perhaps : FileOrder::unrelated;
}

bool FileOrders::follows_itself(VariableId file, std::size_t loop_depth) {
  return past(file, loop_depth).variables.contains(file);
}

std::optional<Span> FileOrders::late_read(VariableId earlier, const Past& before) const {
  std::set<VariableId> names{earlier};  // it, and other variables for it
  std::vector<VariableId> open{earlier};
  while (!open.empty()) {
    const VariableId name = open.back();
    open.pop_back();
    if (name != earlier && context_.program.variables[name].role == VariableRole::output)
      return context_.program.variables[name].span;  // whoever calls the function may read it at any time
    for (const Read& read : all_[name].reads)
      if (read.awaits && !before.at.contains({read.span.file, read.span.begin})) return read.span;
    for (VariableId other = 0; other < all_.size(); ++other) {
      if (all_[other].mapping != nullptr) continue;
      for (const Write& write : all_[other].writes)
        if (write.value != nullptr && write.value->kind == ast::ExprKind::Name &&
            ast::as<const ast::Name>(*write.value).variable == name && names.insert(other).second)
          open.push_back(other);
    }
  }
  return std::nullopt;
}

}  // namespace raddle::check_detail
