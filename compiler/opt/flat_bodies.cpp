#include "compiler/opt/flat_bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/flattener.hpp"
#include "compiler/opt/fuse_loops.hpp"
#include "compiler/opt/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::size_t most_body_operations = 1000;  ///< that are looked at

}  // namespace

Flattener::Flattener(ir::Module& module, const ir::Function& around, const ir::Op& loop)
    : module_(module),
      around_(around),
      loop_(loop),
      body_accesses_(ir::body_accesses(module, around, loop)),
      now_{.builder = BodyBuilder(module, fmt::format("{}.body.{}", around.name, module.functions.size()), loop.span)} {
  collect_inside(loop.regions[0]);
}

std::optional<FlatBody> Flattener::run() {
  if (!are_sinks()) return std::nullopt;
  Scope scope{.function = &around_, .is_body = true};
  const ir::Region& body = around_.regions[loop_.regions[0]];
  scope.known[body.parameters[0]] = {now_.builder.add_parameter(around_.variables[body.parameters[0]])};
  const std::vector<ir::BodyAccess>& writes = body_accesses_.writes;
  now_.outputs.resize(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (writes[i].mode != ir::AccessMode::row) continue;
    const TypeId type = around_.variables[writes[i].array.index].type;
    now_.outputs[i] = now_.builder.new_array(type, {value(scope, writes[i].keys[0])}, writes[i].op->span);
  }
  region(scope, loop_.regions[0]);
  if (is_refused_ || !now_.has_own_array) return std::nullopt;
  FlatBody made;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const std::optional<Operand>& output = now_.outputs[i];
    const bool is_row = writes[i].mode == ir::AccessMode::row;
    if (!output || (is_row && !now_.builder.extents_of(*output))) return std::nullopt;
    now_.builder.add_output(*output, writes[i].op->span);
    ir::Access access{.mode = writes[i].mode, .data = writes[i].array, .keys = {}, .span = writes[i].op->span};
    access.keys.push_back(is_row ? ir::Key{.kind = ir::Key::Kind::same, .operand = writes[i].keys[0]} : ir::Key{});
    made.accesses.push_back(std::move(access));
  }
  made.function = now_.builder.take();
  fuse_loops(module_, made.function);
  drop_unread_arrays(made.function);
  ir::count_writers(made.function);
  made.captures = std::move(now_.captures);
  return made;
}

void Flattener::drop_unread_arrays(ir::Function& function) {
  const std::vector<std::uint32_t> reads = count_reads(function);
  for (ir::Region& region : function.regions) {
    std::erase_if(region.ops,
                  [&](const ir::Op& op) { return op.kind == OpKind::array_new && reads[op.results[0]] == 0; });
  }
}

void Flattener::refuse() { is_refused_ = true; }

void Flattener::collect_inside(ir::RegionId id) {
  inside_.insert(id);
  for (const ir::Op& op : around_.regions[id].ops)
    for (const ir::RegionId nested : op.regions) collect_inside(nested);
}

bool Flattener::is_outside(Operand operand) const {
  return operand.is_constant || !inside_.contains(around_.variables[operand.index].region);
}

bool Flattener::are_sinks() const {
  const ir::VarId point = around_.regions[loop_.regions[0]].parameters[0];
  if (body_accesses_.writes.empty() || !body_accesses_.holds.empty()) return false;
  return std::ranges::all_of(body_accesses_.writes, [&](const ir::BodyAccess& write) {
    if (!is_outside(write.array) || write.keys.size() != 1) return false;
    const auto is_it = [&](const ir::BodyAccess& other) { return other.array == write.array; };
    if (std::ranges::count_if(body_accesses_.writes, is_it) != 1) return false;
    return write.mode == ir::AccessMode::row ||
           (write.mode == ir::AccessMode::write && write.keys[0] == Operand::variable(point));
  });
}

bool Flattener::is_written(ir::VarId array) const {
  return std::ranges::any_of(body_accesses_.writes,
                             [&](const ir::BodyAccess& write) { return write.array == Operand::variable(array); });
}

TypeId Flattener::type_of(const Scope& scope, Operand operand) const {
  return module_.types->base(ir::type_of(module_, *scope.function, operand));
}

Known Flattener::known(Scope& scope, Operand operand) {
  if (operand.is_constant) return {operand};
  const auto found = scope.known.find(operand.index);
  if (found != scope.known.end()) return found->second;
  if (!scope.is_body || !is_outside(operand) || is_written(operand.index) ||
      !ir::kernel_type(*module_.types, around_.variables[operand.index].type)) {
    refuse();
    return {now_.builder.number(0)};
  }
  if (const std::optional<Known> again = computed_again(scope, operand)) return scope.known[operand.index] = *again;
  const Operand parameter = now_.builder.add_parameter(around_.variables[operand.index]);
  now_.captures.push_back(operand);
  return scope.known[operand.index] = checked_extent(scope, operand.index).value_or(Known{parameter});
}

Operand Flattener::value(Scope& scope, Operand operand) {
  const Known found = known(scope, operand);
  if (!found.fields.empty()) refuse();
  return found.operand;
}

std::vector<Operand> Flattener::values(Scope& scope, const std::vector<Operand>& operands) {
  std::vector<Operand> all;
  for (const Operand operand : operands) all.push_back(value(scope, operand));
  return all;
}

std::optional<Known> Flattener::computed_again(Scope& scope, Operand operand) {
  const ir::Op* const made = maker_of(operand.index);
  if (!made || (made->kind != OpKind::index_add && made->kind != OpKind::index_mul)) return std::nullopt;
  return Known{now_.builder.put(made->kind, values(scope, made->operands), TypeStore::int_, made->span)};
}

const ir::Op* Flattener::maker_of(ir::VarId variable) const {
  const ir::RegionId region = around_.variables[variable].region;
  if (region == ir::none) return nullptr;
  for (const ir::Op& op : around_.regions[region].ops)
    if (std::ranges::find(op.results, variable) != op.results.end()) return &op;
  return nullptr;
}

std::optional<Known> Flattener::checked_extent(Scope& scope, ir::VarId variable) {
  const ir::Op* const made = maker_of(variable);
  if (!made || made->kind != OpKind::call_builtin) return std::nullopt;
  const std::string_view name = stdlib::builtins()[made->callee].name;
  if (name == "@same_extent") return known(scope, made->operands[0]);
  return name == "@extent" && made->operands[1].is_constant ? std::optional(Known{made->operands[1]}) : std::nullopt;
}

void Flattener::bind(Scope& scope, ir::VarId variable, Known value) {
  if (!scope.assigned_in_branches.contains(variable)) {
    scope.known[variable] = std::move(value);
    return;
  }
  ir::Op copy;
  copy.operands = {value.operand};
  copy.results = {scope.known.at(variable).operand.index};
  copy.span = scope.function->variables[variable].span;
  now_.builder.add(std::move(copy));
}

Operand Flattener::array(Scope& scope, Operand operand) {
  const Operand found = value(scope, operand);
  if (now_.builder.is_own(found) && !now_.builder.extents_of(found)) refuse();
  return found;
}

Operand Flattener::size_of(Operand array, Span span) {
  if (const BodyBuilder::Operands* const extents = now_.builder.extents_of(array)) {
    Operand size = extents->front();
    for (std::size_t i = 1; i < extents->size(); ++i)
      size = now_.builder.put(OpKind::mul, {size, (*extents)[i]}, TypeStore::int_, span);
    return size;
  }
  return now_.builder.call("size", {array}, TypeStore::int_, span);
}

void Flattener::region(Scope& scope, ir::RegionId id) {
  for (const ir::Op& op : scope.function->regions[id].ops) {
    if (++count_ > most_body_operations) refuse();
    if (is_refused_) return;
    operation(scope, op);
  }
}

void Flattener::operation(Scope& scope, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::copy: return bind(scope, op.results[0], known(scope, op.operands[0]));
    case OpKind::struct_make: {
      Known made;
      for (const Operand field : op.operands) made.fields.push_back(known(scope, field));
      return bind(scope, op.results[0], std::move(made));
    }
    case OpKind::struct_get: {
      const Known from = known(scope, op.operands[0]);
      if (from.fields.size() <= static_cast<std::size_t>(op.number)) return refuse();
      return bind(scope, op.results[0], from.fields[static_cast<std::size_t>(op.number)]);
    }
    case OpKind::array_new:
      if (op.operands.empty() || now_.builder.is_in_loop() || makes_other(scope, op)) return refuse();
      now_.has_own_array = true;
      return bind(scope, op.results[0],
                  {now_.builder.new_array(type_of(scope, Operand::variable(op.results[0])), values(scope, op.operands),
                                          op.span)});
    case OpKind::array_insert: return insert(scope, op);
    case OpKind::array_get: {
      const Operand elements = array(scope, op.operands[0]), key = value(scope, op.operands[1]);
      return bind(
          scope, op.results[0],
          {now_.builder.put(op.kind, {elements, key}, type_of(scope, Operand::variable(op.results[0])), op.span)});
    }
    case OpKind::foreach_range: return loop(scope, op);
    case OpKind::if_: return branch(scope, op);
    case OpKind::wait:
    case OpKind::wait_deep: return region(scope, op.regions[0]);
    case OpKind::call: return call(scope, op);
    case OpKind::call_builtin: return library(scope, op);
    default: return compute(scope, op);
  }
}

bool Flattener::makes_other(const Scope& scope, const ir::Op& op) const {
  const auto type = ir::kernel_type(*module_.types, scope.function->variables[op.results[0]].type);
  return !type || !vm::is_array(*type);
}

void Flattener::compute(Scope& scope, const ir::Op& op) {
  if (ir::info(op.kind).effect > ir::Effect::fails || op.results.size() != 1 || op.operands.empty()) return refuse();
  const auto type = ir::kernel_type(*module_.types, type_of(scope, op.operands[0]));
  if (!type || vm::is_array(*type) || ir::kernel_operator(op.kind, *type).op == vm::KernelOp::if_) return refuse();
  bind(scope, op.results[0],
       {now_.builder.put(op.kind, values(scope, op.operands), type_of(scope, Operand::variable(op.results[0])),
                         op.span)});
}

void Flattener::insert(Scope& scope, const ir::Op& op) {
  const Operand stored = value(scope, op.operands[2]);
  if (!scope.is_body || !is_outside(op.operands[0])) {
    const Operand own = value(scope, op.operands[0]);
    if (!now_.builder.is_own(own) || !now_.builder.insert(own, value(scope, op.operands[1]), stored, op.span)) refuse();
    return;
  }
  const auto write = std::ranges::find(body_accesses_.writes, &op, &ir::BodyAccess::op);
  if (write == body_accesses_.writes.end()) return refuse();
  std::optional<Operand>& output = now_.outputs[static_cast<std::size_t>(write - body_accesses_.writes.begin())];
  if (write->mode == ir::AccessMode::write) {
    if (now_.builder.is_in_loop() || output) return refuse();
    output = stored;
  } else if (!now_.builder.is_in_loop() || !now_.builder.insert(*output, now_.builder.point(), stored, op.span)) {
    refuse();
  }
}

void Flattener::loop(Scope& scope, const ir::Op& op) {
  if (now_.builder.known(value(scope, op.operands[0])) != 0 || now_.builder.known(value(scope, op.operands[2])) != 1)
    return refuse();
  const Operand count = now_.builder.count_to(value(scope, op.operands[1]), op.span);
  if (is_refused_) return;
  const Operand point = now_.builder.begin_each(count, op.span);
  for (const ir::VarId parameter : scope.function->regions[op.regions[0]].parameters) scope.known[parameter] = {point};
  region(scope, op.regions[0]);
  now_.builder.end_each();
}

void Flattener::branch(Scope& scope, const ir::Op& op) {
  Operand condition = value(scope, op.operands[0]);
  if (type_of(scope, op.operands[0]) == TypeStore::int_)
    condition = now_.builder.put(OpKind::ne, {condition, now_.builder.number(0)}, TypeStore::boolean, op.span);
  if (is_refused_) return;
  if (condition.is_constant) {
    const bool is_true = module_.constants[condition.index] == ir::Constant(true);
    if (is_true || op.regions.size() > 1) region(scope, op.regions[is_true ? 0 : 1]);
    return;
  }
  if (is_plain(*scope.function, op)) return both_ways(scope, op, condition);
  if (now_.builder.is_in_loop() || op.regions.size() < 2) return refuse();
  one_way(scope, op, condition);
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

void Flattener::both_ways(Scope& scope, const ir::Op& op, Operand condition) {
  const std::vector<ir::VarId> assigned = variables_assigned(*scope.function, op);
  std::vector<ir::VarId> outside;
  for (const ir::VarId id : assigned) {
    ir::RegionId at = scope.function->variables[id].region;
    while (at != ir::none && at != op.regions[0] && at != op.regions[1]) at = scope.function->regions[at].parent;
    if (at == ir::none && !scope.assigned_in_branches.contains(id)) outside.push_back(id);
  }
  ir::Op made;
  made.kind = OpKind::if_;
  made.operands = {condition};
  made.span = op.span;
  for (const ir::VarId id : outside) {
    const TypeId type = type_of(scope, Operand::variable(id));
    if (!assign_always(*scope.function, op, id)) return refuse();
    scope.known[id] = {Operand::variable(now_.builder.declare(type, op.span, now_.builder.region()))};
    scope.assigned_in_branches.insert(id);
  }
  for (int i = 0; i < 2; ++i) made.regions.push_back(now_.builder.add_region());
  const std::vector<ir::RegionId> regions = made.regions;
  now_.builder.add(std::move(made));
  for (std::size_t i = 0; i < 2; ++i) {
    now_.builder.open_region(regions[i]);
    region(scope, op.regions[i]);
    now_.builder.close_region();
  }
  for (const ir::VarId id : outside) scope.assigned_in_branches.erase(id);
}

bool Flattener::assign_always(const ir::Function& function, const ir::Op& op, ir::VarId id) const {
  if (std::ranges::find(op.results, id) != op.results.end()) return true;
  if (op.kind != OpKind::if_ || op.regions.size() != 2) return false;
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
  is_refused_ = false;
  now_ = before;
  scope = scope_before;
  now_.builder.expect(now_.builder.put(OpKind::not_, {condition}, TypeStore::boolean, op.span), op.span);
  region(scope, op.regions[1]);
}

void launch_flat_body(ir::Module& module, ir::Function& around, ir::Op& loop) {
  if (loop.placement != vm::Placement::any || ir::type_of(module, around, loop.operands[0]) != TypeStore::int_) return;
  std::optional<FlatBody> body = Flattener(module, around, loop).run();
  if (!body) return;
  module.functions.push_back(std::move(body->function));
  loop.launch = static_cast<ir::LaunchId>(around.launches.size());
  around.launches.push_back({.kernel = static_cast<ir::FunctionId>(module.functions.size() - 1),
                             .captures = std::move(body->captures),
                             .accesses = std::move(body->accesses)});
}

}  // namespace raddle::opt
