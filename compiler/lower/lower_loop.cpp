#include <algorithm>
#include <utility>

#include "compiler/check/resolve_types.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ir::OpKind;

void FunctionLowering::foreach (const ast::Foreach& loop) {
  const vm::Placement around = std::exchange(placement_, placement_of(loop.annotations, placement_));
  lower_foreach(loop);
  placement_ = around;
}

void FunctionLowering::lower_foreach(const ast::Foreach& loop) {
  if (types().is_dense(loop.iterable->type)) return foreach_dense(loop);
  const bool over_range = loop.iterable->kind == ast::ExprKind::Range;
  Operands operands = over_range ? range_bounds(as<ast::Range>(*loop.iterable)) : Operands{value(*loop.iterable)};
  if (over_range && !is_upwards(operands[2])) return foreach_either_way(loop, operands);
  const ir::RegionId body = in_region([&] {
    region_parameter(region_, loop.value_variable);
    if (loop.key) {
      region_parameter(region_, loop.key_variable);
    } else {
      const TypeId type = over_range || !types().is_array(types().base(loop.iterable->type))
                              ? TypeStore::int_
                              : types().at(types().base(loop.iterable->type)).key;
      function().regions[region_].parameters.push_back(new_variable("", type, loop.span, region_));
    }
    lower_block(*loop.body);
  });
  ir::Op& made = emit(over_range ? OpKind::foreach_range : OpKind::foreach_array, std::move(operands), {}, loop.span);
  made.regions = {body};
  made.is_whole = is_in_arrays(loop.span);
}

bool FunctionLowering::is_upwards(ir::Operand step) {
  if (!step.is_constant) return false;
  const ir::Constant& known = context_.module.constants[step.index];
  const auto* number = std::get_if<double>(&known);
  return number != nullptr ? *number > 0 : std::get<std::int64_t>(known) > 0;
}

/// The step is negative, or not known: what comes after sees a loop that counts upwards.
void FunctionLowering::foreach_either_way(const ast::Foreach& loop, const Operands& bounds) {
  const Span span = loop.iterable->span;
  const TypeId type = context_.program.variables[loop.value_variable].type;
  const bool is_float = types().base(type) == TypeStore::float_;
  const ir::Operand count =
      call_builtin_named(is_float ? "@count_floats" : "@count_ints", bounds, TypeStore::int_, span);
  const ir::Operand last = emit_value(OpKind::index_add, {count, int_constant(-1)}, TypeStore::int_, span);
  const ir::RegionId body = in_region([&] {
    for (int i = 0; i < 2; ++i)
      function().regions[region_].parameters.push_back(new_variable("", TypeStore::int_, span, region_));
    const ir::Operand number = ir::Operand::variable(function().regions[region_].parameters[0]);
    if (loop.key) variables_[loop.key_variable] = number.index;
    const ir::VarId variable = declare(loop.value_variable);
    const auto moved = [&](ir::Operand from, ir::Operand steps, ir::VarId target) {
      const ir::Operand distance = emit_value(OpKind::mul, {steps, bounds[2]}, types().base(type), span);
      return emit_value(OpKind::add, {from, distance}, types().base(type), span, target);
    };
    if (is_float || bounds[2].is_constant) {
      moved(bounds[0], converted(number, type, span), variable);
    } else {  // in two halves: the whole distance may be no int
      const ir::Operand half = emit_value(OpKind::idiv, {number, int_constant(2)}, TypeStore::int_, span);
      const ir::Operand rest = emit_value(OpKind::sub, {number, half}, TypeStore::int_, span);
      moved(moved(bounds[0], half, ir::none), rest, variable);
    }
    lower_block(*loop.body);
  });
  ir::Op& made = emit(OpKind::foreach_range, {int_constant(0), last, int_constant(1)}, {}, loop.span);
  made.regions = {body};
  made.is_whole = is_in_arrays(loop.span);
}

/// Over the elements, or, of more than one dimension, over the rows.
void FunctionLowering::foreach_dense(const ast::Foreach& loop) {
  const Dense over = dense_parts(*loop.iterable);
  if (over.extents.size() == 1) {
    const ir::RegionId body = in_region([&] {
      region_parameter(region_, loop.value_variable);
      if (loop.key)
        region_parameter(region_, loop.key_variable);
      else
        function().regions[region_].parameters.push_back(new_variable("", TypeStore::int_, loop.span, region_));
      lower_block(*loop.body);
    });
    emit(OpKind::foreach_array, {over.elements, over.extents[0]}, {}, loop.span).regions = {body};
    return;
  }
  const auto& named = context_.program.variables[loop.key ? loop.key_variable : loop.value_variable];
  count_to(over.extents[0], loop.span, [&](ir::Operand number) {
    if (loop.key) variables_[loop.key_variable] = number.index;
    function().variables[number.index].name = named.name;  // as messages call the iteration
    const Span span = loop.iterable->span;
    Lifted rows = read_whole(over, span);
    const Operands extents(over.extents.begin() + 1, over.extents.end());
    const Lifted row{.extents = extents, .is_flat = false, .at = [&](const Point& point) {
                       Operands indices = {number};
                       indices.insert(indices.end(), point.indices.begin(), point.indices.end());
                       return rows.at({.indices = std::move(indices)});
                     }};
    const TypeId type = context_.program.variables[loop.value_variable].type;
    pack(fill(row, {types().dense_element(type)}, span)[0], type, span, declare(loop.value_variable));
    lower_block(*loop.body);
  });
}

// See Note [loop] in compiler/ir/module.hpp: the test's region holds the loop variables, the body's the statements and
// the updates, which see the old loop variables and the variables of the body.
void FunctionLowering::for_loop(const ast::For& loop) {
  Operands initial, nexts;
  std::vector<Operands> extents;  // of each variable, as declared
  const auto fitting_variable = [&](std::size_t i, const ast::Expr& expr) {
    return fitted(value(expr), extents[i], "`" + loop.variables[i].name.text + "`", expr.span);
  };
  for (const ast::For::Variable& variable : loop.variables) {
    extents.push_back(extents_of_loop_variable(variable));
    initial.push_back(fitting_variable(initial.size(), *variable.initial));
  }
  ir::Operand test;
  const ir::RegionId test_region = in_region([&] {
    for (std::size_t i = 0; i < extents.size(); ++i)
      expect_extents(region_parameter(region_, loop.variables[i].variable), extents[i]);
    test = condition(*loop.condition);
  });
  const ir::RegionId here = region_;
  region_ = test_region;
  const ir::RegionId body_region = in_region([&] {
    if (const Operands awaited = awaited_by(loop); !awaited.empty())
      wait_for(
          awaited, [&] { lower_block(*loop.body); }, loop.span, /*has_scope=*/false);
    else
      lower_block(*loop.body);
    for (const ast::For::Variable& variable : loop.variables)
      nexts.push_back(fitting_variable(nexts.size(), *variable.update));
  });
  region_ = here;
  ir::Op& op = emit(OpKind::loop, std::move(initial), final_values(loop), loop.span);
  op.regions = {test_region, body_region};
  op.condition = test;
  op.nexts = std::move(nexts);
  for (std::size_t i = 0; i < loop.variables.size(); ++i) {
    const ast::VariableId outer = loop.variables[i].outer;
    if (outer == ast::no_variable || !file_has_object(variable_of(outer))) continue;
    const ir::VarId final_file = function().regions[region_].ops.back().results[i];
    store_whole(variable_of(outer), ir::Operand::variable(final_file), loop.span);
  }
}

FunctionLowering::Operands FunctionLowering::extents_of_loop_variable(const ast::For::Variable& variable) {
  if (variable.outer != ast::no_variable) return extents_declared_for(variable_of(variable.outer));
  const std::vector<ast::Dimension> none;
  const auto* const dimension = variable.type ? check_detail::extents_of(*variable.type, none) : nullptr;
  return written_extents(variable.variable, dimension);
}

/// The initial value and those that follow it have been checked.
void FunctionLowering::expect_extents(ir::VarId variable, const Operands& wanted) {
  if (!types().is_dense(function().variables[variable].type)) return;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis)
    if (wanted[axis].index != ir::none) note_extent(parts_of(variable).extents[axis], wanted[axis]);
}

/// The loop variables that each iteration's body waits for: `@waitonall`, `@waiton=x`.
FunctionLowering::Operands FunctionLowering::awaited_by(const ast::For& loop) {
  Operands awaited;
  for (const ast::Annotation& annotation : loop.annotations) {
    for (const ast::For::Variable& variable : loop.variables) {
      const bool is_named =
          annotation.name.text == "waiton" && as<ast::Name>(*annotation.value).text == variable.name.text;
      if (annotation.name.text == "waitonall" || is_named)
        awaited.push_back(ir::Operand::variable(variable_of(variable.variable)));
    }
  }
  return awaited;
}

/// None if no variable was declared outside the loop: then nobody reads a final value.
std::vector<ir::VarId> FunctionLowering::final_values(const ast::For& loop) {
  std::vector<ir::VarId> results;
  const auto is_outer = [](const ast::For::Variable& variable) { return variable.outer != ast::no_variable; };
  if (std::ranges::none_of(loop.variables, is_outer)) return results;
  for (const ast::For::Variable& variable : loop.variables) {
    const bool takes_value = is_outer(variable) && !file_has_object(variable_of(variable.outer));
    results.push_back(takes_value ? variable_of(variable.outer)
                                  : temporary(context_.program.variables[variable.variable].type, loop.span));
  }
  return results;
}

void FunctionLowering::iterate(const ast::Iterate& loop) {
  const ir::RegionId test_region = in_region([&] { region_parameter(region_, loop.variable); });
  const ir::RegionId here = region_;
  region_ = test_region;
  ir::Operand stop, next;
  const ir::RegionId body_region = in_region([&] {
    lower_block(*loop.body);
    stop = condition(*loop.until);
    const ir::Operand counter = ir::Operand::variable(variable_of(loop.variable));
    next = emit_value(OpKind::add, {counter, int_constant(1)}, TypeStore::int_, loop.span);
  });
  region_ = here;
  ir::Op& op = emit(OpKind::loop, {int_constant(0)}, {}, loop.span);
  op.regions = {test_region, body_region};
  op.condition = stop;
  op.nexts = {next};
  op.test_after = true;
}

}  // namespace raddle::lowering
