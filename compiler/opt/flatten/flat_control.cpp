// Loops and branches.
#include <algorithm>
#include <utility>

#include "compiler/opt/flatten/flattener.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

std::optional<Flattener::Steps> Flattener::steps(Scope& scope, const ir::Op& op) {
  BodyBuilder& builder = now_.builder;
  const Operand first = value(scope, op.operands[0]), last = value(scope, op.operands[1]),
                step = value(scope, op.operands[2]);
  if (is_refused_ || builder.known(step).value_or(0) == 0) return std::nullopt;
  if (builder.known(first) == 0 && builder.known(step) == 1) return Steps{first, step, builder.count_to(last, op.span)};
  return Steps{first, step, step_count(first, last, step, op.span)};
}

Operand Flattener::step_count(Operand first, Operand last, Operand step, Span span) {
  const auto put = [&](OpKind kind, Operand one, Operand other) {
    return now_.builder.put(kind, {one, other}, TypeStore::int_, span);
  };
  return put(OpKind::idiv, put(OpKind::add, put(OpKind::sub, last, first), step), step);
}

Operand Flattener::step_at(const Steps& steps, Operand point, Span span) {
  const Operand distance = now_.builder.put(OpKind::index_mul, {point, steps.step}, TypeStore::int_, span);
  return now_.builder.put(OpKind::index_add, {steps.first, distance}, TypeStore::int_, span);
}

void Flattener::each(Scope& scope, const ir::Op& op) {
  if (now_.builder.is_in_each()) return each_of_any_order(scope, op);
  const State before = now_;
  const Scope scope_before = scope;
  each_of_any_order(scope, op);
  if (!is_refused_ || why_ != array_in_each) return;
  begin_anew(scope, before, scope_before);
  each_in_order(scope, op);
}

void Flattener::each_in_order(Scope& scope, const ir::Op& op) {
  BodyBuilder& builder = now_.builder;
  const std::optional<Steps> steps = this->steps(scope, op);
  if (!steps) return refuse(unknown_step);
  const Operand point = builder.begin_loop({builder.number(0)}, op.span)[0];
  const Operand is_one = builder.put(OpKind::lt, {point, steps->count}, TypeStore::boolean, op.span);
  builder.begin_body();
  const std::vector<ir::VarId>& parameters = scope.function->regions[op.regions[0]].parameters;
  const Operand key = step_at(*steps, point, op.span);
  for (std::size_t i = 0; i < parameters.size(); ++i) scope.known[parameters[i]] = {i == 0 ? key : point};
  region(scope, op.regions[0]);
  builder.complete_all();
  const Operand next = builder.put(OpKind::index_add, {point, builder.number(1)}, TypeStore::int_, op.span);
  if (!is_refused_) builder.end_loop(is_one, /*test_after=*/false, {next});
}

void Flattener::each_of_any_order(Scope& scope, const ir::Op& op) {
  const std::optional<Steps> steps = this->steps(scope, op);
  if (!steps) return refuse(unknown_step);
  const Operand point = now_.builder.begin_each(steps->count, op.span), key = step_at(*steps, point, op.span);
  const std::vector<ir::VarId>& parameters = scope.function->regions[op.regions[0]].parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) scope.known[parameters[i]] = {i == 0 ? key : point};
  region(scope, op.regions[0]);
  now_.builder.end_each();
}

void Flattener::each_element(Scope& scope, const ir::Op& op) {
  BodyBuilder& builder = now_.builder;
  const Operand elements = array(scope, op.operands[0]);
  if (is_refused_ || !builder.extents_of(elements)) return refuse(unknown_extent);
  const Operand count = size_of(elements, op.span);
  const Operand point = builder.begin_each(count, op.span);
  const std::vector<ir::VarId>& parameters = scope.function->regions[op.regions[0]].parameters;
  const TypeId type = builder.element_of(builder.type_of(elements));
  scope.known[parameters[0]] = {builder.put(OpKind::array_get, {elements, point}, type, op.span)};
  for (std::size_t i = 1; i < parameters.size(); ++i) scope.known[parameters[i]] = {point};
  region(scope, op.regions[0]);
  builder.end_each();
}

const ir::ReducedLoop* Flattener::reduced_of(const Scope& scope, const ir::Op& op) {
  if (op.kind != OpKind::array_new && op.kind != OpKind::foreach_range && op.kind != OpKind::call_builtin)
    return nullptr;
  if (!now_.builder.is_in_loop()) return nullptr;
  const ir::ReducedLoops& all = reduced_.try_emplace(scope.function, module_, *scope.function).first->second;
  const ir::ReducedLoop* const found = all.of(op);
  return found && inserted_into(*scope.function, *found->loop).size() == 1 ? found : nullptr;
}

void Flattener::reduce(Scope& scope, const ir::ReducedLoop& reduced) {
  BodyBuilder& builder = now_.builder;
  const ir::Op& loop = *reduced.loop;
  const std::optional<Steps> steps = this->steps(scope, loop);
  if (!steps) return refuse(unknown_step);
  const std::vector<ir::VarId>& parameters = scope.function->regions[loop.regions[0]].parameters;
  const auto run = [&] {
    const Operand point = builder.begin_each(steps->count, loop.span);
    for (const ir::VarId parameter : parameters) scope.known[parameter] = {point};
    region(scope, loop.regions[0]);
    builder.end_each();
  };
  const std::set<ir::VarId> open = open_arrays_read(scope, loop);
  if (!open.empty()) {
    is_checking_ = true;
    run();
    is_checking_ = false;
  }
  const std::set<ir::VarId> before = std::exchange(checked_, open);
  const bool was_reducing = std::exchange(is_reducing_, true);
  const TypeId type = type_of(scope, Operand::variable(reduced.array->results[0]));
  const Operand numbers = builder.new_reduced_array(type, steps->count, loop.span);
  now_.has_own_array = true;
  bind(scope, reduced.array->results[0], {numbers});
  run();
  checked_ = before;
  is_reducing_ = was_reducing;
  if (is_refused_) return;
  const TypeId result = type_of(scope, Operand::variable(reduced.reduction->results[0]));
  bind(scope, reduced.reduction->results[0], {builder.call(*reduced.reduction, {numbers}, result)});
}

std::set<ir::VarId> Flattener::open_arrays_read(Scope& scope, const ir::Op& loop) {
  std::set<ir::VarId> open;
  visit_nested(*scope.function, loop, [&](const ir::Op& op) {
    const auto found = op.kind == OpKind::array_get ? scope.known.find(op.operands[0].index) : scope.known.end();
    if (found == scope.known.end() || !found->second.fields.empty()) return;
    const Operand array = found->second.operand;
    if (now_.builder.is_own(array) && !now_.builder.extents_of(array)) open.insert(array.index);
  });
  return open;
}

void Flattener::loop(Scope& scope, const ir::Op& op) {
  const std::vector<ir::VarId>& parameters = scope.function->regions[op.regions[0]].parameters;
  std::vector<Known> initial;
  std::vector<Operand> operands, nexts;
  for (const Operand operand : op.operands) initial.push_back(known(scope, operand));
  for (const Known& each : initial) take_apart(each, operands);
  if (is_refused_) return;
  const std::vector<Operand> variables = now_.builder.begin_loop(operands, op.span);
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    scope.known[parameters[i]] = put_together(initial[i], variables, next);
  region(scope, op.regions[0]);
  Operand condition = op.test_after ? Operand() : value(scope, op.condition);
  now_.builder.begin_body();
  region(scope, op.regions[1]);
  if (op.test_after) condition = value(scope, op.condition);
  for (std::size_t i = 0; i < op.nexts.size() && !is_refused_; ++i) {
    const Known next = known(scope, op.nexts[i]);
    expect_same_extents(initial[i], next, op.span);
    take_apart(next, nexts);
  }
  now_.builder.complete_all();
  if (!std::ranges::all_of(nexts, [&](Operand each) { return now_.builder.can_go_on(each); }))
    refuse("an array that a `for` carries changes its extents, or may miss elements");
  const auto have_one_type = [&](Operand one, Operand other) {
    return now_.builder.type_of(one) == now_.builder.type_of(other);
  };
  if (is_refused_ || condition.is_constant || !std::ranges::equal(operands, nexts, have_one_type))
    return refuse("its condition is the same in each round, or what it carries changes its type");
  const std::vector<Operand> results = now_.builder.end_loop(condition, op.test_after, std::move(nexts));
  next = 0;
  for (std::size_t i = 0; i < op.results.size(); ++i)
    bind(scope, op.results[i], put_together(initial[i], results, next));
}

/// Of a loop that is a short chain where few elements are, and is written out in the other way.
static bool is_choice_of_chain(const ir::Function& function, const ir::Op& op) {
  return std::ranges::any_of(function.regions[op.regions[0]].ops, [](const ir::Op& each) { return each.is_chain; });
}

void Flattener::branch(Scope& scope, const ir::Op& op) {
  if (is_choice_of_chain(*scope.function, op)) return region(scope, op.regions[1]);
  Operand condition = value(scope, op.operands[0]);
  if (type_of(scope, op.operands[0]) == TypeStore::int_)
    condition = now_.builder.put(OpKind::ne, {condition, now_.builder.number(0)}, TypeStore::boolean, op.span);
  if (is_refused_) return;
  if (condition.is_constant) {
    const bool is_true = module_.constants[condition.index] == ir::Constant(true);
    if (is_true || op.regions.size() > 1) region(scope, op.regions[is_true ? 0 : 1]);
    return;
  }
  const State before = now_;
  const Scope scope_before = scope;
  both_ways(scope, op, condition);
  if (!is_refused_ || op.regions.size() < 2 || !now_.builder.is_known_before_loops(condition)) return;
  begin_anew(scope, before, scope_before);
  one_way(scope, op, condition);
}

void Flattener::begin_anew(Scope& scope, const State& before, const Scope& scope_before) {
  is_refused_ = false;
  refused_.reset();
  now_ = before;
  scope = scope_before;
}

bool Flattener::is_plain(const ir::Function& function, const ir::Op& op) const {
  bool is_plain = true;
  visit_nested(function, op, [&](const ir::Op& inner) {
    const bool is_leaf_call =
        inner.kind == OpKind::call && module_.functions[inner.callee].kind == ir::FunctionKind::leaf;
    const bool is_operator =
        inner.kind == OpKind::call_builtin && ir::library_operator(module_, function, inner) != vm::KernelOp::if_;
    is_plain = is_plain && (inner.kind == OpKind::if_ || is_leaf_call || is_operator ||
                            (ir::info(inner.kind).effect <= ir::Effect::fails && inner.kind != OpKind::struct_get));
  });
  return is_plain && op.regions.size() == 2;
}

std::optional<std::vector<ir::VarId>> Flattener::declare_assigned(Scope& scope, const ir::Op& op) {
  const std::vector<ir::VarId> assigned = variables_assigned(*scope.function, op);
  std::vector<ir::VarId> outside;
  for (const ir::VarId id : assigned) {
    ir::RegionId at = scope.function->variables[id].region;
    while (at != ir::none && std::ranges::find(op.regions, at) == op.regions.end())
      at = scope.function->regions[at].parent;
    if (at == ir::none && !scope.assigned_in_branches.contains(id)) outside.push_back(id);
  }
  for (const ir::VarId id : outside) {
    const TypeId type = type_of(scope, Operand::variable(id));
    const auto in_kernels = ir::kernel_type(*module_.types, type);
    if (!in_kernels || vm::is_array(*in_kernels) || !assign_always(*scope.function, op, id)) {
      refuse("a branch assigns what is no number, or only one of the branches does");
      return std::nullopt;
    }
    scope.known[id] = {Operand::variable(now_.builder.declare(type, op.span, now_.builder.region()))};
    scope.assigned_in_branches.insert(id);
  }
  return outside;
}

template <typename Then, typename Else>
void Flattener::put_branch(Operand condition, Span span, const Then& then, const Else& otherwise) {
  BodyBuilder& builder = now_.builder;
  ir::Op made;
  made.kind = OpKind::if_;
  made.operands = {condition};
  made.span = span;
  for (int i = 0; i < 2; ++i) made.regions.push_back(builder.add_region());
  const std::vector<ir::RegionId> regions = made.regions;
  builder.add(std::move(made));
  for (const ir::RegionId region : regions) {
    builder.open_region(region);
    region == regions[0] ? then() : otherwise();
    builder.complete_all();
    builder.close_region();
  }
}

void Flattener::both_ways(Scope& scope, const ir::Op& op, Operand condition) {
  const std::optional<std::vector<ir::VarId>> assigned = declare_assigned(scope, op);
  if (!assigned) return;
  put_branch(
      condition, op.span, [&] { region(scope, op.regions[0]); },
      [&] {
        if (op.regions.size() > 1) region(scope, op.regions[1]);
      });
  for (const ir::VarId id : *assigned) scope.assigned_in_branches.erase(id);
}

void Flattener::choose(Scope& scope, const ir::Op& op) {
  const Operand value = this->value(scope, op.operands[0]);
  if (is_refused_) return;
  const std::optional<std::vector<ir::VarId>> assigned = declare_assigned(scope, op);
  if (!assigned) return;
  choose_from(scope, op, value, 0);
  for (const ir::VarId id : *assigned) scope.assigned_in_branches.erase(id);
}

void Flattener::choose_from(Scope& scope, const ir::Op& op, Operand value, std::size_t first) {
  if (first == op.labels.size()) {
    if (op.regions.size() > first) region(scope, op.regions[first]);
    return;
  }
  const Operand is_it =
      now_.builder.put(OpKind::eq, {value, now_.builder.number(op.labels[first])}, TypeStore::boolean, op.span);
  put_branch(
      is_it, op.span, [&] { region(scope, op.regions[first]); }, [&] { choose_from(scope, op, value, first + 1); });
}

bool Flattener::assign_always(const ir::Function& function, const ir::Op& op, ir::VarId id) const {
  if (std::ranges::find(op.results, id) != op.results.end()) return true;
  const bool is_switch = op.kind == OpKind::switch_ && op.regions.size() > op.labels.size();
  if (!is_switch && (op.kind != OpKind::if_ || op.regions.size() != 2)) return false;
  return std::ranges::all_of(op.regions, [&](ir::RegionId region) {
    return std::ranges::any_of(function.regions[region].ops,
                               [&](const ir::Op& inner) { return assign_always(function, inner, id); });
  });
}

void Flattener::one_way(Scope& scope, const ir::Op& op, Operand condition) {
  const State before = now_;
  const Scope scope_before = scope;
  now_.builder.expect(condition, op.span);
  region(scope, op.regions[0]);
  if (!is_refused_) return;
  begin_anew(scope, before, scope_before);
  now_.builder.expect(now_.builder.put(OpKind::not_, {condition}, TypeStore::boolean, op.span), op.span);
  region(scope, op.regions[1]);
}

}  // namespace raddle::opt
