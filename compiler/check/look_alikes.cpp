#include "compiler/check/look_alikes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/check/convert.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;

/// `max(A, 0)`, which NumPy's users write for `amax(A, 0)`.
void warn_of_axis(Context& context, const ast::Call& call) {
  const ast::Expr& array = *call.arguments.front().value;
  const ast::Expr& number = *call.arguments.back().value;
  const TypeStore& types = context.store();
  if (number.kind != ast::ExprKind::IntLiteral || !types.is_dense(array.type)) return;
  const auto axis = as<const ast::IntLiteral>(number).value;
  if (TypeStore::wide(types.dense_element(array.type)) != TypeStore::float_ || axis >= types.rank(array.type)) return;
  const std::string text = source_text(context, array.span);
  context.diagnostics
      .report(DiagnosticKind::like_an_axis, call.span,
              call.callee.text + "(" + text + ", " + std::to_string(axis) + ")", std::to_string(axis))
      .note("`a" + call.callee.text + "(" + text + ", " + std::to_string(axis) +
            ")` of `import arrays;` goes along the axis; to compare, write `" + std::to_string(axis) + ".0`");
}

/// `random_normal(10, 2)`: ints are extents, which are a mean and a deviation in NumPy, and here without `import
/// arrays;`.
void report_extents(Context& context, const ast::Call& call) {
  std::vector<std::string> extents;
  bool are_literals = true, is_empty = false;
  for (const ast::Call::Argument& argument : call.arguments) {
    const ast::Expr& extent = *argument.value;
    if (argument.keyword || extent.type != TypeStore::int_) return;
    const bool is_literal = extent.kind == ast::ExprKind::IntLiteral;
    are_literals = are_literals && is_literal;
    is_empty = is_empty || (is_literal && as<const ast::IntLiteral>(extent).value == 0);
    extents.push_back(source_text(context, extent.span));
  }
  const std::string& name = call.callee.text;
  const bool is_normal = name == "random_normal";
  if (extents.size() < 2 || (!is_empty && !(is_normal && are_literals))) return;
  const std::string written = fmt::format("{}({})", name, fmt::join(extents, ", "));
  const auto number = [&](std::size_t i) {
    const bool is_literal = call.arguments[i].value->kind == ast::ExprKind::IntLiteral;
    return extents[i] + (is_literal ? ".0" : "");
  };
  const std::string count = extents.size() == 3 ? extents[2] : "";
  const std::string numbers = count.empty() ? "one number" : count + " numbers";
  Diagnostic& diagnostic =
      context.diagnostics.report(is_empty ? DiagnosticKind::extent_of_zero : DiagnosticKind::like_a_mean, call.span,
                                 written, fmt::format("{}", fmt::join(extents, " x ")));
  if (is_normal)
    diagnostic.note(fmt::format("`random_normal({}, {}{})`: {} with the mean {} and the deviation {}", number(0),
                                number(1), count.empty() ? "" : ", " + count, numbers, extents[0], extents[1]));
  else
    diagnostic.note(fmt::format("`{0} + ({1} - {0}) * random({2})`: {3} from {4} up to {5}", number(0), number(1),
                                count, numbers, extents[0], extents[1]));
  if (!is_empty)
    diagnostic.note(
        fmt::format("`random_normal(0.0, 1.0, {})`: the array, without this warning", fmt::join(extents, ", ")));
}

}  // namespace

void report_look_alike(Context& context, const ast::Call& call) {
  const std::string& name = call.callee.text;
  if (call.callee_kind == ast::CalleeKind::builtin) {
    if ((name == "max" || name == "min") && call.is_lifted) warn_of_axis(context, call);
    return;
  }
  if (call.callee_kind != ast::CalleeKind::function || (name != "random" && name != "random_normal")) return;
  if (context.is_of_library(context.program.functions[call.callee_index].definition->span) &&
      !context.is_of_library(call.span))
    report_extents(context, call);
}

}  // namespace raddle::check_detail
