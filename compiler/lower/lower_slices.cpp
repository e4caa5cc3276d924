// Slices of dense arrays: read as part of a whole-array expression, where other keys are all that they are, and
// assigned. Elements that arrays of indices or of booleans choose.
#include <algorithm>
#include <utility>

#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

/// `lo:hi:step` of a dimension, as where it begins, how far its indices are from each other, and how many there are.
FunctionLowering::Selection FunctionLowering::selection(const ast::Index& index, std::size_t axis,
                                                        const Operands& extents) {
  const auto& slice = as<ast::Slice>(*index.indices[axis]);
  const ir::Operand extent = extents[axis];
  const ir::Operand zero = int_constant(0), one = int_constant(1);
  if (!slice.low && !slice.high && !slice.step) return {zero, one, extent};
  Selection made;
  made.first = slice.low ? bracketed(*slice.low, extent) : zero;
  made.step = slice.step ? bracketed(*slice.step, extent) : one;
  const ir::Operand last =
      slice.high ? bracketed(*slice.high, extent) : emit_value(OpKind::sub, {extent, one}, TypeStore::int_, slice.span);
  Operands operands = {made.first, last, extent};
  if (slice.step) operands.push_back(made.step);
  const Operands place = place_of_index(index, axis, extents);
  operands.insert(operands.end(), place.begin(), place.end());
  made.count =
      call_builtin_named(slice.step ? "@stepped_slice" : "@slice", std::move(operands), TypeStore::int_, slice.span);
  note_count(slice, extent, made.count);
  return made;
}

/// Slices that are equally long, as `1:end-1` and `2:end` of equal extents, need no check when the script runs.
void FunctionLowering::note_count(const ast::Slice& slice, ir::Operand extent, ir::Operand count) {
  const std::optional<SliceLength> length = length_of(slice);
  if (!length) return;
  if (const auto says = variables_.find(length->variable()); says != variables_.end()) {
    checked_extents_[count.index] = ir::Operand::variable(says->second);
    return;
  }
  const ir::Operand of = length->ends != 0 ? known_extent(extent) : ir::Operand();
  const auto is_it = [&](const SliceCount& known) { return known.length == *length && known.extent == of; };
  const auto known = std::ranges::find_if(slice_counts_, is_it);
  if (known == slice_counts_.end())
    slice_counts_.push_back({*length, of, count});
  else
    checked_extents_[count.index] = known->count;
}

std::vector<FunctionLowering::Selection> FunctionLowering::selections(const ast::Index& index,
                                                                      const Operands& extents) {
  std::vector<Selection> made;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis >= index.indices.size()) {
      made.push_back({int_constant(0), int_constant(1), extents[axis]});
    } else if (index.indices[axis]->kind == ExprKind::Slice) {
      made.push_back(selection(index, axis, extents));
    } else if (types().is_dense(index.indices[axis]->type)) {
      made.push_back(chosen_along(index, axis, extents));
    } else {
      made.push_back({checked_index(index, axis, extents), {}, {}});
    }
  }
  return made;
}

FunctionLowering::Operands FunctionLowering::selected(const std::vector<Selection>& selections, Operands indices,
                                                      Span span) {
  const ir::Operand zero = int_constant(0), one = int_constant(1);
  Operands made;
  std::size_t next = 0;
  for (const Selection& each : selections) {
    if (each.count.index == ir::none) {
      made.push_back(each.first);
      continue;
    }
    ir::Operand index = indices[next++];
    if (each.chosen) {
      made.push_back(each.chosen(index));
      continue;
    }
    if (each.step != one) index = emit_value(OpKind::index_mul, {index, each.step}, TypeStore::int_, span);
    if (each.first != zero) index = emit_value(OpKind::index_add, {index, each.first}, TypeStore::int_, span);
    made.push_back(index);
  }
  return made;
}

FunctionLowering::Operands FunctionLowering::extents_of(const std::vector<Selection>& selections) {
  Operands extents;
  for (const Selection& each : selections)
    if (each.count.index != ir::none) extents.push_back(each.count);
  return extents;
}

Lifted FunctionLowering::slice(const ast::Index& index) {
  Lifted base = lifted(*index.base);
  const std::vector<Selection> chosen = selections(index, base.extents);
  const Span span = index.span;
  auto read = std::make_shared<Stretched>(extents_of(chosen));
  Lifted made{.extents = read->extents, .read = {read}, .is_flat = false};
  const bool stretches = make_factors(base, span);
  made.at = [this, at = std::move(base.at), chosen, read, stretches, span](const Point& point) {
    return at({.indices = selected(chosen, indices_at(point, *read, span), span), .stretches = stretches});
  };
  return made;
}

// ---------------------------------------------------------------- elements that an array chooses

check_detail::Choice FunctionLowering::choice_in(const ast::Index& index) const {
  return check_detail::choice_of(types(), index, index.base->type);
}

Lifted FunctionLowering::chosen(const ast::Index& index) {
  switch (choice_in(index)) {
    case check_detail::Choice::by_mask: return chosen_by_mask(index);
    case check_detail::Choice::of_points: return chosen_points(index);
    case check_detail::Choice::along_one:
    case check_detail::Choice::none: break;
  }
  return slice(index);
}

/// `A[rows, :]`, `A[:, mask]`: the dimension has as many as the array has indices, or true elements.
FunctionLowering::Selection FunctionLowering::chosen_along(const ast::Index& index, std::size_t axis,
                                                           const Operands& extents) {
  const ast::Expr& entry = *index.indices[axis];
  ends_.push_back(extents[axis]);
  const Dense array = dense_parts(entry);
  ends_.pop_back();
  Selection made;
  const bool is_mask = types().dense_element(entry.type) == TypeStore::boolean;
  const ir::Operand keys = is_mask ? true_keys(array, {extents[axis]}, entry.span) : array.elements;
  made.count = is_mask ? call_builtin_named("size", {keys}, TypeStore::int_, entry.span) : array.extents[0];
  made.chosen = [this, keys, is_mask, extents, axis, &index](ir::Operand place) {
    const ir::Operand key = emit_value(OpKind::array_get, {keys, place}, TypeStore::int_, index.indices[axis]->span);
    return is_mask ? key : index_check(key, extents, index, axis);
  };
  return made;
}

/// Where a mask of these extents is true, in row-major order: a growing array.
ir::Operand FunctionLowering::true_keys(const Dense& mask, const Operands& extents, Span span) {
  Operands operands = {mask.elements, int_constant(static_cast<std::int64_t>(extents.size()))};
  operands.insert(operands.end(), extents.begin(), extents.end());
  operands.insert(operands.end(), mask.extents.begin(), mask.extents.end());
  const TypeId ints = context_.program.types.array_of(TypeStore::int_, TypeStore::int_);
  return call_builtin_named("@true_keys", std::move(operands), ints, span);
}

/// `A[idx]`, `A[rows, cols]`: at each point of the arrays of indices one element.
Lifted FunctionLowering::chosen_points(const ast::Index& index) {
  const Span span = index.span;
  Lifted base = lifted(*index.base);
  std::vector<Lifted> entries;
  std::vector<Span> written;
  for (std::size_t axis = 0; axis < index.indices.size(); ++axis) {
    ends_.push_back(base.extents[axis]);
    entries.push_back(lifted(*index.indices[axis]));
    written.push_back(index.indices[axis]->span);
    ends_.pop_back();
  }
  Lifted made = joined(entries, written, "[]", span);
  const bool stretches = make_factors(base, span);
  made.at = [this, &index, base = std::move(base), entries = std::move(entries), stretches, span](const Point& point) {
    Operands indices;
    for (std::size_t axis = 0; axis < entries.size(); ++axis)
      indices.push_back(index_check(entries[axis].at(point)[0], base.extents, index, axis));
    return base.at({.indices = std::move(indices), .stretches = stretches});
  };
  return made;
}

/// `A[mask]`: those where it is true, in row-major order.
Lifted FunctionLowering::chosen_by_mask(const ast::Index& index) {
  const Span span = index.span;
  const Dense base = dense_parts(*index.base), mask = dense_parts(*index.indices[0]);
  const ir::Operand keys = true_keys(mask, base.extents, span);
  const Dense chosen = {keys, {call_builtin_named("size", {keys}, TypeStore::int_, span)}};
  Lifted made = read_whole(chosen, span);
  made.at = [this, base, key_at = std::move(made.at), span](const Point& point) {
    const TypeId element = types().at(type_of(base.elements)).element;
    return Operands{emit_value(OpKind::array_get, {base.elements, key_at(point)[0]}, element, span)};
  };
  return made;
}

bool FunctionLowering::is_slice(const ast::Expr& target) const {
  return target.kind == ExprKind::Index && types().is_dense(target.type) &&
         types().is_dense(as<ast::Index>(target).base->type);
}

/// `A[1:n-2, :] = B`, `A[0] = 0.0`: each element that the target selects.
void FunctionLowering::store_slice(const ast::Index& target, const std::function<Lifted()>& source) {
  const Dense into = dense_target(target);
  if (into.elements.index == ir::none) return;
  const Span span = target.span;
  const std::vector<Selection> chosen = selections(target, into.extents);
  const Lifted from = source();
  Operands wanted = extents_of(chosen);
  if (!from.extents.empty()) {
    Operands operands = {int_constant(static_cast<std::int64_t>(wanted.size()))};
    operands.insert(operands.end(), wanted.begin(), wanted.end());
    operands.insert(operands.end(), from.extents.begin(), from.extents.end());
    if (!are_same_extents(wanted, from.extents)) {
      const ir::Operand checked = call_builtin_named("@fits_slice", std::move(operands), TypeStore::int_, span);
      checked_extents_[checked.index] = std::exchange(wanted[0], checked);
    }
  }
  const TypeId element = types().at(type_of(into.elements)).element;
  const Lifted all{.extents = wanted, .read = from.read, .is_flat = false, .at = from.at};
  for_each_point(all, span, [&](const Point& point) {
    const ir::Operand from_value = converted(all.at(point)[0], element, span);
    const ir::Operand key = key_of(selected(chosen, point.indices, span), into, span);
    emit(OpKind::array_insert, {into.elements, key, from_value}, {}, span);
  });
  if (!is_awaited_) return;
  // what the next link of a chain waits for: the slice, read
  const Lifted stored{.extents = wanted, .is_flat = false, .at = [&](const Point& point) {
                        const ir::Operand key = key_of(selected(chosen, point.indices, span), into, span);
                        return Operands{emit_value(OpKind::array_get, {into.elements, key}, element, span)};
                      }};
  if (wanted.empty()) return outputs_.push_back(stored.at({})[0]);
  const TypeId type = context_.program.types.dense_of(element, static_cast<std::uint32_t>(wanted.size()));
  outputs_.push_back(ir::Operand::variable(pack(fill(stored, {element}, span)[0], type, span, ir::none)));
}

}  // namespace raddle::lowering
