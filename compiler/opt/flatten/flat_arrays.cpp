// Arrays: how they are made, written and read.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/opt/flatten/flattener.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

void Flattener::make(Scope& scope, const ir::Op& op) {
  if (now_.builder.is_in_each()) return refuse(array_in_each);
  if (makes_other(scope, op)) return refuse(other_array);
  now_.has_own_array = true;
  const TypeId type = type_of(scope, Operand::variable(op.results[0]));
  bind(scope, op.results[0],
       {op.operands.empty() ? now_.builder.new_growing_array(type, op.span)
                            : now_.builder.new_array(type, values(scope, op.operands), op.span)});
}

void Flattener::list(Scope& scope, const ir::Op& op) {
  if (now_.builder.is_in_each()) return refuse(array_in_each);
  if (op.operands.empty() || makes_other(scope, op)) return refuse(other_array);
  now_.has_own_array = true;
  const std::vector<Operand> elements = values(scope, op.operands);
  const auto count = static_cast<std::int64_t>(elements.size());
  const Operand made =
      now_.builder.new_array(type_of(scope, Operand::variable(op.results[0])), {now_.builder.number(count)}, op.span);
  for (std::int64_t i = 0; i < count; ++i)
    now_.builder.insert_one(made, i, elements[static_cast<std::size_t>(i)], op.span);
  bind(scope, op.results[0], {made});
}

void Flattener::range(Scope& scope, const ir::Op& op) {
  const TypeId type = type_of(scope, Operand::variable(op.results[0]));
  if (now_.builder.is_in_each()) return refuse(array_in_each);
  const std::optional<Steps> steps = this->steps(scope, op);
  if (!steps || now_.builder.element_of(type) != TypeStore::int_) return refuse(unknown_step);
  now_.has_own_array = true;
  const Operand zero = now_.builder.number(0);
  const Operand count = now_.builder.call("max_integer", {steps->count, zero}, TypeStore::int_, op.span);
  const Operand made = now_.builder.new_array(type, {count}, op.span);
  const Operand point = now_.builder.begin_each(count, op.span);
  if (!now_.builder.insert(made, point, step_at(*steps, point, op.span), op.span)) refuse(other_element);
  now_.builder.end_each();
  bind(scope, op.results[0], {made});
}

void Flattener::insert(Scope& scope, const ir::Op& op) {
  if (is_checking_) return;
  const Operand stored = value(scope, op.operands[2]);
  if (!scope.is_body || !is_outside(op.operands[0])) {
    const Operand own = value(scope, op.operands[0]), key = value(scope, op.operands[1]);
    const bool is_done = now_.builder.is_own(own) && (now_.builder.insert(own, key, stored, op.span) ||
                                                      now_.builder.insert_tracked(own, key, stored, op.span));
    if (!is_done) refuse(other_element);
    return;
  }
  const auto is_it = [&](const ir::BodyAccess& write) {
    return write.elements.empty() ? write.op == &op : std::ranges::find(write.elements, &op) != write.elements.end();
  };
  const auto write = std::ranges::find_if(body_accesses_.writes, is_it);
  if (write == body_accesses_.writes.end()) return refuse(other_element);
  std::optional<Operand>& output = now_.outputs[static_cast<std::size_t>(write - body_accesses_.writes.begin())];
  if (write->mode == ir::AccessMode::write) {
    if (now_.builder.region() != 0 || output || now_.builder.is_own(stored)) return refuse(other_element);
    output = stored;
  } else if (!write->elements.empty()) {
    if (now_.builder.region() != 0 || now_.builder.is_own(stored)) return refuse(other_element);
    const auto element = std::ranges::find(write->elements, &op) - write->elements.begin();
    now_.builder.insert_one(*output, element, stored, op.span);
  } else if (!now_.builder.is_in_each() || !now_.builder.insert(*output, now_.builder.point(), stored, op.span)) {
    refuse(other_element);
  }
}

void Flattener::get(Scope& scope, const ir::Op& op) {
  const Operand key = value(scope, op.operands[1]), elements = value(scope, op.operands[0]);
  const TypeId type = type_of(scope, Operand::variable(op.results[0]));
  const bool is_to_come = now_.builder.is_own(elements) && !now_.builder.extents_of(elements);
  if (is_to_come && is_reducing_) {
    if (!checked_.contains(elements.index)) return refuse(open_array);
    return bind(scope, op.results[0], {now_.builder.put(op.kind, {elements, key}, type, op.span)});
  }
  if (is_to_come && now_.builder.track(elements))
    return bind(scope, op.results[0], {now_.builder.get_tracked(elements, key, op.span)});
  bind(scope, op.results[0], {now_.builder.put(op.kind, {array(scope, op.operands[0]), key}, type, op.span)});
}

}  // namespace raddle::opt
