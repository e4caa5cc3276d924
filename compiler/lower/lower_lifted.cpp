// Whole-array expressions: an expression of dense arrays becomes one loop that computes it for each element. So a
// whole expression is one index launch, and nothing between its operators is ever stored.
#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/check/annotations.hpp"
#include "compiler/check/resolve_types.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

namespace {

/// An element takes longer to be computed than to be read.
bool is_dear(const ast::Expr& expr) {
  if (expr.kind == ExprKind::Unary) return is_dear(*as<ast::Unary>(expr).operand);
  if (expr.kind == ExprKind::Call) return as<ast::Call>(expr).is_lifted;
  if (expr.kind != ExprKind::Binary) return false;
  const auto& binary = as<ast::Binary>(expr);
  return binary.op == ast::BinaryOp::pow || is_dear(*binary.left) || is_dear(*binary.right);
}

}  // namespace

// ---------------------------------------------------------------- what there is at a point

Lifted FunctionLowering::lifted(const ast::Expr& expr) {
  const bool is_dense = types().is_dense(expr.type);
  if (!is_dense || ast::is_text(expr.conversion)) {
    const ir::Operand scalar = value(expr);
    return {.at = [scalar](const Point&) { return Operands{scalar}; }};
  }
  Lifted made = lifted_dense(expr);
  if (ast::number_of(expr.conversion) == TypeStore::error) return made;
  made.at = [this, at = std::move(made.at), conversion = expr.conversion, span = expr.span](const Point& point) {
    return Operands{converted(at(point)[0], conversion, span)};
  };
  return made;
}

Lifted FunctionLowering::lifted_dense(const ast::Expr& expr) {
  if (expr.kind == ExprKind::Unary) {
    const auto& unary = as<ast::Unary>(expr);
    Lifted made = lifted(*unary.operand);
    made.at = [this, &unary, at = std::move(made.at)](const Point& point) {
      return Operands{apply(unary, at(point)[0], types().dense_element(unary.type), ir::none)};
    };
    return made;
  }
  if (expr.kind == ExprKind::Binary) {
    const auto& binary = as<ast::Binary>(expr);
    std::vector<Lifted> operands;
    operands.push_back(lifted(*binary.left));
    operands.push_back(lifted(*binary.right));
    compute_before(operands, {binary.left.get(), binary.right.get()});
    Lifted made = joined(operands, {binary.left->span, binary.right->span}, ast::text_of(binary.op), binary.span);
    made.at = [this, &binary, left = std::move(operands[0].at), right = std::move(operands[1].at)](const Point& point) {
      const ir::Operand first = left(point)[0];
      return Operands{apply(binary, first, right(point)[0], types().dense_element(binary.type), ir::none)};
    };
    return made;
  }
  if (expr.kind == ExprKind::Call && as<ast::Call>(expr).is_lifted) return lifted_call(as<ast::Call>(expr));
  if (expr.kind == ExprKind::Index && types().is_dense(as<ast::Index>(expr).base->type))
    return chosen(as<ast::Index>(expr));
  return read_whole(unwidened_view(expr), expr.span);
}

Lifted FunctionLowering::read_whole(const Dense& array, Span span) {
  auto read = std::make_shared<Stretched>(array.extents);
  Lifted made{.extents = array.extents, .read = {read}};
  made.at = [this, array, read, span](const Point& point) {
    const ir::Operand key = point.flat.index != ir::none ? key_of_number(point.flat, array, span)
                                                         : key_of(indices_at(point, *read, span), array, span);
    const TypeId element = types().at(type_of(array.elements)).element;
    return Operands{emit_value(OpKind::array_get, {array.elements, key}, element, span)};
  };
  return made;
}

FunctionLowering::Operands FunctionLowering::indices_at(const Point& point, const Stretched& read, Span span) {
  const std::size_t rank = read.extents.size();
  Operands indices(point.indices.end() - static_cast<std::ptrdiff_t>(rank), point.indices.end());
  for (std::size_t axis = 0; axis < std::min(rank, read.factors.size()); ++axis) {
    const ir::Operand factor = read.factors[axis];
    if (factor.is_constant)
      indices[axis] = factor;
    else if (point.stretches && factor.index != ir::none)
      indices[axis] = emit_value(OpKind::index_mul, {indices[axis], factor}, TypeStore::int_, span);
  }
  return indices;
}

void FunctionLowering::compute_before(std::vector<Lifted>& operands, const std::vector<const ast::Expr*>& exprs) {
  std::size_t rank = 0;
  for (const Lifted& each : operands) rank = std::max(rank, each.extents.size());
  const auto is_repeated = [&](const Lifted& operand) {
    if (operand.extents.size() < rank) return true;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const auto is_longer = [&](const Lifted& other) {
        return other.extents.size() == rank && !is_one(other.extents[axis]);
      };
      if (is_one(operand.extents[axis]) && std::ranges::any_of(operands, is_longer)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < operands.size() && !is_in_choice_; ++i) {
    const ast::Expr* const expr = exprs[i];
    if (operands[i].extents.empty() || !expr || !is_dear(*expr) || !is_repeated(operands[i])) continue;
    const TypeId number = ast::number_of(expr->conversion);
    const TypeId element = number == TypeStore::error ? types().dense_element(expr->type) : number;
    operands[i] = read_whole(fill(operands[i], {element}, expr->span)[0], expr->span);
  }
}

/// `f(A, b)`: for each element.
Lifted FunctionLowering::lifted_call(const ast::Call& call) {
  const ast::Annotation* const otherwise = check_detail::find_annotation(call.annotations, "default");
  std::vector<Lifted> arguments;
  std::vector<const ast::Expr*> exprs = call.resolved_arguments;
  for (const ast::Expr*& argument : exprs) {
    const bool is_choice = otherwise || (is_where(call) && !arguments.empty());
    const bool was_in_choice = std::exchange(is_in_choice_, is_in_choice_ || is_choice);
    const bool is_whole = ast::is_growing(argument->conversion) || is_taken_whole(call, arguments.size());
    if (is_whole && types().is_dense(argument->type)) {
      Operands whole;
      if (ast::is_growing(argument->conversion))
        whole.push_back(value(*argument));
      else
        add_parts(whole, dense_parts(*argument), false);
      arguments.push_back({.at = [whole](const Point&) { return whole; }});
    } else {
      arguments.push_back(lifted(*argument));
    }
    is_in_choice_ = was_in_choice;
    if (is_choice) argument = nullptr;
  }
  compute_before(arguments, exprs);
  std::vector<Span> written;
  for (const ast::Expr* const argument : call.resolved_arguments) written.push_back(argument->span);
  Lifted made = joined(arguments, written, call.callee.text, call.span);
  std::vector<std::function<Operands(const Point&)>> parts;
  for (Lifted& argument : arguments) parts.push_back(std::move(argument.at));
  if (is_where(call)) {
    made.at = [this, &call, parts = std::move(parts)](const Point& point) {
      const TypeId type = types().dense_element(call.type);
      return Operands{choose(parts[0](point)[0], type, call.span, ir::none,
                             [&](bool is_so) { return converted(parts[is_so ? 1 : 2](point)[0], type, call.span); })};
    };
    return made;
  }
  const auto result_at = [this, &call, parts = std::move(parts)](const Point& point) {
    Operands operands;
    for (const auto& part : parts) std::ranges::copy(part(point), std::back_inserter(operands));
    return call_at_point(call, std::move(operands));
  };
  made.at = result_at;
  if (otherwise)
    made.at = [this, &call, otherwise, result_at](const Point& point) {
      return Operands{or_default(types().dense_element(call.type), ir::none, *otherwise->value, call.span,
                                 [&](ir::VarId) { return result_at(point)[0]; })};
    };
  return made;
}

bool FunctionLowering::is_in_arrays(Span span) const {
  return context_.module.sources->at(span.file).is_library_module("arrays");
}

bool FunctionLowering::is_of_arrays(const ast::Call& call) const {
  return call.callee_kind == ast::CalleeKind::function &&
         is_in_arrays(context_.program.functions[call.callee_index].definition->span);
}

bool FunctionLowering::is_where(const ast::Call& call) const {
  return is_of_arrays(call) && context_.program.functions[call.callee_index].name == "where";
}

ir::Operand FunctionLowering::choice(const ast::Call& call, ir::VarId target) {
  return choose(value(*call.resolved_arguments[0]), call.type, call.span, target,
                [&](bool is_so) { return value(*call.resolved_arguments[is_so ? 1 : 2]); });
}

ir::Operand FunctionLowering::choose(ir::Operand condition, TypeId type, Span span, ir::VarId target,
                                     const std::function<ir::Operand(bool)>& value_of) {
  const ir::VarId result = target == ir::none ? temporary(type, span) : target;
  std::vector<ir::RegionId> regions;
  for (const bool is_so : {true, false})
    regions.push_back(in_region([&] { emit(OpKind::copy, {value_of(is_so)}, {result}, span); }));
  emit(OpKind::if_, {condition}, {}, span).regions = std::move(regions);
  return ir::Operand::variable(result);
}

ir::Operand FunctionLowering::product(const Operands& extents, Span span) {
  ir::Operand count = extents[0];
  for (std::size_t axis = 1; axis < extents.size(); ++axis)
    count = emit_value(OpKind::mul, {count, extents[axis]}, TypeStore::int_, span);
  return count;
}

FunctionLowering::Operands FunctionLowering::lifted_outputs(const ast::Call& call,
                                                            const std::vector<ir::VarId>& targets) {
  std::vector<TypeId> elements;
  for (const TypeId type : call.output_types) elements.push_back(types().dense_element(type));
  const std::vector<Dense> made = fill(lifted_call(call), elements, call.span);
  Operands outputs;
  for (std::size_t i = 0; i < made.size(); ++i)
    outputs.push_back(ir::Operand::variable(pack(made[i], call.output_types[i], call.span, targets[i])));
  return outputs;
}

/// The function itself takes a dense array there.
bool FunctionLowering::is_taken_whole(const ast::Call& call, std::size_t argument) const {
  if (call.callee_kind != ast::CalleeKind::function) return false;
  const CheckedFunction& callee = context_.program.functions[call.callee_index];
  return types().is_dense(context_.program.variables[callee.inputs[argument]].type);
}

FunctionLowering::Operands FunctionLowering::call_at_point(const ast::Call& call, Operands operands) {
  std::vector<ir::VarId> results;
  Operands outputs;
  for (const TypeId type : call.output_types) {
    results.push_back(temporary(types().dense_element(type), call.span));
    outputs.push_back(ir::Operand::variable(results.back()));
  }
  std::vector<TypeId> operand_types;
  if (call.callee_kind == ast::CalleeKind::builtin) {
    for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
    ir::Op& op = emit(OpKind::call_builtin, std::move(operands), std::move(results), call.span);
    op.callee = call.callee_index;
    op.operand_types = std::move(operand_types);
    return outputs;
  }
  add_globals(operands, call.callee_index);
  emit(OpKind::call, std::move(operands), std::move(results), call.span).callee =
      function_of(context_, call.callee_index);
  return outputs;
}

// ---------------------------------------------------------------- loops

void FunctionLowering::for_each_point(const Lifted& of, Span span, const std::function<void(const Point&)>& visit) {
  const bool is_sure = std::ranges::all_of(of.read, [&](const auto& read) { return has_extents_of(of, *read); });
  const bool is_flat = of.is_flat && std::ranges::all_of(of.read, [&](const auto& read) {
                         return read->extents.size() == of.extents.size() && !is_sure_to_stretch(of, *read);
                       });
  const auto loop = [&](bool stretches) {
    if (is_flat && !stretches)
      flat_loop(of.extents, span, visit);
    else
      nested_loops(of.extents, stretches, {}, span, visit);
  };
  if (is_sure) return loop(false);
  const ir::Operand is_plain = nothing_stretches(of, span);
  make_factors(of, span);
  if (is_plain.index == ir::none) return loop(false);
  std::vector<ir::RegionId> regions;
  regions.push_back(in_region([&] { loop(false); }));
  regions.push_back(in_region([&] { loop(true); }));
  emit(OpKind::if_, {is_plain}, {}, span).regions = std::move(regions);
}

/// `foreach i in [0:count - 1]`
void FunctionLowering::count_to(ir::Operand count, Span span, const std::function<void(ir::Operand)>& body) {
  const ir::Operand last = emit_value(OpKind::index_add, {count, int_constant(-1)}, TypeStore::int_, span);
  const ir::RegionId region = in_region([&] {
    for (int i = 0; i < 2; ++i)
      function().regions[region_].parameters.push_back(new_variable("", TypeStore::int_, span, region_));
    body(ir::Operand::variable(function().regions[region_].parameters[0]));
  });
  ir::Op& loop = emit(OpKind::foreach_range, {int_constant(0), last, int_constant(1)}, {}, span);
  loop.regions = {region};
  loop.is_whole = true;
}

void FunctionLowering::flat_loop(const Operands& extents, Span span, const std::function<void(const Point&)>& visit) {
  count_to(product(extents, span), span, [&](ir::Operand number) { visit({.indices = {number}, .flat = number}); });
}

void FunctionLowering::nested_loops(const Operands& extents, bool stretches, Operands indices, Span span,
                                    const std::function<void(const Point&)>& visit) {
  if (indices.size() == extents.size()) return visit({.indices = std::move(indices), .stretches = stretches});
  count_to(extents[indices.size()], span, [&](ir::Operand index) {
    Operands inner = indices;
    inner.push_back(index);
    nested_loops(extents, stretches, std::move(inner), span, visit);
  });
}

std::vector<FunctionLowering::Dense> FunctionLowering::fill(const Lifted& of, const std::vector<TypeId>& elements,
                                                            Span span) {
  std::vector<Dense> made;
  for (const TypeId element : elements)
    made.push_back({ir::Operand::variable(new_elements("", element, of.extents, span)), of.extents});
  for_each_point(of, span, [&](const Point& point) {
    const Operands results = of.at(point);
    const ir::Operand key = point.flat.index != ir::none ? point.flat : key_of(point.indices, {{}, of.extents}, span);
    for (std::size_t i = 0; i < made.size(); ++i)
      emit(OpKind::array_insert, {made[i].elements, key, results[i]}, {}, span);
  });
  return made;
}

/// Extents that are the old ones, once they have been checked: the loop waits for that.
void FunctionLowering::set_extents(Lifted& of, Operands checked) const {
  for (const auto& read : of.read)
    for (std::size_t axis = 0; axis < read->extents.size(); ++axis) {
      const std::size_t here = first_axis(of, *read) + axis;
      if (is_same_extent(read->extents[axis], of.extents[here])) read->extents[axis] = checked[here];
    }
  of.extents = std::move(checked);
}

/// Computed, element by element, or written down.
ir::Operand FunctionLowering::dense_value(const ast::Expr& expr, ir::VarId target) {
  const bool is_declared = has_declared_extents(target);
  if (expr.kind == ExprKind::ArrayLiteral || expr.kind == ExprKind::Range) {
    Dense made = dense_literal(expr);
    if (is_declared) made = fitting(target, made, expr.span);
    return ir::Operand::variable(pack(made, expr.type, expr.span, target));
  }
  TypeId type = expr.type;
  const TypeId number = ast::number_of(expr.conversion);
  const bool widens = number != TypeStore::error;
  if (widens) type = context_.program.types.dense_of(number, types().rank(type));
  Lifted computed = widens ? lifted(expr) : lifted_dense(expr);
  if (is_declared) set_extents(computed, declared_extents(target, computed.extents, expr.span));
  const Dense made = fill(computed, {types().dense_element(type)}, expr.span)[0];
  return ir::Operand::variable(pack(made, type, expr.span, target));
}

FunctionLowering::Dense FunctionLowering::dense_literal(const ast::Expr& expr) {
  const TypeId element = types().dense_element(expr.type);
  if (expr.kind == ExprKind::Range) {
    const TypeId numbers = context_.program.types.array_of(TypeStore::int_, TypeStore::wide(element));
    const ir::Operand elements =
        emit_value(OpKind::array_range, range_bounds(as<ast::Range>(expr)), numbers, expr.span);
    const Dense range{elements, {call_builtin_named("size", {elements}, TypeStore::int_, expr.span)}};
    if (!TypeStore::is_narrow(element)) return range;
    Lifted narrow = read_whole(range, expr.span);
    narrow.at = [this, at = std::move(narrow.at), element, span = expr.span](const Point& point) {
      return Operands{converted(at(point)[0], element, span)};
    };
    return fill(narrow, {element}, expr.span)[0];
  }
  const TypeId growing = context_.program.types.array_of(TypeStore::int_, element);
  Dense made;
  Operands elements;
  const ast::Expr* row = &expr;
  for (std::uint32_t axis = 0; axis < types().rank(expr.type); ++axis) {
    const auto& rows = as<ast::ArrayLiteral>(*row).elements;
    made.extents.push_back(int_constant(static_cast<std::int64_t>(rows.size())));
    if (rows.empty()) made.extents.resize(types().rank(expr.type), int_constant(0));
    if (rows.empty()) break;
    row = rows.front().get();
  }
  add_elements(expr, types().rank(expr.type), elements);
  made.elements = emit_value(OpKind::array_list, std::move(elements), growing, expr.span);
  return made;
}

void FunctionLowering::add_elements(const ast::Expr& literal, std::uint32_t rank, Operands& elements) {
  for (const ast::ExprPtr& each : as<ast::ArrayLiteral>(literal).elements) {
    if (rank == 1)
      elements.push_back(value(*each));
    else
      add_elements(*each, rank - 1, elements);
  }
}

}  // namespace raddle::lowering
