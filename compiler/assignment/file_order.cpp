#include "compiler/assignment/file_order.hpp"

#include <algorithm>

#include "compiler/assignment/read_variables.hpp"

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

bool is_in_parts(const Writes& writes) {
  return std::ranges::none_of(writes, [](const Write& write) { return write.path.empty(); });
}

}  // namespace

FileOrders::Past FileOrders::find_past(VariableId file, bool carried) const {
  Past found;
  std::vector<Awaited> open;
  std::set<std::tuple<VariableId, std::string, bool>> seen;
  const auto add = [&](const std::vector<Awaited>& all, bool closed) {
    for (Awaited each : all) {
      if (each.variable == ast::no_variable) continue;
      each.closed = each.closed || closed;
      found.at.emplace(each.span.file, each.span.begin);
      if (seen.emplace(each.variable, place_text(each.path, each.path.size()), each.closed).second)
        open.push_back(std::move(each));
    }
  };
  const auto add_write = [&](const Write& write) {
    add(write.needs, false);
    add(write.waits, true);
  };
  add(all_[file].waits, true);
  if (const Write* own = only_source(all_[file].writes, {})) add_write(*own);
  while (!open.empty()) {
    const Awaited need = std::move(open.back());
    open.pop_back();
    const VariableUse& use = all_[need.variable];
    if (need.path.empty()) found.variables.insert(need.variable);
    if (carried) add(use.carried, false);
    if (const Write* source = only_source(use.writes, need.path))
      add_write(*source);
    else if (need.closed && need.path.empty() && is_in_parts(use.writes))
      for (const Write& write : use.writes) add(write.waits, true);
  }
  return found;
}

const FileOrders::Past& FileOrders::past(VariableId file, bool carried) {
  auto& known = carried ? carried_pasts_ : pasts_;
  const auto found = known.find(file);
  return found != known.end() ? found->second : known.emplace(file, find_past(file, carried)).first->second;
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
  if (past(later, false).variables.contains(earlier)) return FileOrder::surely;
  return may_depend(later, earlier) ? FileOrder::perhaps : FileOrder::unrelated;
}

bool FileOrders::follows_itself(VariableId file) { return past(file, true).variables.contains(file); }

std::optional<Span> FileOrders::late_read(VariableId earlier, VariableId later) {
  const Past& before = past(later, earlier == later);
  std::set<VariableId> names{earlier};  // it, and other variables for it
  std::vector<VariableId> open{earlier};
  while (!open.empty()) {
    const VariableId name = open.back();
    open.pop_back();
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
