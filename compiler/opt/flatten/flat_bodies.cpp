#include "compiler/opt/flatten/flat_bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/opt/flatten/flattener.hpp"
#include "compiler/opt/flatten/tracked_arrays.hpp"
#include "compiler/ir/affine_keys.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/fusion/fuse_loops.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/rewrite/uses.hpp"
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
      body_accesses_(ir::body_accesses(module, around, loop, ir::RowsBy::loops_and_operations)),
      now_{.builder = BodyBuilder(module, fmt::format("{}.body.{}", around.name, module.functions.size()), loop.span)} {
  collect_inside(loop.regions[0]);
  if (loop.is_chain) now_.builder.expect_few_points(most_chain_elements);
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
    now_.has_own_array |= !writes[i].elements.empty();
  }
  region(scope, loop_.regions[0]);
  if (is_refused_ || !now_.has_own_array) return std::nullopt;
  now_.builder.complete_all();
  FlatBody made;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const std::optional<Operand>& output = now_.outputs[i];
    const bool is_row = writes[i].mode == ir::AccessMode::row;
    if (!output || (is_row && !now_.builder.extents_of(*output))) return std::nullopt;
    now_.builder.add_output(*output, writes[i].op->span);
    ir::Access access{.mode = writes[i].mode, .data = writes[i].array, .keys = {}, .span = writes[i].op->span};
    if (is_row) access.keys.push_back({.kind = ir::Key::Kind::same, .operand = writes[i].keys[0]});
    access.keys.push_back(*ir::affine_key(module_, around_, loop_, writes[i].keys.back()));
    made.accesses.push_back(std::move(access));
  }
  // rows are written by many points at once, elements by keys point by point
  const bool has_rows = std::ranges::find(writes, ir::AccessMode::row, &ir::BodyAccess::mode) != writes.end();
  if (has_rows && ir::IndexLaunch{.accesses = made.accesses}.is_projected()) return std::nullopt;
  made.function = now_.builder.take();
  simplify_tracked_arrays(module_, made.function);
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

void Flattener::refuse(std::string_view why) {
  if (!is_refused_) why_ = why;
  is_refused_ = true;
}

void Flattener::collect_inside(ir::RegionId id) {
  inside_.insert(id);
  for (const ir::Op& op : around_.regions[id].ops)
    for (const ir::RegionId nested : op.regions) collect_inside(nested);
}

bool Flattener::is_outside(Operand operand) const {
  return operand.is_constant || !inside_.contains(around_.variables[operand.index].region);
}

bool Flattener::are_sinks() const {
  if (body_accesses_.writes.empty() || !body_accesses_.holds.empty()) return false;
  return std::ranges::all_of(body_accesses_.writes, [&](const ir::BodyAccess& write) {
    const auto is_it = [&](const ir::BodyAccess& other) { return other.array == write.array; };
    const bool is_only = std::ranges::count_if(body_accesses_.writes, is_it) == 1;
    if (write.mode == ir::AccessMode::row) return is_only;
    if (write.mode != ir::AccessMode::write || write.keys.size() != 1) return false;
    const std::optional<ir::Key> key = ir::affine_key(module_, around_, loop_, write.keys[0]);
    return key && (is_only || key->kind == ir::Key::Kind::affine);  // of others many points are made at once
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
  if (found != scope.known.end()) {
    if (!is_there(found->second)) refuse("what it reads is only assigned behind it, or in a branch");
    return found->second;
  }
  if (!scope.is_body || !is_outside(operand) || is_written(operand.index) ||
      !ir::kernel_type(*module_.types, around_.variables[operand.index].type)) {
    refuse(scope.is_body && is_written(operand.index) ? "it needs a whole array that the loop itself writes"
                                                      : other_type);
    return {now_.builder.number(0)};
  }
  if (const std::optional<Known> again = computed_again(scope, operand)) return *again;
  const Operand parameter = now_.builder.add_parameter(around_.variables[operand.index]);
  now_.captures.push_back(operand);
  return scope.known[operand.index] = checked_extent(scope, operand.index).value_or(Known{parameter});
}

bool Flattener::is_there(const Known& known) {
  return known.fields.empty() ? known.operand.index != ir::none : std::ranges::all_of(known.fields, is_there);
}

Operand Flattener::value(Scope& scope, Operand operand) {
  const Known found = known(scope, operand);
  if (!found.fields.empty()) refuse(other_type);
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

Operand Flattener::array(Scope& scope, Operand operand) { return complete(value(scope, operand)); }

Operand Flattener::complete(Operand array) {
  BodyBuilder& builder = now_.builder;
  const bool is_there = !builder.is_own(array) || builder.extents_of(array);
  if (!is_there && (!builder.is_tracked(array) || !builder.complete(array))) refuse(open_array);
  return builder.whole(array);
}

/// Its first field has the elements, the others are extents.
bool Flattener::is_dense(const Known& known) const {
  if (known.fields.size() < 2 || !known.fields[0].fields.empty()) return false;
  const auto type_of_field = [&](const Known& field) {
    return field.fields.empty() ? now_.builder.type_of(field.operand) : TypeStore::error;
  };
  return module_.types->is_array(type_of_field(known.fields[0])) &&
         std::ranges::all_of(known.fields.begin() + 1, known.fields.end(),
                             [&](const Known& field) { return type_of_field(field) == TypeStore::int_; });
}

void Flattener::take_apart(const Known& value, std::vector<Operand>& parts) {
  if (value.fields.empty()) {
    const auto type = ir::kernel_type(*module_.types, now_.builder.type_of(value.operand));
    if (!type) return refuse(other_type);
    return parts.push_back(vm::is_array(*type) ? complete(value.operand) : value.operand);
  }
  if (is_dense(value)) return take_apart(value.fields[0], parts);
  for (const Known& field : value.fields) take_apart(field, parts);
}

Known Flattener::put_together(const Known& like, std::span<const Operand> parts, std::size_t& next) {
  if (like.fields.empty()) return {parts[next++]};
  Known made;
  const bool has_extents = is_dense(like);
  for (std::size_t i = 0; i < like.fields.size(); ++i)
    made.fields.push_back(has_extents && i != 0 ? like.fields[i] : put_together(like.fields[i], parts, next));
  if (has_extents) know_extents(made);
  return made;
}

void Flattener::know_extents(const Known& dense) {
  BodyBuilder::Operands extents;
  for (std::size_t i = 1; i < dense.fields.size(); ++i) extents.push_back(dense.fields[i].operand);
  if (!dense.fields[0].operand.is_constant) now_.builder.know_extents(dense.fields[0].operand, std::move(extents));
}

void Flattener::expect_same_extents(const Known& first, const Known& next, Span span) {
  if (first.fields.size() != next.fields.size()) return refuse(other_type);
  const bool has_extents = is_dense(first);
  for (std::size_t i = 0; i < first.fields.size(); ++i)
    if (has_extents && i != 0)
      now_.builder.same(first.fields[i].operand, next.fields[i].operand, span);
    else
      expect_same_extents(first.fields[i], next.fields[i], span);
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
  const std::vector<const ir::Op*> ops = in_order_of_data(*scope.function, scope.function->regions[id]);
  std::map<ir::VarId, std::size_t> last_inserts;
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const ir::VarId array : inserted_into(*scope.function, *ops[i])) last_inserts[array] = i;
  for (std::size_t i = 0; i < ops.size() && !is_refused_; ++i) {
    operation(scope, *ops[i]);
    // of the loop's own text rather than of what it calls: that may be the library's, or none, as of an AppKernel
    const bool is_own_text = ops[i]->span.file == loop_.span.file, has_text = ops[i]->span.end != 0;
    if (is_refused_ && has_text && (!refused_ || (refused_->span.file != loop_.span.file && is_own_text)))
      refused_ = Refused{ops[i]->span, why_};
    if (++count_ > most_body_operations) refuse("with it the iteration has more operations than a kernel may have");
    if (now_.builder.is_impossible()) refuse("an array that it makes in a loop has extents that are known only there");
    for (const ir::VarId array : inserted_into(*scope.function, *ops[i]))
      if (last_inserts.at(array) == i && scope.function->variables[array].region == id) complete_own(scope, array);
  }
}

/// A tracked array that is made in the region that is open, once nothing is inserted any more: what comes behind reads
/// it without a question. Of branches and loops within the same is done where they end.
void Flattener::complete_own(const Scope& scope, ir::VarId array) {
  const auto found = scope.known.find(array);
  if (found != scope.known.end() && now_.builder.is_tracked(found->second.operand))
    static_cast<void>(now_.builder.complete(found->second.operand));
}

void Flattener::operation(Scope& scope, const ir::Op& op) {
  if (const ir::ReducedLoop* const reduced = reduced_of(scope, op))
    return &op == reduced->reduction ? reduce(scope, *reduced) : void();
  switch (op.kind) {
    case OpKind::copy: return bind(scope, op.results[0], known(scope, op.operands[0]));
    case OpKind::struct_make: {
      Known made;
      for (const Operand field : op.operands) made.fields.push_back(known(scope, field));
      if (!is_refused_ && module_.types->is_dense(type_of(scope, Operand::variable(op.results[0])))) know_extents(made);
      return bind(scope, op.results[0], std::move(made));
    }
    case OpKind::struct_new: {
      Known made{.made_in = now_.builder.region()};
      made.fields.resize(module_.types->structure(type_of(scope, Operand::variable(op.results[0]))).fields.size());
      return bind(scope, op.results[0], std::move(made));
    }
    case OpKind::struct_set: {
      Known field = known(scope, op.operands[1]);
      const auto whole = scope.known.find(op.operands[0].index);
      if (whole == scope.known.end() || whole->second.made_in != now_.builder.region())
        return refuse("fields of a structure are assigned in a branch or loop");
      whole->second.fields.at(static_cast<std::size_t>(op.number)) = std::move(field);
      return;
    }
    case OpKind::struct_get: {
      const Known from = known(scope, op.operands[0]);
      if (from.fields.size() <= static_cast<std::size_t>(op.number)) return refuse("it reads a structure from outside");
      return bind(scope, op.results[0], from.fields[static_cast<std::size_t>(op.number)]);
    }
    case OpKind::array_new: return make(scope, op);
    case OpKind::array_list: return list(scope, op);
    case OpKind::array_range: return range(scope, op);
    case OpKind::array_insert: return insert(scope, op);
    case OpKind::array_get: return get(scope, op);
    case OpKind::foreach_range: return each(scope, op);
    case OpKind::foreach_array: return each_element(scope, op);
    case OpKind::loop: return loop(scope, op);
    case OpKind::if_: return branch(scope, op);
    case OpKind::switch_: return choose(scope, op);
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
  if (ir::info(op.kind).effect > ir::Effect::fails || op.results.size() != 1 || op.operands.empty())
    return refuse("it does more than compute numbers");
  const auto type = ir::kernel_type(*module_.types, type_of(scope, op.operands[0]));
  if (!type || vm::is_array(*type) || ir::kernel_operator(op.kind, *type).op == vm::KernelOp::if_)
    return refuse(other_type);
  bind(scope, op.results[0],
       {now_.builder.put(op.kind, values(scope, op.operands), type_of(scope, Operand::variable(op.results[0])),
                         op.span)});
}

void launch_flat_body(ir::Module& module, ir::Function& around, ir::Op& loop, bool is_alone) {
  if (loop.placement != vm::Placement::any || ir::type_of(module, around, loop.operands[0]) != TypeStore::int_) return;
  Flattener flattener(module, around, loop);
  std::optional<FlatBody> body = flattener.run();
  if (!body) {
    if (flattener.refused())
      around.not_launched.push_back({loop.span, flattener.refused()->span, flattener.refused()->why});
    return;
  }
  module.functions.push_back(std::move(body->function));
  loop.launch = static_cast<ir::LaunchId>(around.launches.size());
  around.launches.push_back({.kernel = static_cast<ir::FunctionId>(module.functions.size() - 1),
                             .captures = std::move(body->captures),
                             .accesses = std::move(body->accesses)});
  loop.is_needed = is_alone;
}

}  // namespace raddle::opt
