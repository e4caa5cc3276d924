#include "compiler/assignment/call_order.hpp"

#include <algorithm>

#include "compiler/assignment/read_variables.hpp"
#include "compiler/check/annotations.hpp"

// Note [calls in order]. Two calls of a function are in order if the later one begins to write when the outputs of the
// earlier one have values, and those tell that it is done. That is asked of each two of its calls in one function, and
// of those in loops from one iteration to the next. Calls that are made in two activations of a caller, or in two
// iterations of a `foreach`, are not compared here but kept apart by the run (ProgramCaller::series_of).
// Functions that call each other in a circle are in no order: of one that is being looked at nothing is known.
namespace raddle::check_detail {
namespace {

constexpr std::size_t most_sites = 100;  // each is compared with each
constexpr std::uint32_t most_levels = 1000;

const ast::FunctionDefinition* callee_of(const Context& context, const ast::Call& call) {
  return context.program.functions[call.callee_index].definition;
}

/// A failure in it is no end of the run: others may follow.
bool may_fail_alone(const std::vector<Surrounding>& around) {
  return std::ranges::any_of(around, &Surrounding::is_try);
}

std::size_t loop_depth_of(const std::vector<Surrounding>& around) {
  return static_cast<std::size_t>(std::ranges::count_if(around, &Surrounding::is_loop));
}

/// The `for` and `iterate` around a call, in one iteration of the `foreach` around it, if there is one.
struct LoopsAround {
  std::uint32_t foreach_ = 0;  ///< its number; 0: none
  std::vector<std::uint32_t> loops;
};

LoopsAround loops_around(const std::vector<Surrounding>& around) {
  LoopsAround found;
  for (const Surrounding& each : around) {
    if (each.loop == LoopKind::foreach_)
      found = {.foreach_ = each.number, .loops = {}};
    else if (each.is_loop())
      found.loops.push_back(each.number);
  }
  return found;
}

}  // namespace

CallOrders::CallOrders(const Context& context, const CollectedUse& use, FileOrders& orders)
    : context_(context), all_(use.variables), orders_(orders) {
  find_sites(use);
}

void CallOrders::find_sites(const CollectedUse& use) {
  std::vector<const ast::FunctionDefinition*> writing;
  std::map<const ast::FunctionDefinition*, std::vector<const BodyCall*>> called_by;
  for (const BodyCall& call : use.calls) {
    calls_[callee_of(context_, *call.call)].push_back(&call);
    called_by[callee_of(context_, *call.call)].push_back(&call);
  }
  for (VariableId id = 0; id < all_.size(); ++id) {
    if (all_[id].mapping == nullptr || all_[id].function == nullptr || all_[id].writes.empty()) continue;
    sites_[all_[id].function].files.push_back(id);
    writing.push_back(all_[id].function);
  }
  while (!writing.empty()) {
    const auto calls = called_by.extract(writing.back());
    writing.pop_back();
    if (calls.empty()) continue;
    for (const BodyCall* call : calls.mapped()) {
      sites_[call->function].calls.push_back(call);
      writing.push_back(call->function);
    }
  }
}

std::vector<Awaited> CallOrders::awaited_by(const ast::Call& call, const Inputs& inputs, bool is_read) const {
  std::vector<Awaited> all;
  for (const std::size_t input : inputs) {
    if (input >= call.resolved_arguments.size() || call.resolved_arguments[input] == nullptr) continue;
    const ast::Expr& argument = *call.resolved_arguments[input];
    for (Awaited& each : awaited_variables(context_, argument)) {
      // the function may read a file that it is given several times, and not wait for all of that
      if (!is_read || argument.kind != ast::ExprKind::Call) each.span.begin = each.span.end = ~std::uint32_t{0};
      all.push_back(std::move(each));
    }
  }
  return all;
}

std::vector<Awaited> CallOrders::needs_of(const ast::Call& call) {
  return awaited_by(call, summary_of(call.callee_index).needs, true);
}

CallOrders::Inputs CallOrders::inputs_in(const CheckedFunction& function, const FileOrders::Past& past) const {
  Inputs found;
  for (std::size_t i = 0; i < function.inputs.size(); ++i)
    if (past.variables.contains(function.inputs[i])) found.insert(i);
  return found;
}

const CallOrders::Summary& CallOrders::summary_of(std::uint32_t function) {
  const auto [at, is_new] = summaries_.try_emplace(function);
  if (is_new) at->second = summarise(context_.program.functions[function]);
  return at->second;
}

CallOrders::Summary CallOrders::summarise(const CheckedFunction& function) {
  Summary summary;
  const auto keep_common = [](Inputs& all, const Inputs& more, bool is_first) {
    if (is_first)
      all = more;
    else
      std::erase_if(all, [&](std::size_t each) { return !more.contains(each); });
  };
  bool is_first = true;
  for (const VariableId output : function.outputs) {
    keep_common(summary.needs,
                inputs_in(function,
                          orders_.past_of({{.variable = output, .span = context_.program.variables[output].span}}, {})),
                is_first);
    is_first = false;
  }
  const Sites& sites = sites_[function.definition];
  if (sites.count() > most_sites) return summary;
  is_first = true;
  for (const VariableId file : sites.files) {
    keep_common(summary.starts, inputs_in(function, orders_.past(file, 0)), is_first);
    is_first = false;
  }
  for (const BodyCall* call : sites.calls) {
    keep_common(summary.starts, inputs_in(function, past_of_start(*call, {.reached = call->known.get()})), is_first);
    is_first = false;
  }
  summary.may_be_done = may_be_done(function, sites);
  return summary;
}

bool CallOrders::is_done(std::uint32_t function, const Outputs& outputs) {
  const auto [at, is_new] = done_.try_emplace({function, outputs}, false);
  if (is_new) at->second = find_whether_done(context_.program.functions[function], outputs);
  return at->second;
}

bool CallOrders::is_done(const FileOrders::Past& past, const BodyCall& call) {
  const auto found = past.calls.find(call.call);
  return found != past.calls.end() && is_done(call.call->callee_index, found->second);
}

bool CallOrders::find_whether_done(const CheckedFunction& function, const Outputs& outputs) {
  const Sites& sites = sites_[function.definition];
  if (sites.count() > most_sites) return false;
  std::vector<Awaited> awaited;
  for (const std::size_t output : outputs) {
    if (output >= function.outputs.size()) return false;
    const VariableId variable = function.outputs[output];
    awaited.push_back({.variable = variable, .span = context_.program.variables[variable].span});
  }
  const auto is_over = [&](const std::vector<Surrounding>& around, const Known* known, const auto& is_in) {
    return loop_depth_of(around) == 0 && !may_fail_alone(around) && is_in(orders_.past_of(awaited, {.reached = known}));
  };
  const auto is_written = [&](VariableId file) {
    const VariableUse& use = all_[file];
    if (context_.store().base(context_.program.variables[file].type) != TypeStore::file) return false;
    return is_over(use.around, use.known.get(), [&](const FileOrders::Past& past) {
      return past.variables.contains(file) && !orders_.late_read(file, past);
    });
  };
  const auto has_returned = [&](const BodyCall* call) {
    return is_over(call->around, call->known.get(), [&](const FileOrders::Past& past) { return is_done(past, *call); });
  };
  return std::ranges::all_of(sites.files, is_written) && std::ranges::all_of(sites.calls, has_returned);
}

FileOrders::Past CallOrders::past_of_start(const BodyCall& call, FileOrders::Scope scope) {
  std::vector<Awaited> awaited = call.waits;
  for (Awaited& each : awaited) each.closed = true;
  for (Awaited& each : awaited_by(*call.call, summary_of(call.call->callee_index).starts, false))
    awaited.push_back(std::move(each));
  scope.reached = call.known.get();
  return orders_.past_of(awaited, scope);
}

bool CallOrders::precedes(const BodyCall& earlier, const BodyCall& later, FileOrders::Scope scope) {
  return is_done(past_of_start(later, scope), earlier);
}

/// Of values and variables, and of what waits for something.
class CallOrders::SourceSearch {
 public:
  explicit SourceSearch(const CallOrders& orders) : orders_(orders) {}

  void add(VariableId variable) {
    if (variable != ast::no_variable && variables.insert(variable).second) open_.push_back(variable);
  }
  void add(const std::vector<Awaited>& all) {
    for (const Awaited& each : all) {
      if (each.call != nullptr) calls.insert(each.call);
      add(each.variable);
    }
  }
  void add(const ast::Expr* value) {
    if (value == nullptr) return;
    for (const ast::Call* call : calls_of_bodies(orders_.context_, *value)) calls.insert(call);
    read_variables(orders_.context_, *value, [this](VariableId variable, const Read&) { add(variable); });
  }
  void run() {
    while (!open_.empty()) {
      const VariableUse& use = orders_.all_[open_.back()];
      open_.pop_back();
      add(use.waits);
      for (const Write& write : use.writes) {
        add_write(write);
        for (const Write& part : write.of_branches) add_write(part);
      }
      for (const ast::Expr* value : use.loop_values) add(value);
      for (const VariableId inside : use.in_loops) add(inside);
    }
  }

  std::set<VariableId> variables;
  std::set<const ast::Call*> calls;

 private:
  void add_write(const Write& write) {
    add(write.waits);
    add(write.value);
  }

  const CallOrders& orders_;
  std::vector<VariableId> open_;
};

/// What is computed for `later` has the outputs of `earlier` in it.
bool CallOrders::may_depend(const BodyCall& later, const BodyCall& earlier) const {
  SourceSearch search(*this);
  for (const ast::Expr* argument : later.call->resolved_arguments) search.add(argument);
  search.add(later.waits);
  search.run();
  return search.calls.contains(earlier.call);
}

/// Each file that is written is somehow in the outputs.
bool CallOrders::may_be_done(const CheckedFunction& function, const Sites& sites) {
  SourceSearch search(*this);
  for (const VariableId output : function.outputs) search.add(output);
  search.run();
  return std::ranges::all_of(sites.files, [&](VariableId file) { return search.variables.contains(file); }) &&
         std::ranges::all_of(sites.calls, [&](const BodyCall* call) {
           return search.calls.contains(call->call) && summary_of(call->call->callee_index).may_be_done;
         });
}

bool CallOrders::are_surely_ordered(const BodyCall& one, const BodyCall& other) {
  const LoopsAround around = loops_around(one.around), others = loops_around(other.around);
  if (around.foreach_ != others.foreach_) return true;  // the run tells them apart
  const bool is_in_loop = !around.loops.empty(), is_other_in_loop = !others.loops.empty();
  if (is_in_loop && is_other_in_loop) {
    if (around.loops != others.loops) return false;
    const FileOrders::Scope before{.loop_depth = loop_depth_of(one.around)};
    return (precedes(one, other, {}) && precedes(other, one, before)) ||
           (precedes(other, one, {}) && precedes(one, other, before));
  }
  if (is_in_loop || is_other_in_loop) {
    const BodyCall &inside = is_in_loop ? one : other, &outside = is_in_loop ? other : one;
    // in a branch it may be done in a later iteration first
    const auto first = inside.around.back().is_loop() ? FileOrders::First::of_all : FileOrders::First::of_conditions;
    return precedes(outside, inside, {.first = first});
  }
  return exclude_each_other(condition_in(one.known.get()), condition_in(other.known.get())) ||
         precedes(one, other, {}) || precedes(other, one, {});
}

/// In a loop. @param others  of the same function: with those in the same loop it is compared
bool CallOrders::follows_itself(const BodyCall& call, const std::vector<const BodyCall*>& others) {
  const std::vector<std::uint32_t> loops = loops_around(call.around).loops;
  const bool is_alone = std::ranges::none_of(
      others, [&](const BodyCall* other) { return other != &call && loops_around(other->around).loops == loops; });
  return loops.size() == 1 && (!is_alone || precedes(call, call, {.loop_depth = loop_depth_of(call.around)}));
}

/// @param calls  of one function, in one function
FileOrder CallOrders::order_of(const std::vector<const BodyCall*>& calls, const BodyCall*& unsure) {
  if (calls.size() > most_sites) return FileOrder::unrelated;
  for (const BodyCall* call : calls) {
    if (may_fail_alone(call->around) || call->call->is_lifted) return FileOrder::unrelated;
    if (loops_around(call->around).loops.empty() || follows_itself(*call, calls)) continue;
    if (!may_be_done(*call) || !may_depend(*call, *call)) return FileOrder::unrelated;
    unsure = call;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (are_surely_ordered(*calls[k], *calls[i])) continue;
      const bool is_second = may_depend(*calls[i], *calls[k]);
      if (!may_be_done(*calls[i])) return FileOrder::unrelated;
      if (!is_second && !may_depend(*calls[k], *calls[i])) return FileOrder::unrelated;
      unsure = is_second ? calls[i] : calls[k];
    }
  }
  return unsure == nullptr ? FileOrder::surely : FileOrder::perhaps;
}

CallOrders::Order CallOrders::order_of(const ast::FunctionDefinition* function) {
  const auto [at, is_new] = found_.try_emplace(function);
  if (!is_new) return at->second;
  std::vector<std::pair<const ast::FunctionDefinition*, std::vector<const BodyCall*>>> by_caller;  // as in the text
  for (const BodyCall* call : calls_[function]) {
    const auto of_caller = [&](const auto& each) { return each.first == call->function; };
    const auto known = std::ranges::find_if(by_caller, of_caller);
    if (known != by_caller.end())
      known->second.push_back(call);
    else
      by_caller.push_back({call->function, {call}});
  }
  Order order;
  for (const auto& [caller, calls] : by_caller)
    if (order_of(calls, order.unsure) == FileOrder::unrelated) return {};
  if (by_caller.empty()) return {};
  order.levels = is_memo(*function) ? 2 : 1;  // the first one is of the function that looks into the record
  // of calls in several functions only those in one of them are compared
  const ast::FunctionDefinition* caller = by_caller.size() == 1 ? by_caller.begin()->first : nullptr;
  const Order further = caller == nullptr ? Order() : order_of(caller);
  order.levels = std::min(order.levels + further.levels, most_levels);
  if (order.unsure == nullptr) order.unsure = further.unsure;
  return found_[function] = order;
}

}  // namespace raddle::check_detail
