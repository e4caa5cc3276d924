#include "compiler/assignment/writes.hpp"

#include <algorithm>
#include <iterator>

namespace raddle::check_detail {
namespace {

std::string key_text(const Context& context, const Step& step, TypeId key_type) {
  if (step.kind != Step::Kind::literal)
    return step.variable == ast::no_variable ? "..." : context.program.variables[step.variable].name;
  return context.store().base(key_type) == TypeStore::string ? "\"" + step.key + "\"" : step.key;
}

std::string step_text(const Step& step) {
  switch (step.kind) {
    case Step::Kind::field: return "." + std::to_string(step.field);
    case Step::Kind::literal: return "[" + std::to_string(step.key.size()) + ":" + step.key;
    case Step::Kind::element: return "?" + std::to_string(step.variable);
  }
  return {};
}

/// How many steps of the path, from its start, mean one certain part each time.
std::size_t known_length(const Path& path) {
  return static_cast<std::size_t>(std::ranges::find_if_not(path, is_known) - path.begin());
}

void append(std::vector<std::size_t>& all, const std::vector<std::size_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::string path_text(const Context& context, VariableId variable, const Path& path) {
  std::string text = context.program.variables[variable].name;
  TypeId type = context.program.variables[variable].type;
  std::uint32_t axis = 0;  // of a dense array: the next index's
  for (const Step& step : path) {
    const TypeId base = context.store().base(type);
    if (context.store().is_dense(base)) {
      if (axis > 0) text.back() = ',';
      text += (axis > 0 ? " " : "[") + key_text(context, step, TypeStore::int_) + "]";
      if (++axis < context.store().rank(base)) continue;
      type = context.store().dense_element(base);
      axis = 0;
      continue;
    }
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

bool is_known(const Step& step) { return step.kind != Step::Kind::element || step.variable != ast::no_variable; }

bool lies_in(const Path& part, const Path& whole) {
  return part.size() >= whole.size() && std::equal(whole.begin(), whole.end(), part.begin()) &&
         std::ranges::all_of(whole, is_known);
}

std::string place_text(const Path& path, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += step_text(path[i]);
  return text;
}

void Writes::Place::add(std::size_t write, const Condition& when) {
  all.push_back(write);
  if (when.cases.size() != 1) return;
  for (const Fact& fact : when.cases.front()) {
    if (!fact.is_equality() || !fact.constant) continue;
    WithConstant& known = with_constant[fact.left];
    if (known.writes.empty() || known.writes.back() != write) known.writes.push_back(write);
    known.by_constant[fact.right].push_back(write);
  }
}

const std::vector<std::size_t>& Writes::Place::possible(const Condition& when) const {
  static const std::vector<std::size_t> none;
  if (when.cases.size() != 1) return all;
  for (const Fact& fact : when.cases.front()) {
    if (!fact.is_equality() || !fact.constant) continue;
    const auto known = with_constant.find(fact.left);
    if (known == with_constant.end() || known->second.writes.size() != all.size()) continue;
    const auto found = known->second.by_constant.find(fact.right);
    return found == known->second.by_constant.end() ? none : found->second;
  }
  return all;
}

void Writes::complete_index() const {
  for (; index_.count < all_.size(); ++index_.count) {
    const Write& write = all_[index_.count];
    const std::size_t known = known_length(write.path);
    std::string text;
    for (std::size_t i = 0; i < write.path.size() && i <= known; ++i) {
      index_.within[text].push_back(index_.count);
      text += step_text(write.path[i]);
    }
    if (known < write.path.size()) continue;
    index_.at[text].add(index_.count, write.when);
  }
}

std::vector<std::size_t> Writes::holding(const Path& path, const Condition& when) const {
  complete_index();
  const std::size_t known = known_length(path);
  std::vector<std::size_t> found;
  std::string text;
  for (std::size_t i = 0; i <= known; ++i) {
    const auto place = index_.at.find(text);
    const bool is_very_place = i == path.size();
    if (place != index_.at.end()) append(found, is_very_place ? place->second.possible(when) : place->second.all);
    if (!is_very_place) text += step_text(path[i]);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

std::vector<std::size_t> Writes::touching(const Path& path, const Condition& when) const {
  std::vector<std::size_t> found = holding(path, when);
  if (known_length(path) < path.size()) return found;
  const auto parts = index_.within.find(place_text(path, path.size()));
  if (parts == index_.within.end()) return found;
  std::vector<std::size_t> all;
  std::ranges::merge(found, parts->second, std::back_inserter(all));
  return all;
}

bool is_assigned(const Writes& writes, const Path& path, const Condition& known) {
  std::vector<Facts> cases;
  for (const std::size_t index : writes.holding(path, known)) {
    const Write& write = writes[index];
    // one iteration is taken to be there; what may be assigned twice is said to be that, and nothing else
    if (write.definite || write.reported || write.in_one_iteration) return true;
    if (write.when.is_exact) cases.insert(cases.end(), write.when.cases.begin(), write.when.cases.end());
  }
  return one_is_so(cases, known);
}

}  // namespace raddle::check_detail
