#include "compiler/flatten/body_builder.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "stdlib/builtin_names.hpp"
#include "compiler/opt/fold_operation.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

BodyBuilder::BodyBuilder(ir::Module& module, std::string name, Span span) : module_(&module) {
  function_.name = std::move(name);
  function_.kind = ir::FunctionKind::launched;
  function_.span = span;
  function_.regions.emplace_back();
  open_region(0);
}

Operand BodyBuilder::add_parameter(const ir::Var& like) {
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({like.name, module_->types->base(like.type), like.span, 0});
  function_.parameters.push_back(id);
  return Operand::variable(id);
}

void BodyBuilder::add_output(Operand value, Span span) {
  if (is_own(value)) {
    std::erase(function_.regions[0].variables, value.index);
    function_.outputs.push_back(value.index);
    return;
  }
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({"", type_of(value), span, 0});
  function_.outputs.push_back(id);
  ir::Op copy;
  copy.span = span;
  copy.operands = {value};
  copy.results = {id};
  add(std::move(copy));
}

std::optional<std::int64_t> BodyBuilder::known(Operand operand) const {
  if (!operand.is_constant) return std::nullopt;
  const auto* const found = std::get_if<std::int64_t>(&module_->constants[operand.index]);
  return found ? std::optional(*found) : std::nullopt;
}

// ---------------------------------------------------------------- operations

BodyBuilder::Key BodyBuilder::key_of(const ir::Op& op) {
  std::vector<std::uint64_t> operands;
  for (const Operand operand : op.operands)
    operands.push_back(std::uint64_t{operand.index} * 2 + (operand.is_constant ? 1 : 0));
  return {op.kind, op.callee, std::move(operands)};
}

std::optional<Operand> BodyBuilder::shared(const Key& key) const {
  for (const auto& known : shared_)
    if (const auto found = known.find(key); found != known.end()) return found->second;
  return std::nullopt;
}

/// What needs no operation, of ints and booleans.
std::optional<Operand> BodyBuilder::simpler(OpKind kind, const Operands& operands, TypeId type) {
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

Operand BodyBuilder::put(OpKind kind, Operands operands, TypeId type, Span span) {
  if (const std::optional<Operand> found = simpler(kind, operands, type)) return *found;
  ir::Op op;
  op.kind = kind;
  op.operands = std::move(operands);
  return finish(std::move(op), type, span);
}

Operand BodyBuilder::call(std::string_view builtin, Operands operands, TypeId type, Span span) {
  ir::Op op;
  op.kind = OpKind::call_builtin;
  op.callee = stdlib::find_builtin(builtin).value();
  for (const Operand operand : operands) op.operand_types.push_back(type_of(operand));
  op.operands = std::move(operands);
  return finish(std::move(op), type, span);
}

Operand BodyBuilder::call(const ir::Op& like, Operands operands, TypeId type) {
  ir::Op op;
  op.kind = OpKind::call_builtin;
  op.callee = like.callee;
  op.operand_types = like.operand_types;
  op.operands = std::move(operands);
  return finish(std::move(op), type, like.span);
}

void BodyBuilder::expect(Operand condition, Span span) {
  if (condition.is_constant && module_->constants[condition.index] == ir::Constant(true)) return;
  call("assert", {condition, Operand::constant(module_->constant(std::string()))}, TypeStore::void_, span);
}

Operand BodyBuilder::same(Operand one, Operand other, Span span) {
  if (one == other) return one;
  call("@same_extent", {one, other, Operand::constant(module_->constant(std::string())), one, other}, TypeStore::int_,
       span);
  return known(other) ? other : one;
}

/// Shared with an equal one before, folded.
Operand BodyBuilder::finish(ir::Op op, TypeId type, Span span) {
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

BodyBuilder::Operands BodyBuilder::call_leaf(const ir::Op& like, Operands operands,
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

void BodyBuilder::open_region(ir::RegionId region) {
  open_.push_back(region);
  shared_.emplace_back();
}

void BodyBuilder::close_region() {
  open_.pop_back();
  shared_.pop_back();
}

ir::RegionId BodyBuilder::add_region() {
  function_.regions.emplace_back().parent = region();
  return static_cast<ir::RegionId>(function_.regions.size() - 1);
}

ir::Op& BodyBuilder::add(ir::Op op) { return function_.regions[region()].ops.emplace_back(std::move(op)); }

ir::VarId BodyBuilder::declare(TypeId type, Span span, ir::RegionId region) {
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({"", module_->types->base(type), span, region});
  function_.regions[region].variables.push_back(id);
  return id;
}

// ---------------------------------------------------------------- loops

Operand BodyBuilder::begin_each(Operand count, Span span) {
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

void BodyBuilder::end_each() {
  points_.pop_back();
  counts_.pop_back();
  close_region();
  for (auto& [id, own] : own_) own.is_filled = own.is_filled || (own.is_written && own.region == region());
}

Operand BodyBuilder::count_to(Operand last, Span span) {
  if (const std::optional<std::int64_t> value = known(last)) return number(std::max<std::int64_t>(*value, -1) + 1);
  for (const OpKind kind : {OpKind::index_add, OpKind::sub}) {
    const ir::Op* const op = made(last, kind);
    if (op && known(op->operands[1]) == (kind == OpKind::sub ? 1 : -1)) return op->operands[0];
  }
  return put(OpKind::index_add, {last, number(1)}, TypeStore::int_, span);
}

BodyBuilder::Operands BodyBuilder::begin_loop(Operands initial, Span span) {
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

void BodyBuilder::begin_body() {
  loops_.back().regions.push_back(add_region());
  open_region(loops_.back().regions[1]);
}

bool BodyBuilder::can_go_on(Operand value) const {
  if (value.is_constant || !module_->types->is_array(type_of(value))) return true;
  const bool is_part = std::ranges::any_of(own_, [&](const auto& own) { return own.second.whole == value; });
  if (is_own(value) && !is_part) return true;
  const std::vector<ir::VarId>& variables = function_.regions[loops_.back().regions[0]].parameters;
  const ir::RegionId made_in = function_.variables[value.index].region;
  const auto is_open = [&](ir::RegionId region) { return std::ranges::find(open_, region) != open_.end(); };
  return std::ranges::find(variables, value.index) != variables.end() || made_in == ir::none ||
         (is_open(made_in) && made_in != region() && made_in != loops_.back().regions[0]);
}

BodyBuilder::Operands BodyBuilder::end_loop(Operand condition, bool test_after, Operands nexts) {
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

BodyBuilder::Operands BodyBuilder::accumulate(Operand count, Operands sums,
                                              const std::function<Operands(Operand point, const Operands& sums)>& next,
                                              Span span) {
  sums.insert(sums.begin(), number(0));
  const Operands variables = begin_loop(std::move(sums), span);
  const Operand condition = put(OpKind::lt, {variables[0], count}, TypeStore::boolean, span);
  begin_body();
  Operands nexts = next(variables[0], {variables.begin() + 1, variables.end()});
  nexts.insert(nexts.begin(), put(OpKind::index_add, {variables[0], number(1)}, TypeStore::int_, span));
  const Operands results = end_loop(condition, /*test_after=*/false, std::move(nexts));
  return {results.begin() + 1, results.end()};
}

const ir::Op* BodyBuilder::made(Operand operand, OpKind kind) const {
  if (operand.is_constant) return nullptr;
  const auto found = made_by_.find(operand.index);
  return found != made_by_.end() && found->second.kind == kind ? &found->second : nullptr;
}

}  // namespace raddle::opt
