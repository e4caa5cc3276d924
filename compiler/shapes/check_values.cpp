// Expressions: operands of operators, arguments of calls, indices and slices.
#include <algorithm>
#include <utility>

#include "compiler/ast/children.hpp"
#include "compiler/check/annotations.hpp"
#include "compiler/check/array_choice.hpp"
#include "compiler/check/resolve_types.hpp"
#include "compiler/shapes/shape_checker.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;
using stdlib::any_extent;

/// The input that gives an extent its name; as many as there are inputs: none does.
std::size_t giver_of(const ast::FunctionDefinition& callee, const ast::Expr& entry) {
  const VariableId named = entry.kind == ExprKind::Name ? as<ast::Name>(entry).variable : ast::no_variable;
  const auto has_named = [named](const ast::Formal& each) {
    return named != ast::no_variable && std::ranges::find(each.extents, named) != each.extents.end();
  };
  return static_cast<std::size_t>(std::ranges::find_if(callee.inputs, has_named) - callee.inputs.begin());
}

bool do_not_fit(std::int64_t one, std::int64_t other) {
  return one != other && one != any_extent && other != any_extent;
}

/// As operands: extents of 1 are stretched.
bool do_not_fit(const Shape& first, const Shape& second) {
  const std::size_t shared = std::min(first.size(), second.size());
  return !std::equal(first.end() - static_cast<std::ptrdiff_t>(shared), first.end(),
                     second.end() - static_cast<std::ptrdiff_t>(shared), [](std::int64_t one, std::int64_t other) {
                       return one == 1 || other == 1 || !do_not_fit(one, other);
                     });
}

}  // namespace

void ShapeChecker::expression(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Binary: return binary(as<ast::Binary>(expr));
    case ExprKind::Call: return call(as<ast::Call>(expr));
    case ExprKind::Index: return index(as<ast::Index>(expr));
    default: ast::for_children(expr, [&](const ast::Expr& child) { expression(child); });
  }
}

void ShapeChecker::binary(const ast::Binary& binary) {
  expression(*binary.left);
  expression(*binary.right);
  if (context_.store().is_dense(context_.store().base(binary.type)))
    check_joint(ast::text_of(binary.op), {binary.left.get(), binary.right.get()}, binary.span);
}

void ShapeChecker::check_joint(std::string_view what, const std::vector<const ast::Expr*>& operands, Span at) {
  Shape joint;
  std::vector<const ast::Expr*> of_joint;  // whose shape that is
  for (const ast::Expr* const operand : operands) {
    const Shape next = known_.shape(*operand);
    if (next.empty()) continue;
    if (do_not_fit(joint, next)) {
      const std::string first = of_joint.size() == 1 ? short_text(of_joint.front()->span) : "";
      Diagnostic* const told = report(DiagnosticKind::shape_mismatch, at,
                                      stdlib::unfit_text(what, {joint, first}, {next, short_text(operand->span)}));
      for (const ast::Expr* const each : of_joint) tell_origin(told, *each);
      tell_origin(told, *operand);
      return;
    }
    Shape both = joined(joint, next);
    if (both == next) of_joint.clear();
    if (both == next || both != joint) of_joint.push_back(operand);
    joint = std::move(both);
  }
}

// ---------------------------------------------------------------- calls

void ShapeChecker::call(const ast::Call& call) {
  const bool is_replaced = find_annotation(call.annotations, "default") != nullptr;
  within(is_replaced ? Certainty::tolerated : Certainty::sure, [&] {
    // of a choice only the side that is taken is computed
    const bool is_choice = call.callee.text == "where" && call.arguments.size() == 3;
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      within(is_choice && i != 0 ? Certainty::possible : Certainty::sure,
             [&] { expression(*call.arguments[i].value); });
    if (call.is_lifted) return check_lifted(call);
    if (call.callee_kind == ast::CalleeKind::structure) return check_fields(call);
    if (call.callee_kind != ast::CalleeKind::function) return;
    const ast::FunctionDefinition& callee = *context_.program.functions[call.callee_index].definition;
    check_inputs(call);
    if (context_.is_of_library(callee.span)) return check_axis(call, callee);
    if (certainty_ == Certainty::sure && seen_.insert(&callee).second) called_.push_back(&callee);
  });
}

void ShapeChecker::check_lifted(const ast::Call& call) {
  check_joint(call.callee.text, known_.lifted_arguments(call), call.span);
}

void ShapeChecker::check_inputs(const ast::Call& call) {
  const ast::FunctionDefinition& callee = *context_.program.functions[call.callee_index].definition;
  const bool is_of_library = context_.is_of_library(callee.span);
  const auto known = known_.inputs_of(call);
  const auto name_of = [&](std::size_t input, bool says_function) {
    if (!is_of_library) return "`" + callee.inputs[input].name.text + "`";
    return "argument " + std::to_string(input + 1) + (says_function ? " of `" + call.callee.text + "`" : "");
  };
  for (std::size_t i = 0; i < std::min(callee.inputs.size(), call.resolved_arguments.size()); ++i) {
    const ast::Formal& input = callee.inputs[i];
    const ast::Expr* const argument = call.resolved_arguments[i];
    const ast::Dimension* const dimension = extents_of(input.type, input.dimensions);
    if (argument == nullptr || dimension == nullptr || !context_.store().is_dense(input.resolved_type)) continue;
    const Shape found = known_.shape(*argument), declared = known_.extents(*dimension, {.inputs = &known});
    Shape wanted = declared;
    for (std::size_t axis = 0; axis < std::min(wanted.size(), input.extents.size()); ++axis)
      if (input.extents[axis] != ast::no_variable) wanted[axis] = any_extent;  // it is this array that gives it
    if (found.size() != wanted.size() || wanted.size() != input.extents.size()) continue;
    const auto wrong = std::ranges::mismatch(wanted, found, [](std::int64_t one, std::int64_t other) {
                         return !do_not_fit(one, other);
                       }).in1;
    if (wrong == wanted.end()) continue;
    const ast::Expr& entry = *dimension->entries[static_cast<std::size_t>(wrong - wanted.begin())];
    const std::size_t giver = giver_of(callee, entry);
    stdlib::SharedExtent shared;
    std::string other;
    Shape other_shape;
    if (giver != callee.inputs.size()) {
      if (!is_of_library) shared.extent = as<ast::Name>(entry).text;
      if (giver != i) {
        other = name_of(giver, false);
        other_shape = known_.shape(*call.resolved_arguments[giver]);
        shared.other = other;
        shared.shape = other_shape;
      }
    }
    Diagnostic* const told = report(DiagnosticKind::shape_mismatch, argument->span,
                                    stdlib::wanted_shape_text(name_of(i, true), wanted, found, shared));
    if (giver < callee.inputs.size() && giver != i) tell_origin(told, *call.resolved_arguments[giver]);
    tell_origin(told, *argument);
    if (told != nullptr && !is_of_library) told->label(input.span, "the input `" + input.name.text + "`");
    return;
  }
}

/// In the library it is an axis of the array that is given or of the one that is made, whichever has more of them.
void ShapeChecker::check_axis(const ast::Call& call, const ast::FunctionDefinition& callee) {
  std::uint32_t rank = 0;
  const ast::Expr* axis = nullptr;
  for (std::size_t i = 0; i < std::min(callee.inputs.size(), call.resolved_arguments.size()); ++i) {
    const ast::Expr* const argument = call.resolved_arguments[i];
    if (argument == nullptr) continue;
    rank = std::max(rank, context_.store().rank(context_.store().base(argument->type)));
    if (callee.inputs[i].name.text == "axis") axis = argument;
  }
  for (const TypeId output : call.output_types)
    rank = std::max(rank, context_.store().rank(context_.store().base(output)));
  const auto number = axis == nullptr || rank == 0 ? std::nullopt : known_.number(*axis);
  if (number && (*number < -std::int64_t{rank} || *number >= std::int64_t{rank}))
    report(DiagnosticKind::no_axis, axis->span, stdlib::no_axis_text(*number, rank));
}

void ShapeChecker::check_fields(const ast::Call& call) {
  const auto& fields = context_.store().structure(context_.store().base(call.type)).fields;
  for (std::size_t i = 0; i < std::min(fields.size(), call.resolved_arguments.size()); ++i)
    if (const ast::Expr* const argument = call.resolved_arguments[i]; argument != nullptr)
      check_fit(*argument, known_.shape(*argument),
                {fields[i].extents, "`" + fields[i].name + "`", fields[i].span, argument->span});
}

void ShapeChecker::check_fit(const ast::Expr& value, const Shape& found, const Wanted& wanted) {
  const Shape& shape = wanted.shape;
  if (found.empty() || found.size() != shape.size()) return;
  bool fits = true;
  for (std::size_t axis = 0; axis < found.size(); ++axis) fits = fits && !do_not_fit(found[axis], shape[axis]);
  if (fits) return;
  Diagnostic* const told =
      report(DiagnosticKind::shape_mismatch, wanted.at, stdlib::wanted_shape_text(wanted.name, shape, found));
  const auto line_of = [this](Span span) { return std::pair(span.file, context_.sources.position(span).line); };
  if (told != nullptr && line_of(wanted.declared) != line_of(wanted.at)) told->label(wanted.declared, "declared here");
  tell_origin(told, value);
}

/// Of what is assigned to a place in the script.
ShapeChecker::Wanted ShapeChecker::wanted_at(const ast::Expr& place, const std::string& name, Span at) {
  const ast::Expr* holder = &place;
  while (holder->kind == ExprKind::Index) holder = as<ast::Index>(*holder).base.get();
  Wanted wanted{known_.declared_at(place), name, holder->span, at};
  if (holder->kind == ExprKind::Name && as<ast::Name>(*holder).variable != ast::no_variable)
    wanted.declared = context_.variable(as<ast::Name>(*holder).variable).span;
  if (holder->kind == ExprKind::Field && !wanted.shape.empty()) {
    const auto& field = as<ast::Field>(*holder);
    wanted.declared = context_.store().structure(context_.store().base(field.base->type)).fields[field.index].span;
  }
  return wanted;
}

// ---------------------------------------------------------------- indices

void ShapeChecker::index(const ast::Index& index) {
  expression(*index.base);
  for (const ast::ExprPtr& each : index.indices) expression(*each);
  const TypeId base = context_.store().base(index.base->type);
  if (!context_.store().is_dense(base)) return;
  const Shape array = known_.shape(*index.base);
  const std::string name = short_text(index.base->span);
  for (std::size_t axis = 0; axis < std::min(array.size(), index.indices.size()); ++axis) {
    const ast::Expr& entry = *index.indices[axis];
    if (array[axis] == any_extent || context_.store().is_dense(entry.type)) continue;
    if (entry.kind == ExprKind::Slice) {
      slice(index, axis, array);
      continue;
    }
    const auto at = known_.number(entry, {.end = array[axis]});
    if (!at || (*at >= 0 && *at < array[axis])) continue;
    tell_origin(report(DiagnosticKind::index_outside, entry.span, stdlib::index_outside_text(*at, axis, {array, name})),
                *index.base);
  }
}

void ShapeChecker::slice(const ast::Index& index, std::size_t axis, const Shape& array) {
  const auto& written = as<ast::Slice>(*index.indices[axis]);
  const Surroundings around{.end = array[axis]};
  const auto first = written.low == nullptr ? std::optional<std::int64_t>(0) : known_.number(*written.low, around);
  const auto last = written.high == nullptr ? std::optional(array[axis] - 1) : known_.number(*written.high, around);
  if (!first || !last || stdlib::is_slice_within(*first, *last, array[axis])) return;
  tell_origin(report(DiagnosticKind::index_outside, written.span,
                     stdlib::slice_outside_text(*first, *last, axis, {array, short_text(index.base->span)})),
              *index.base);
}

// ---------------------------------------------------------------- messages

Diagnostic* ShapeChecker::report(DiagnosticKind kind, Span at, const std::string& text) {
  const bool is_of_earlier_piece = context_.options.piece != nullptr && at.file != context_.main_file;
  switch (certainty_) {
    case Certainty::sure: return &context_.diagnostics.report(kind, at, text);
    case Certainty::possible:
      return is_of_earlier_piece ? nullptr : &context_.diagnostics.report(DiagnosticKind::would_fail, at, text);
    case Certainty::tolerated: break;
  }
  return nullptr;
}

void ShapeChecker::tell_origin(Diagnostic* diagnostic, const ast::Expr& expr) {
  if (diagnostic == nullptr) return;
  if (expr.kind != ExprKind::Name && expr.kind != ExprKind::Index)
    return ast::for_children(expr, [&](const ast::Expr& child) { tell_origin(diagnostic, child); });
  const ast::Expr* at = &expr;
  while (at->kind == ExprKind::Index) at = as<ast::Index>(*at).base.get();
  if (at->kind != ExprKind::Name || as<ast::Name>(*at).variable == ast::no_variable) return;
  const Variable& variable = context_.variable(as<ast::Name>(*at).variable);
  const Shape shape = known_.shape_of(as<ast::Name>(*at).variable);
  const auto is_here = [&](const Diagnostic::Label& label) {
    return label.span.file == variable.span.file && label.span.begin == variable.span.begin;
  };
  const bool is_known = std::ranges::any_of(shape, [](std::int64_t extent) { return extent != any_extent; });
  if (!is_known || std::ranges::any_of(diagnostic->labels, is_here)) return;
  diagnostic->label(variable.span, "`" + variable.name + "` has the shape " + stdlib::shape_text(shape));
}

/// As it is written; "" where that is long.
std::string ShapeChecker::short_text(Span span) const {
  constexpr std::size_t longest = 40;  // as lowering has it
  const std::size_t size = span.end - span.begin;
  return size > longest ? "" : context_.sources.at(span.file).text().substr(span.begin, size);
}

}  // namespace raddle::check_detail
