// What loops assign and read: each iteration may do it again.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/assignment/read_variables.hpp"
#include "compiler/assignment/use_collector.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;

struct Counter {
  VariableId variable;
  std::optional<std::pair<std::int64_t, std::int64_t>> range = {};  ///< its first and last value, where it has all
};

namespace {

/// `foreach i in [0:9]`
Counter counter_of(const ast::Foreach& loop) {
  Counter counter{loop.value_variable};
  const auto& range = as<const ast::Range>(*loop.iterable);
  const bool is_plain =
      range.step == nullptr && range.low->kind == ExprKind::IntLiteral && range.high->kind == ExprKind::IntLiteral;
  if (is_plain)
    counter.range = {as<const ast::IntLiteral>(*range.low).value, as<const ast::IntLiteral>(*range.high).value};
  return counter;
}

/// `foreach` over a range of literals, or an array that is written out.
Repeats repeats_of(const ast::Foreach& loop) {
  if (loop.iterable->kind == ExprKind::ArrayLiteral)
    return as<const ast::ArrayLiteral>(*loop.iterable).elements.size() > 1 ? Repeats::surely : Repeats::never;
  if (loop.iterable->kind != ExprKind::Range) return Repeats::perhaps;
  const Counter counter = counter_of(loop);
  if (!counter.range) return Repeats::perhaps;
  return counter.range->first < counter.range->second ? Repeats::surely : Repeats::never;
}

/// The fact that is so if and only if the condition is; null where it is no single one.
const Fact* only_fact(const Condition& condition) {
  const bool is_one = condition.is_exact && condition.cases.size() == 1 && condition.cases.front().size() == 1;
  return is_one ? &condition.cases.front().front() : nullptr;
}

/// The condition is that the counter has a value which it does have once.
bool is_among(const Fact& condition, const Counter& counter) {
  const std::optional<std::int64_t> value = pinned_value(condition, counter.variable);
  return value && counter.range && counter.range->first <= *value && *value <= counter.range->second;
}

/// `i = i + 1`, `i = i - 2`.
bool counts(const ast::For::Variable& variable) {
  if (variable.update == nullptr || variable.update->kind != ExprKind::Binary) return false;
  const auto& step = as<const ast::Binary>(*variable.update);
  return (step.op == ast::BinaryOp::add || step.op == ast::BinaryOp::sub) && step.left->kind == ExprKind::Name &&
         as<const ast::Name>(*step.left).variable == variable.variable && step.right->kind == ExprKind::IntLiteral &&
         as<const ast::IntLiteral>(*step.right).value != 0;
}

}  // namespace

bool UseCollector::is_pinned(const Condition& condition, VariableId counter) const {
  return condition.cases.size() == 1 && std::ranges::any_of(condition.cases.front(), [&](const Fact& fact) {
           const auto is_same_each_time = [&](VariableId each) { return each == counter || is_outside_loop(each); };
           return pins(fact, counter) ||
                  (equals(fact, counter) && std::ranges::all_of(fact.variables, is_same_each_time));
         });
}

void UseCollector::report_repeated(WriteSet& writes, Span loop, const char* what,
                                   const std::vector<Counter>& counters) {
  for (auto& [variable, all] : writes.all()) {
    std::vector<Path> once;  // assigned for one value of a counter
    for (Write& write : all) {
      const auto counter =
          std::ranges::find_if(counters, [&](const Counter& each) { return is_pinned(write.when, each.variable); });
      const bool has_counter = counter != counters.end();
      const Fact* only = only_fact(write.when);
      write.definite = has_counter && only != nullptr && is_among(*only, *counter);
      write.in_one_iteration =
          has_counter && only != nullptr && !(counter->range && pinned_value(*only, counter->variable).has_value());
      if (!write.definite) {
        write.condition = loop;
        write.is_in_body = true;
      }
      if (has_counter && write.when.is_exact)
        std::erase_if(write.when.cases.front(), [&](const Fact& fact) { return is_among(fact, *counter); });
      // what it says of variables of the loop is about other values in each iteration
      write.when = write.definite
                       ? always()
                       : known_part(std::move(write.when), [&](VariableId each) { return is_outside_loop(each); });
      const bool some_element =
          std::ranges::any_of(write.path, [](const Step& step) { return step.kind == Step::Kind::element; });
      if (some_element || write.reported || context_.silenced.contains(variable)) continue;
      if (has_counter && std::ranges::find(once, write.path) == once.end()) {
        once.push_back(write.path);
        continue;
      }
      write.reported = true;
      context_.diagnostics
          .report(DiagnosticKind::may_be_assigned_twice, write.span, path_text(context_, variable, write.path))
          .label(loop, what);
    }
  }
}

WriteSet UseCollector::foreach_(const ast::Foreach& loop) {
  annotations(loop.annotations);
  read(*loop.iterable);
  for (const VariableId variable : {loop.value_variable, loop.key_variable}) declare_in_loop(variable);
  const std::vector<Awaited> awaited = awaited_variables(context_, *loop.iterable);
  WriteSet writes = body_of(LoopKind::foreach_, loop.iterable->span, repeats_of(loop),
                            [&] { return after(awaited, [&] { return block(*loop.body); }); });
  std::vector<Counter> counters = {{loop.key_variable}};
  if (loop.iterable->kind == ExprKind::Range) counters.push_back(counter_of(loop));
  report_waiting(awaited, writes, "is assigned in a loop that waits for it");
  report_repeated(writes, loop.iterable->span, "the body runs once for each element", counters);
  return writes;
}

WriteSet UseCollector::for_(const ast::For& loop) {
  annotations(loop.annotations);
  for (const ast::For::Variable& variable : loop.variables) {
    if (variable.type) extents(variable.type->dimensions);
    read(*variable.initial);
  }
  read_but_calls(*loop.condition);
  for (const ast::For::Variable& variable : loop.variables) {
    declare_in_loop(variable.variable);
    if (variable.variable == ast::no_variable) continue;
    use_[variable.variable].initial = awaited_variables(context_, *variable.initial);
    use_[variable.variable].loop_values.push_back(variable.initial.get());
    if (variable.update != nullptr) use_[variable.variable].loop_values.push_back(variable.update.get());
  }
  enter_scope();
  const std::vector<Awaited> awaited = awaited_variables(context_, *loop.condition);
  WriteSet body = body_of(LoopKind::for_, loop.condition->span, Repeats::perhaps, [&] {
    note_calls(*loop.condition);
    return after(awaited, [&] {
      for (const ast::For::Variable& variable : loop.variables)
        if (variable.update != nullptr) note_calls(*variable.update);
      return statements(*loop.body);
    });
  });
  std::vector<Counter> counters;
  for (const ast::For::Variable& variable : loop.variables) {
    if (variable.update != nullptr) read_but_calls(*variable.update);
    if (variable.update != nullptr && variable.variable != ast::no_variable)
      use_[variable.variable].carried = awaited_variables(context_, *variable.update);
    if (variable.update != nullptr && variable.variable != ast::no_variable)
      use_[variable.variable].ends_loop =
          std::ranges::find(awaited, variable.variable, &Awaited::variable) != awaited.end();
    if (counts(variable)) counters.push_back({variable.variable});
  }
  leave_scope(body);
  report_repeated(body, loop.condition->span, "the body runs as long as this is so", counters);
  WriteSet finals;
  for (const ast::For::Variable& variable : loop.variables)
    if (variable.outer != ast::no_variable) {
      finals.add(variable.outer, {.path = {}, .span = variable.name.span, .loop = loop_around(variable.outer)});
      use_[variable.outer].in_loops.push_back(variable.variable);
    }
  body.then(context_, std::move(finals));
  return body;
}

WriteSet UseCollector::iterate(const ast::Iterate& loop) {
  annotations(loop.annotations);
  declare_in_loop(loop.variable);
  enter_scope();
  const std::vector<Awaited> counter = {{.variable = loop.variable, .span = loop.until->span}};
  WriteSet writes = body_of(LoopKind::iterate, loop.until->span, Repeats::perhaps, [&] {
    note_calls(*loop.until);
    return after(counter, [&] { return statements(*loop.body); });
  });
  read_but_calls(*loop.until);
  if (loop.variable != ast::no_variable) {
    use_[loop.variable].carried = awaited_variables(context_, *loop.until);
    use_[loop.variable].ends_loop = true;
  }
  leave_scope(writes);
  report_repeated(writes, loop.until->span, "the body runs until this is so", {{loop.variable}});
  return writes;
}

}  // namespace raddle::check_detail
