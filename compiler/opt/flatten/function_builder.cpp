#include "compiler/opt/flatten/function_builder.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/opt/rewrite/fold_operation.hpp"
#include "stdlib/builtin_names.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

FunctionBuilder::FunctionBuilder(ir::Module& module, std::string name, Span span) : module_(&module) {
  function_.name = std::move(name);
  function_.kind = ir::FunctionKind::launched;
  function_.span = span;
  function_.regions.emplace_back();
  open_region(0);
}

Operand FunctionBuilder::add_parameter(const ir::Var& like) {
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({like.name, module_->types->base(like.type), like.span, 0});
  function_.parameters.push_back(id);
  return Operand::variable(id);
}

std::optional<std::int64_t> FunctionBuilder::known(Operand operand) const {
  if (!operand.is_constant) return std::nullopt;
  const auto* const found = std::get_if<std::int64_t>(&module_->constants[operand.index]);
  return found ? std::optional(*found) : std::nullopt;
}

// ---------------------------------------------------------------- operations

FunctionBuilder::Key FunctionBuilder::key_of(const ir::Op& op) {
  std::vector<std::uint64_t> operands;
  for (const Operand operand : op.operands)
    operands.push_back(std::uint64_t{operand.index} * 2 + (operand.is_constant ? 1 : 0));
  return {op.kind, op.callee, std::move(operands)};
}

std::optional<Operand> FunctionBuilder::shared(const Key& key) const {
  for (const auto& known : shared_)
    if (const auto found = known.find(key); found != known.end()) return found->second;
  return std::nullopt;
}

/// What needs no operation, of ints and booleans.
std::optional<Operand> FunctionBuilder::simpler(OpKind kind, const Operands& operands, TypeId type) {
  if (operands.size() != 2 || module_->types->base(type_of(operands[0])) == TypeStore::float_) return std::nullopt;
  const Operand one = operands[0], other = operands[1];
  const auto truth = [&](bool value) { return Operand::constant(module_->constant(value)); };
  const auto is = [&](Operand operand, std::int64_t value) { return known(operand) == value; };
  switch (kind) {
    case OpKind::index_add:
    case OpKind::add:
      if (type != TypeStore::int_) return std::nullopt;
      if (is(one, 0)) return other;
      return is(other, 0) ? std::optional(one) : std::nullopt;
    case OpKind::index_mul:
    case OpKind::mul:
      if (is(one, 1)) return other;
      if (is(other, 1)) return one;
      return is(one, 0) || is(other, 0) ? std::optional(number(0)) : std::nullopt;
    case OpKind::eq:
    case OpKind::le:
    case OpKind::ge: return one == other ? std::optional(truth(true)) : std::nullopt;
    case OpKind::ne:
    case OpKind::lt:
    case OpKind::gt: return one == other ? std::optional(truth(false)) : std::nullopt;
    case OpKind::and_:
      if (one == truth(true)) return other;
      return other == truth(true) ? std::optional(one) : std::nullopt;
    case OpKind::or_:
      if (one == truth(false)) return other;
      return other == truth(false) ? std::optional(one) : std::nullopt;
    default: return std::nullopt;
  }
}

Operand FunctionBuilder::put(OpKind kind, Operands operands, TypeId type, Span span) {
  if (const std::optional<Operand> found = simpler(kind, operands, type)) return *found;
  ir::Op op;
  op.kind = kind;
  op.operands = std::move(operands);
  return finish(std::move(op), type, span);
}

Operand FunctionBuilder::call(std::string_view builtin, Operands operands, TypeId type, Span span) {
  ir::Op op;
  op.kind = OpKind::call_builtin;
  op.callee = stdlib::find_builtin(builtin).value();
  for (const Operand operand : operands) op.operand_types.push_back(type_of(operand));
  op.operands = std::move(operands);
  return finish(std::move(op), type, span);
}

Operand FunctionBuilder::call(const ir::Op& like, Operands operands, TypeId type) {
  ir::Op op;
  op.kind = OpKind::call_builtin;
  op.callee = like.callee;
  op.operand_types = like.operand_types;
  op.operands = std::move(operands);
  return finish(std::move(op), type, like.span);
}

void FunctionBuilder::expect(Operand condition, Span span) {
  if (condition.is_constant && module_->constants[condition.index] == ir::Constant(true)) return;
  call("assert", {condition, Operand::constant(module_->constant(std::string()))}, TypeStore::void_, span);
}

Operand FunctionBuilder::same(Operand one, Operand other, Span span) {
  if (one == other) return one;
  const Operand no_name = Operand::constant(module_->constant(std::string()));
  call("@same_extent", {one, other, no_name, no_name, no_name, number(1), one, other}, TypeStore::int_, span);
  return known(other) ? other : one;
}

/// Shared with an equal one before, folded.
Operand FunctionBuilder::finish(ir::Op op, TypeId type, Span span) {
  Key key = key_of(op);
  if (const std::optional<Operand> found = shared(key)) return *found;
  op.span = span;
  const ir::VarId result = declare(type, span, region());
  op.results = {result};
  if (const std::optional<ir::Constant> folded = fold_operation(*module_, function_, op)) {
    function_.regions[region()].variables.pop_back();
    function_.variables.pop_back();
    return Operand::constant(module_->constant(*folded));
  }
  made_by_[result] = op;
  add(std::move(op));
  shared_.back().emplace(std::move(key), Operand::variable(result));
  return Operand::variable(result);
}

FunctionBuilder::Operands FunctionBuilder::call_leaf(const ir::Op& like, Operands operands,
                                                     const std::vector<TypeId>& results) {
  ir::Op op;
  op.kind = OpKind::call;
  op.callee = like.callee;
  op.operands = std::move(operands);
  op.span = like.span;
  Operands all;
  for (const TypeId type : results) {
    op.results.push_back(declare(type, like.span, region()));
    all.push_back(Operand::variable(op.results.back()));
  }
  add(std::move(op));
  return all;
}

// ---------------------------------------------------------------- control

void FunctionBuilder::open_region(ir::RegionId region) {
  open_.push_back(region);
  shared_.emplace_back();
}

void FunctionBuilder::close_region() {
  open_.pop_back();
  shared_.pop_back();
}

ir::RegionId FunctionBuilder::add_region() {
  function_.regions.emplace_back().parent = region();
  return static_cast<ir::RegionId>(function_.regions.size() - 1);
}

ir::Op& FunctionBuilder::add(ir::Op op) { return function_.regions[region()].ops.emplace_back(std::move(op)); }

ir::VarId FunctionBuilder::declare(TypeId type, Span span, ir::RegionId region) {
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({"", module_->types->base(type), span, region});
  function_.regions[region].variables.push_back(id);
  return id;
}

// ---------------------------------------------------------------- loops

void FunctionBuilder::expect_few(Operand count, Span span) {
  if (!most_points_ || loops_.empty() || known(count).value_or(*most_points_ + 1) <= *most_points_) return;
  expect(put(OpKind::le, {count, number(*most_points_)}, TypeStore::boolean, span), span);
}

Operand FunctionBuilder::begin_each(Operand count, Span span) {
  expect_few(count, span);
  const Operand last = put(OpKind::index_add, {count, number(-1)}, TypeStore::int_, span);
  ir::Op op;
  op.kind = OpKind::foreach_range;
  op.operands = {number(0), last, number(1)};
  op.span = span;
  op.is_whole = true;
  const ir::RegionId body = add_region();
  op.regions = {body};
  add(std::move(op));
  for (int i = 0; i < 2; ++i) {
    function_.regions[body].parameters.push_back(static_cast<ir::VarId>(function_.variables.size()));
    function_.variables.push_back({"", TypeStore::int_, span, body});
  }
  open_region(body);
  points_.push_back(Operand::variable(function_.regions[body].parameters[0]));
  counts_.push_back(count);
  return points_.back();
}

void FunctionBuilder::close_each() {
  points_.pop_back();
  counts_.pop_back();
  close_region();
}

Operand FunctionBuilder::count_to(Operand last, Span span) {
  if (const std::optional<std::int64_t> value = known(last)) return number(std::max<std::int64_t>(*value, -1) + 1);
  for (const OpKind kind : {OpKind::index_add, OpKind::sub}) {
    const ir::Op* const op = made(last, kind);
    if (op && known(op->operands[1]) == (kind == OpKind::sub ? 1 : -1)) return op->operands[0];
  }
  return put(OpKind::index_add, {last, number(1)}, TypeStore::int_, span);
}

FunctionBuilder::Operands FunctionBuilder::begin_loop(Operands initial, Span span) {
  ir::Op op;
  op.kind = OpKind::loop;
  op.span = span;
  op.regions = {add_region()};
  Operands variables;
  for (const Operand each : initial) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({"", type_of(each), span, op.regions[0]});
    function_.regions[op.regions[0]].parameters.push_back(id);
    variables.push_back(Operand::variable(id));
  }
  op.operands = std::move(initial);
  open_region(op.regions[0]);
  loops_.push_back(std::move(op));
  return variables;
}

void FunctionBuilder::begin_body() {
  loops_.back().regions.push_back(add_region());
  open_region(loops_.back().regions[1]);
}

FunctionBuilder::Operands FunctionBuilder::end_loop(Operand condition, bool test_after, Operands nexts) {
  close_region();
  close_region();
  ir::Op op = std::move(loops_.back());
  loops_.pop_back();
  op.condition = condition;
  op.test_after = test_after;
  op.nexts = std::move(nexts);
  Operands results;
  for (const Operand initial : op.operands) {
    op.results.push_back(declare(type_of(initial), op.span, region()));
    results.push_back(Operand::variable(op.results.back()));
  }
  add(std::move(op));
  return results;
}

FunctionBuilder::Operands FunctionBuilder::accumulate(
    Operand count, Operands sums, const std::function<Operands(Operand point, const Operands& sums)>& next, Span span) {
  expect_few(count, span);
  sums.insert(sums.begin(), number(0));
  const Operands variables = begin_loop(std::move(sums), span);
  const Operand condition = put(OpKind::lt, {variables[0], count}, TypeStore::boolean, span);
  begin_body();
  Operands nexts = next(variables[0], {variables.begin() + 1, variables.end()});
  nexts.insert(nexts.begin(), put(OpKind::index_add, {variables[0], number(1)}, TypeStore::int_, span));
  const Operands results = end_loop(condition, /*test_after=*/false, std::move(nexts));
  return {results.begin() + 1, results.end()};
}

bool FunctionBuilder::is_known_before_loops(Operand operand) const {
  if (operand.is_constant || !is_in_loop()) return true;
  ir::RegionId at = function_.variables[operand.index].region;
  if (at == open_.front()) return true;
  const auto found = made_by_.find(operand.index);
  if (found == made_by_.end()) return false;
  const ir::Op& made = found->second;
  const bool is_pure = made.kind == OpKind::call_builtin
                           ? stdlib::builtins()[made.callee].effect == stdlib::BuiltinEffect::pure
                           : ir::info(made.kind).effect <= ir::Effect::fails;
  return is_pure && std::ranges::all_of(made.operands, [&](Operand each) { return is_known_before_loops(each); });
}

const ir::Op* FunctionBuilder::made(Operand operand, OpKind kind) const {
  if (operand.is_constant) return nullptr;
  const auto found = made_by_.find(operand.index);
  return found != made_by_.end() && found->second.kind == kind ? &found->second : nullptr;
}

}  // namespace raddle::opt
