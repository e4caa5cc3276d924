// How operations become an iteration.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "compiler/opt/launches/own_iteration.hpp"
#include "compiler/opt/launches/waiting_points.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

ir::VarId OwnIteration::declare(TypeId type, Span span, ir::RegionId in, std::string name) {
  function_.variables.push_back({std::move(name), type, span, in});
  const auto made = static_cast<ir::VarId>(function_.variables.size() - 1);
  function_.regions[in].variables.push_back(made);
  return made;
}

void OwnIteration::move(ir::VarId id, ir::RegionId to) {
  std::erase(function_.regions[function_.variables[id].region].variables, id);
  function_.variables[id].region = to;
  function_.regions[to].variables.push_back(id);
}

Operand OwnIteration::put(std::vector<ir::Op>& into, ir::RegionId in, OpKind kind, std::vector<Operand> operands,
                          TypeId type, Span span) {
  ir::Op op;
  op.kind = kind;
  op.operands = std::move(operands);
  op.span = span;
  op.results = {declare(type, span, in)};
  into.push_back(std::move(op));
  return Operand::variable(into.back().results[0]);
}

ir::RegionId OwnIteration::add_region(ir::RegionId parent, Span span) {
  const auto made = static_cast<ir::RegionId>(function_.regions.size());
  function_.regions.emplace_back().parent = parent;
  for (int i = 0; i < 2; ++i) {
    function_.variables.push_back({"", TypeStore::int_, span, made});
    function_.regions[made].parameters.push_back(static_cast<ir::VarId>(function_.variables.size() - 1));
  }
  return made;
}

ir::Op OwnIteration::loop_over(ir::RegionId region, Operand last, Span span) {
  ir::Op loop;
  loop.kind = OpKind::foreach_range;
  loop.operands = {number(0), last, number(1)};
  loop.regions = {region};
  loop.span = span;
  return loop;
}

Span OwnIteration::span_of_loop() const {
  for (const std::size_t i : writing_)
    if (ops()[i].kind == OpKind::loop || has_waiting_points(function_, {&ops()[i]})) return ops()[i].span;
  return {};
}

/// How many elements an array has, and the number of its last one.
std::pair<Operand, Operand> OwnIteration::size_of(const std::vector<Operand>& extents, Span span) {
  const auto known = [&](Operand operand) {
    return operand.is_constant ? std::optional(std::get<std::int64_t>(module_.constants[operand.index])) : std::nullopt;
  };
  Operand size = extents[0];
  for (const Operand extent : std::span(extents).subspan(1)) {
    const auto one = known(size), other = known(extent);
    std::int64_t both = 0;
    if (one && other && !__builtin_mul_overflow(*one, *other, &both))
      size = number(both);
    else
      size = put(before_, around_, OpKind::index_mul, {size, extent}, TypeStore::int_, span);
  }
  if (const auto count = known(size)) return {size, number(*count - 1)};
  return {size, put(before_, around_, OpKind::index_add, {size, number(-1)}, TypeStore::int_, span)};
}

// ---------------------------------------------------------------- the iteration

void OwnIteration::rename(ir::Op& op, const Names& names) {
  const auto read = [&](Operand& operand) {
    if (const auto own = operand.is_constant ? names.end() : names.find(operand.index); own != names.end())
      operand = Operand::variable(own->second);
  };
  visit_operands(op, read);
  if (op.launch != ir::none) visit_launch(function_.launches[op.launch], read);
  for (ir::VarId& result : op.results)
    if (const auto own = names.find(result); own != names.end()) result = own->second;
}

/// With all that is nested in it.
void OwnIteration::move_in(ir::Op& op, ir::RegionId into, const Names& names) {
  visit_nested(function_, op, [&](const ir::Op& inner) {
    for (const ir::RegionId nested : inner.regions)
      for (ir::Op& each : function_.regions[nested].ops) rename(each, names);
  });
  rename(op, names);
  for (std::size_t i = 0; i < op.regions.size(); ++i)
    if (op.kind != OpKind::loop || i == 0) function_.regions[op.regions[i]].parent = into;
}

void OwnIteration::make_own() {
  for (const ir::VarId array : arrays_) {
    const ir::Var like = function_.variables[array];
    own_[array] = declare(like.type, like.span, body_, like.name);
    ir::Op made = *maker_of(array);
    made.results = {own_[array]};
    inside_.push_back(std::move(made));
  }
  const std::vector<ir::Op> all = ops();
  for (const ir::Op& op : all) {
    const bool is_check = op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@complete";
    if (!is_check || op.operands[0].is_constant || !arrays_.contains(op.operands[0].index)) continue;
    ir::Op check = op;
    check.results = {declare(TypeStore::void_, op.span, body_)};
    rename(check, own_);
    inside_.push_back(std::move(check));
  }
}

std::vector<ir::Op> OwnIteration::copies() {
  for (const ir::VarId id : assigned_) {
    const ir::Var like = function_.variables[id];
    if (!own_.contains(id)) own_[id] = declare(like.type, like.span, body_, like.name);
  }
  RegionCopier copier(function_, function_);
  for (const auto& [id, own] : own_) copier.set(id, Operand::variable(own));
  std::vector<ir::Op> copied;
  const std::vector<ir::Op> all = ops();
  for (const std::size_t i : writing_) copied.push_back(copier.copy(all[i], body_));
  for (const ir::Op& op : copied)
    visit_nested(function_, op, [&](const ir::Op& inner) {
      for (const ir::RegionId nested : inner.regions)
        for (ir::Op& each : function_.regions[nested].ops) each.launch = ir::none;
    });
  for (ir::Op& op : copied) op.launch = ir::none;
  return copied;
}

/// Elements that are made inside become the only row of an array outside.
void OwnIteration::store(ir::VarId array, Operand own, std::vector<Operand> extents) {
  const Span span = function_.variables[array].span;
  const auto [size, last] = size_of(extents, span);
  const Operand z = Operand::variable(function_.regions[body_].parameters[0]);
  const Operand first = put(inside_, body_, OpKind::index_mul, {z, size}, TypeStore::int_, span);
  const ir::RegionId row = add_region(body_, span);
  std::vector<ir::Op> copy;
  const Operand point = Operand::variable(function_.regions[row].parameters[0]);
  const Operand key = put(copy, row, OpKind::index_add, {first, point}, TypeStore::int_, span);
  const TypeId type = module_.types->at(module_.types->base(function_.variables[array].type)).element;
  const Operand element = put(copy, row, OpKind::array_get, {own, point}, type, span);
  ir::Op insert;
  insert.kind = OpKind::array_insert;
  insert.operands = {Operand::variable(array), key, element};
  insert.span = span;
  copy.push_back(std::move(insert));
  function_.regions[row].ops = std::move(copy);
  inside_.push_back(loop_over(row, last, span));
}

void OwnIteration::store_result(ir::VarId result) {
  const ir::Var like = function_.variables[result];
  if (module_.types->is_dense(module_.types->base(like.type))) return store_dense(result);
  const TypeId type = module_.types->array_of(TypeStore::int_, like.type);
  const Operand array = put(before_, around_, OpKind::array_new, {number(1)}, type, like.span);
  ir::Op insert;
  insert.kind = OpKind::array_insert;
  insert.operands = {array, Operand::variable(function_.regions[body_].parameters[0]),
                     Operand::variable(own_.at(result))};
  insert.span = like.span;
  inside_.push_back(std::move(insert));
  give(result, OpKind::array_get, {array, number(0)});
}

void OwnIteration::store_dense(ir::VarId result) {
  const ir::Var like = function_.variables[result];
  const TypeId type = module_.types->base(like.type), elements = module_.types->dense_elements(type);
  const ir::Op& loop = ops()[results_.at(result)];
  const auto place = static_cast<std::size_t>(std::ranges::find(loop.results, result) - loop.results.begin());
  const Operand first = loop.operands[place];
  std::vector<Operand> extents;
  for (std::size_t i = 1; i < module_.types->structure(type).fields.size(); ++i) {
    extents.push_back(put(before_, around_, OpKind::struct_get, {first}, TypeStore::int_, like.span));
    before_.back().number = static_cast<std::int64_t>(i);
  }
  const Operand array = put(before_, around_, OpKind::array_new, extents, elements, like.span);
  const Operand own =
      put(inside_, body_, OpKind::struct_get, {Operand::variable(own_.at(result))}, elements, like.span);
  store(array.index, own, extents);
  extents.insert(extents.begin(), array);
  give(result, OpKind::struct_make, std::move(extents));
}

/// Behind the iteration.
void OwnIteration::give(ir::VarId result, OpKind kind, std::vector<Operand> operands) {
  ir::Op op;
  op.kind = kind;
  op.operands = std::move(operands);
  op.results = {result};
  op.span = function_.variables[result].span;
  after_.push_back(std::move(op));
}

void OwnIteration::begin(ir::RegionId around, Span span) {
  around_ = around;
  body_ = add_region(around, span);
  for (const auto& [result, giver] : results_) {
    const ir::Var like = function_.variables[result];
    own_[result] = declare(like.type, like.span, body_, like.name);
  }
  take_dense();
  make_own();
}

/// Dense arrays from outside, by their parts: a kernel takes arrays and numbers.
void OwnIteration::take_dense() {
  std::set<ir::VarId> read;
  for (const std::size_t i : writing_)
    for (const ir::VarId id : variables_read(function_, ops()[i])) read.insert(id);
  for (const ir::VarId id : read) {
    const ir::Var like = function_.variables[id];
    const TypeId type = module_.types->base(like.type);
    if (!module_.types->is_dense(type) || assigned_.contains(id) || !is_from_outside(id)) continue;
    std::vector<Operand> parts;
    for (std::size_t i = 0; i < module_.types->structure(type).fields.size(); ++i) {
      const TypeId part = module_.types->structure(type).fields[i].type;
      parts.push_back(put(before_, around_, OpKind::struct_get, {Operand::variable(id)}, part, like.span));
      before_.back().number = static_cast<std::int64_t>(i);
    }
    own_[id] = put(inside_, body_, OpKind::struct_make, std::move(parts), like.type, like.span).index;
  }
}

/// It is declared in the region, or around it.
bool OwnIteration::is_from_outside(ir::VarId id) const {
  for (ir::RegionId at = region_; at != ir::none; at = function_.regions[at].parent)
    if (function_.variables[id].region == at) return true;
  return false;
}

/// @return the iteration
ir::Op OwnIteration::finish(Span span) {
  for (const auto& [result, giver] : results_) store_result(result);
  function_.regions[body_].ops = std::move(inside_);
  return loop_over(body_, number(0), span);
}

/// `made` comes where the last one of the operations was, which are gone. @return where its first one is
std::size_t OwnIteration::replace(std::vector<ir::Op> made, const std::set<std::size_t>& gone) {
  std::vector<ir::Op> all;
  std::size_t place = 0;
  for (std::size_t i = 0; i < ops().size(); ++i) {
    if (!gone.contains(i)) all.push_back(std::move(ops()[i]));
    if (i != *gone.rbegin()) continue;
    place = all.size();
    std::ranges::move(made, std::back_inserter(all));
  }
  ops() = std::move(all);
  ir::count_writers(function_);
  return place;
}

OpPlace OwnIteration::enclose() {
  const Span span = span_of_loop();
  begin(region_, span);
  for (const std::size_t i : writing_) {
    move_in(ops()[i], body_, own_);
    order_waiting_points(module_, function_, ops()[i]);
    inside_.push_back(ops()[i]);
  }
  for (const ir::VarId id : assigned_)
    if (!results_.contains(id)) move(id, body_);
  for (const ir::VarId array : arrays_) store(array, Operand::variable(own_.at(array)), maker_of(array)->operands);
  ir::Op iteration = finish(span);
  std::vector<ir::Op> made = std::move(before_);
  const std::size_t place = made.size();
  made.push_back(std::move(iteration));
  std::ranges::move(after_, std::back_inserter(made));
  return {region_, replace(std::move(made), writing_) + place};
}

OpPlace OwnIteration::enclose_if(Operand condition, std::vector<ir::Op> asked) {
  const Span span = span_of_loop();
  const auto add_way = [&] {
    function_.regions.emplace_back().parent = region_;
    return static_cast<ir::RegionId>(function_.regions.size() - 1);
  };
  const ir::RegionId then = add_way(), otherwise = add_way();
  begin(then, span);
  std::ranges::move(copies(), std::back_inserter(inside_));
  Names others;
  for (const ir::VarId array : arrays_) {
    const ir::Var like = function_.variables[array];
    const std::vector<Operand> extents = maker_of(array)->operands;
    const Operand stored = put(before_, then, OpKind::array_new, extents, like.type, like.span);
    store(stored.index, Operand::variable(own_.at(array)), extents);
    give(array, OpKind::copy, {stored});
    others[array] = declare(like.type, like.span, otherwise, like.name);
    ir::Op made = *maker_of(array);
    made.results = {others[array]};
    function_.regions[otherwise].ops.push_back(std::move(made));
  }
  ir::Op iteration = finish(span);
  iteration.is_chain = true;
  const OpPlace place{then, before_.size()};
  before_.push_back(std::move(iteration));
  std::ranges::move(after_, std::back_inserter(before_));
  function_.regions[then].ops = std::move(before_);
  after_.clear();
  for (const std::size_t i : writing_) {
    move_in(ops()[i], otherwise, others);
    function_.regions[otherwise].ops.push_back(ops()[i]);
  }
  for (const auto& [array, other] : others) give(array, OpKind::copy, {Operand::variable(other)});
  std::ranges::move(after_, std::back_inserter(function_.regions[otherwise].ops));
  for (const ir::VarId id : assigned_)
    if (!results_.contains(id)) move(id, otherwise);
  ir::Op choice;
  choice.kind = OpKind::if_;
  choice.operands = {condition};
  choice.regions = {then, otherwise};
  choice.span = span;
  asked.push_back(std::move(choice));
  std::set<std::size_t> gone = writing_;
  for (std::size_t i = 0; i < ops().size(); ++i)
    if (ops()[i].kind == OpKind::array_new && arrays_.contains(ops()[i].results[0])) gone.insert(i);
  replace(std::move(asked), gone);
  return place;
}

}  // namespace raddle::opt
