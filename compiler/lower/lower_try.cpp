// `try { ... } else { ... }` and `@default=VALUE f(x)`: see Note [attempts].
#include <algorithm>
#include <utility>

#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ir::OpKind;

// Note [attempts]
//
// What may fail is the region of an `attempt`, whose result tells whether all of it was done without a failure. What it
// assigns of variables from outside is held back: it goes to variables of its own, beside the attempt. These are copied
// if all went well; else the other block is done, as if nothing had been assigned:
//
//   try { x = f(y); A[i] = x; } else { x = 0; A[i] = 1; }
//
//   %elements = array_new
//   %ok = attempt {
//     %made = call @f %y
//     array_insert %elements, %i, %made
//   }
//   if %ok {
//     %x = copy %made
//     foreach_array %elements {(%value, %key) array_insert %A, %key, %value}
//   } {
//     %x = copy 0
//     array_insert %A, %i, 1
//   }
//
// So nothing that has failed is seen outside, and nothing is assigned twice. What is read of an array whose elements
// are assigned is read outside: there are the elements that other iterations have. An array that no other statement
// fills is made in the attempt, where it is read, and handed over by elements.

void FunctionLowering::try_(const ast::Try& written) {
  std::vector<HeldBack> held;
  const auto& collected = context_.program.collected;
  const auto in_parts = collected.find(written.body.get());  // made in parts, and assigned whole at the end
  for (const AttemptedVariable& each : context_.program.attempts.at(&written)) {
    const bool is_whole =
        in_parts != collected.end() && std::ranges::find(in_parts->second, each.variable) != in_parts->second.end();
    held.push_back(hold_back(each.variable, is_whole ? 0 : each.depth));
    if (!each.is_made_there) continue;
    HeldBack& made_there = held.back();
    const bool is_dense = types().is_dense(context_.program.variables[each.variable].type);
    made_there.handed_over_depth = is_dense ? 1 : each.depth;
  }
  const ir::Operand succeeded = attempt([&] { lower_branch(*written.body); }, written.span);
  for (const HeldBack& each : held) {
    if (each.depth == 0)
      variables_[each.variable] = each.whole;
    else if (each.held_parts.index == ir::none)
      held_parts_.erase(each.variable);
    else
      held_parts_[each.variable] = each.held_parts;
  }
  std::vector<ir::RegionId> regions;
  regions.push_back(in_region([&] {
    for (const HeldBack& each : held) hand_over(each, written.span);
  }));
  regions.push_back(in_region([&] { lower_branch(*written.otherwise); }));
  emit(OpKind::if_, {succeeded}, {}, written.span).regions = std::move(regions);
}

FunctionLowering::HeldBack FunctionLowering::hold_back(ast::VariableId variable, std::size_t depth) {
  const ir::VarId outer = variable_of(variable);
  const ir::Var known = function().variables[outer];
  HeldBack held{.variable = variable,
                .made = ir::none,
                .depth = depth,
                .whole = outer,
                .held_parts = {},
                .handed_over_depth = depth};
  if (depth == 0) {
    held.made = local(known.name, known.type, known.span, region_);
    take_extents(outer, held.made);  // what does not fit fails in the attempt
    variables_[variable] = held.made;
    return held;
  }
  if (types().is_dense(known.type)) {
    held.depth = held.handed_over_depth = 1;  // however many indices there are, they are one key
    held.made = new_elements(known.name, types().dense_element(known.type), {}, known.span);
  } else {
    held.made = local(known.name, known.type, known.span, region_);
    const bool is_bag = types().kind(types().base(known.type)) == TypeKind::bag;
    emit(is_bag ? OpKind::bag_new : OpKind::array_new, {}, {held.made}, known.span);
  }
  if (const auto around = held_parts_.find(variable); around != held_parts_.end()) held.held_parts = around->second;
  held_parts_[variable] = ir::Operand::variable(held.made);
  return held;
}

void FunctionLowering::hand_over(const HeldBack& held, Span span) {
  const auto elements_of = [&](ir::VarId variable) {
    return types().is_dense(function().variables[variable].type) ? parts_of(variable).elements
                                                                 : ir::Operand::variable(variable);
  };
  if (held.handed_over_depth == 0) return store_whole(held.whole, ir::Operand::variable(held.made), span);
  const ir::Operand into = held.held_parts.index == ir::none ? elements_of(held.whole) : held.held_parts;
  hand_over_elements(elements_of(held.made), into, held.handed_over_depth, span);
}

void FunctionLowering::hand_over_elements(ir::Operand from, ir::Operand into, std::size_t depth, Span span) {
  const Type type = types().at(types().base(type_of(from)));
  const bool is_bag = type.kind == TypeKind::bag;
  const ir::RegionId body = in_region([&] {
    const ir::VarId element = new_variable("", type.element, span, region_);
    const ir::VarId key = new_variable("", is_bag ? TypeStore::int_ : type.key, span, region_);
    function().regions[region_].parameters = {element, key};
    const ir::Operand value = ir::Operand::variable(element), at = ir::Operand::variable(key);
    if (is_bag) {
      emit(OpKind::bag_append, {into, value}, {}, span);
    } else if (depth == 1) {
      emit(OpKind::array_insert, {into, at, value}, {}, span);
    } else {
      const bool has_bags = types().kind(types().base(type.element)) == TypeKind::bag;
      const ir::Operand row =
          emit_value(has_bags ? OpKind::bag_row : OpKind::array_row, {into, at}, type.element, span);
      hand_over_elements(value, row, depth - 1, span);
    }
  });
  emit(OpKind::foreach_array, {from}, {}, span).regions = {body};
}

/// @return  a boolean: nothing has failed
ir::Operand FunctionLowering::attempt(const std::function<void()>& body, Span span) {
  const ir::VarId succeeded = temporary(TypeStore::boolean, span);
  const ir::RegionId region = in_region([&] {
    const ir::RegionId around = std::exchange(attempt_, region_);
    body();
    attempt_ = around;
  });
  emit(OpKind::attempt, {}, {succeeded}, span).regions = {region};
  return ir::Operand::variable(succeeded);
}

/// The arguments belong to what may fail; the value that takes the place of a failure is computed if there is one.
/// @param make  emits the call, perhaps into the variable that it is given
ir::Operand FunctionLowering::or_default(TypeId type, ir::VarId target, const ast::Expr& otherwise, Span span,
                                         const std::function<ir::Operand(ir::VarId)>& make) {
  if (target == ir::none) target = temporary(type, span);
  const ir::VarId made = temporary(type, span);
  const ir::Operand succeeded = attempt(
      [&] {
        const ir::Operand value = make(made);
        if (value.is_constant || value.index != made) store_whole(made, value, span);
      },
      span);
  std::vector<ir::RegionId> regions;
  regions.push_back(in_region([&] { store_whole(target, ir::Operand::variable(made), span); }));
  regions.push_back(in_region([&] { store_whole(target, value(otherwise), otherwise.span); }));
  emit(OpKind::if_, {succeeded}, {}, span).regions = std::move(regions);
  return ir::Operand::variable(target);
}

/// What an update has done can not be held back.
void FunctionLowering::refuse_update(const ir::Operand& updateable, Span span) {
  if (attempt_ == ir::none || updateable.is_constant || type_of(updateable) != TypeStore::updateable) return;
  const ir::Var& variable = function().variables[updateable.index];
  if (variable.region >= attempt_) return;  // regions are numbered as they are entered
  context_.diagnostics
      .report(DiagnosticKind::bad_try, span, "`" + variable.name + "` can not be updated where a failure is caught")
      .note("an update can not be taken back: assign what is to be added, and update behind it");
}

}  // namespace raddle::lowering
