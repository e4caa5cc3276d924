#include "compiler/assignment/check_cycles.hpp"

#include <algorithm>
#include <map>

namespace raddle::check_detail {
namespace {

/// Something that is set once: a variable, or an element or field of one; or an array or bag that is closed once.
struct Item {
  VariableId variable;
  Path path;
  Span span;                          ///< where it is assigned
  std::vector<const Awaited*> needs;  ///< without which it is never set or closed
};

// ---------------------------------------------------------------- items

/// All items that are set at one place only.
class Items {
 public:
  Items(const Context& context, const std::vector<VariableUse>& use) {
    for (VariableId variable = 0; variable < use.size(); ++variable)
      if (!context.silenced.contains(variable)) add(variable, use[variable].writes);
  }

  std::size_t count() const { return items_.size(); }
  const Item& at(std::size_t index) const { return items_[index]; }

  /// The item without which `need` is not there.
  const std::size_t* find(const Awaited& need) const {
    for (std::size_t length = 0; length <= need.path.size(); ++length) {
      const auto found = set_.find({need.variable, place_text(need.path, length)});
      if (found != set_.end()) return &found->second;
    }
    const auto closed = closed_.find(need.variable);
    return need.closed && need.path.empty() && closed != closed_.end() ? &closed->second : nullptr;
  }

 private:
  using Key = std::pair<VariableId, std::string>;

  void add(VariableId variable, const Writes& writes) {
    if (writes.empty() || std::ranges::any_of(writes, &Write::reported)) return;
    const bool in_parts = std::ranges::none_of(writes, [](const Write& write) { return write.path.empty(); });
    // some element may be the one in question
    const bool is_clear = std::ranges::all_of(writes, [](const Write& write) {
      return std::ranges::all_of(write.path, [](const Step& step) { return step.kind != Step::Kind::element; });
    });
    if (is_clear) add_parts(variable, writes);
    if (in_parts) add_closing(variable, writes);
  }

  void add_parts(VariableId variable, const Writes& writes) {
    std::map<std::string, std::vector<const Write*>> by_part;
    for (const Write& write : writes) by_part[place_text(write.path, write.path.size())].push_back(&write);
    for (const auto& [text, all] : by_part) {
      if (all.size() != 1) continue;
      const Write& write = *all.front();
      set_.emplace(Key{variable, text}, items_.size());
      items_.push_back({variable, write.path, write.span, {}});
      for (const Awaited& need : write.needs) items_.back().needs.push_back(&need);
      for (const Awaited& wait : write.waits) items_.back().needs.push_back(&wait);
    }
  }

  void add_closing(VariableId variable, const Writes& writes) {
    closed_.emplace(variable, items_.size());
    items_.push_back({variable, {}, writes.front().span, {}});
    for (const Write& write : writes)
      for (const Awaited& wait : write.waits) items_.back().needs.push_back(&wait);
  }

  std::vector<Item> items_;
  std::map<Key, std::size_t> set_;
  std::map<VariableId, std::size_t> closed_;
};

// ---------------------------------------------------------------- circles

class CircleSearch {
 public:
  CircleSearch(Context& context, const std::vector<VariableUse>& use)
      : context_(context), items_(context, use), state_(items_.count(), State::unseen) {}

  void run() {
    for (std::size_t start = 0; start < items_.count(); ++start)
      if (state_[start] == State::unseen) search(start);
  }

 private:
  enum class State : std::uint8_t { unseen, on_path, done };
  /// An item on the path, and which of its needs is followed.
  struct Place {
    std::size_t item;
    std::size_t need = 0;
  };

  // Depth first with a path of its own: the chain of needs of a long script would be a deep recursion.
  void search(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      Place& place = path_.back();
      const Item& item = items_.at(place.item);
      if (place.need == item.needs.size()) {
        state_[place.item] = State::done;
        path_.pop_back();
        if (!path_.empty()) ++path_.back().need;
        continue;
      }
      const std::size_t* next = items_.find(*item.needs[place.need]);
      if (next != nullptr && state_[*next] == State::unseen) {
        enter(*next);
        continue;
      }
      if (next != nullptr && state_[*next] == State::on_path) report(*next);
      ++place.need;
    }
  }

  void enter(std::size_t item) {
    state_[item] = State::on_path;
    path_.push_back({item});
  }

  std::string name_of(const Place& place) const {
    const Item& item = items_.at(place.item);
    return path_text(context_, item.variable, item.path);
  }

  /// The circle is the path from `first` to its end.
  void report(std::size_t first) {
    const auto begin = std::ranges::find(path_, first, &Place::item);
    std::vector<Place> circle(begin, path_.end());
    if (std::ranges::any_of(
            circle, [&](const Place& place) { return context_.silenced.contains(items_.at(place.item).variable); }))
      return;
    const auto starts_at = [&](const Place& place) { return items_.at(place.item).span.begin; };
    std::ranges::rotate(circle, std::ranges::min_element(circle, {}, starts_at));
    std::string needs;
    for (std::size_t i = 1; i <= circle.size(); ++i)
      needs += (i == 1 ? "needs `" : ", which needs `") + name_of(circle[i % circle.size()]) + "`";
    Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::deadlock, items_.at(circle.front().item).span,
                                                         name_of(circle.front()), needs);
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const Item& item = items_.at(circle[i].item);
      diagnostic.label(item.needs[circle[i].need]->span, "`" + name_of(circle[i]) + "` waits for `" +
                                                             name_of(circle[(i + 1) % circle.size()]) + "` here");
    }
    for (const Place& place : circle) context_.silenced.insert(items_.at(place.item).variable);
  }

  Context& context_;
  const Items items_;
  std::vector<State> state_;
  std::vector<Place> path_;
};

// ---------------------------------------------------------------- computed from itself

/// How to say in this language what `x = x + 1` says in others.
void advise(const Context& context, Diagnostic& diagnostic, VariableId variable, const Write& write) {
  if (!write.path.empty()) {
    diagnostic.note("an element or field has one value: assign the new one to another array or variable");
    return;
  }
  const std::string& name = context.program.variables[variable].name;
  const TypeId type_id = context.store().base(context.program.variables[variable].type);
  if (write.loop == LoopKind::none) {
    diagnostic.note("a variable has one value: give the new one a name of its own");
    return;
  }
  const bool adds_numbers = write.is_sum && (type_id == TypeStore::int_ || type_id == TypeStore::float_);
  if (write.loop == LoopKind::foreach_ && adds_numbers)
    diagnostic.note("put the terms into an array and take its `sum`, of the module `stats`");
  if (write.loop == LoopKind::foreach_ && write.is_sum && type_id == TypeStore::string)
    diagnostic.note("put the parts into an array and take `string_join(array, \"\")`, of the module `string`");
  // declared before the loop, as it is the last value that is wanted
  diagnostic.note("declare it without a value and make it a variable of a `for`: `" + context.name(type_id) + " " +
                  name + "; for (" + name + " = ..., int i = 0; i < n; " + name + " = " +
                  (write.is_sum ? name + " + " : "") + "..., i = i + 1) {}`");
}

/// One report for a variable, however often it is assigned so.
void report_own_value(Context& context, VariableId variable, const Writes& writes) {
  const auto own = std::ranges::find_if(writes, [](const Write& write) { return write.own_value.has_value(); });
  if (own == writes.end() || !context.silenced.insert(variable).second) return;
  const std::string name = path_text(context, variable, own->path);
  const auto other = std::ranges::find_if(writes, [&](const Write& write) {
    return !write.own_value && (lies_in(own->path, write.path) || lies_in(write.path, own->path));
  });
  if (other == writes.end()) {
    Diagnostic& diagnostic =
        context.diagnostics.report(DiagnosticKind::deadlock, own->span, name, "is computed from itself")
            .label(*own->own_value, "waits for it here");
    return advise(context, diagnostic, variable, *own);
  }
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::assigned_twice, own->span, name)
                               .label(other->span, "first assignment")
                               .label(*own->own_value, "its value is always that of the first assignment");
  advise(context, diagnostic, variable, *own);
}

}  // namespace

void report_cycles(Context& context, const std::vector<VariableUse>& use) {
  for (VariableId variable = 0; variable < use.size(); ++variable)
    report_own_value(context, variable, use[variable].writes);
  CircleSearch(context, use).run();
}

}  // namespace raddle::check_detail
