#include "compiler/check/check_cycles.hpp"

#include <algorithm>

namespace raddle::check_detail {
namespace {

class CycleSearch {
 public:
  CycleSearch(Context& context, const std::vector<VariableUse>& use)
      : context_(context), use_(use), state_(use.size(), State::unseen) {}

  void run() {
    for (VariableId start = 0; start < use_.size(); ++start)
      if (state_[start] == State::unseen && the_write(start) != nullptr) search(start);
  }

 private:
  enum class State : std::uint8_t { unseen, on_path, done };
  /// A variable on the path, and which of its needs is followed.
  struct Place {
    VariableId variable;
    std::size_t need = 0;
  };

  /// The only write of a variable, if that is a write of the whole.
  const Write* the_write(VariableId variable) const {
    const VariableUse& use = use_[variable];
    const bool only = use.writes.size() == 1 && use.writes.front().path.empty() && !use.writes.front().reported;
    return only && !context_.silenced.contains(variable) ? &use.writes.front() : nullptr;
  }

  // Depth first with a path of its own: the chain of needs of a long script would be a deep recursion.
  void search(VariableId start) {
    enter(start);
    while (!path_.empty()) {
      Place& place = path_.back();
      const Write* write = the_write(place.variable);
      if (write == nullptr || place.need == write->needs.size()) {
        state_[place.variable] = State::done;
        path_.pop_back();
        if (!path_.empty()) ++path_.back().need;
        continue;
      }
      const VariableId next = write->needs[place.need].variable;
      if (state_[next] == State::unseen && the_write(next) != nullptr) {
        enter(next);
        continue;
      }
      if (state_[next] == State::on_path) report(next);
      ++place.need;
    }
  }

  void enter(VariableId variable) {
    state_[variable] = State::on_path;
    path_.push_back({variable});
  }

  /// The circle is the path from `first` to its end.
  void report(VariableId first) {
    auto begin = std::ranges::find(path_, first, &Place::variable);
    std::vector<Place> circle(begin, path_.end());
    const auto starts_at = [&](const Place& place) { return the_write(place.variable)->span.begin; };
    std::ranges::rotate(circle, std::ranges::min_element(circle, {}, starts_at));
    const std::string& name = context_.variable(circle.front().variable).name;
    if (circle.size() == 1) {
      const Write& write = *the_write(first);
      context_.diagnostics.report(DiagnosticKind::deadlock, write.span, name, "is computed from itself")
          .label(write.needs[circle.front().need].span, "waits for it here");
    } else {
      report_circle(circle, name);
    }
    for (const Place& place : circle) context_.silenced.insert(place.variable);
  }

  void report_circle(const std::vector<Place>& circle, const std::string& name) {
    std::string needs;
    for (std::size_t i = 1; i <= circle.size(); ++i) {
      const VariableId next = circle[i % circle.size()].variable;
      needs += (i == 1 ? "needs `" : ", which needs `") + context_.variable(next).name + "`";
    }
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::deadlock, the_write(circle.front().variable)->span, name, needs);
    for (const Place& place : circle) {
      const Awaited& need = the_write(place.variable)->needs[place.need];
      diagnostic.label(need.span, "`" + context_.variable(place.variable).name + "` waits for `" +
                                      context_.variable(need.variable).name + "` here");
    }
  }

  Context& context_;
  const std::vector<VariableUse>& use_;
  std::vector<State> state_;
  std::vector<Place> path_;
};

}  // namespace

void report_cycles(Context& context, const std::vector<VariableUse>& use) { CycleSearch(context, use).run(); }

}  // namespace raddle::check_detail
