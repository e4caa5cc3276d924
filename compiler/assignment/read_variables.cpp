#include "compiler/assignment/read_variables.hpp"

#include <algorithm>
#include <iterator>

#include "compiler/ast/children.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;
using ast::for_children;

/// `s.f.g`: the variable s and the fields; no_variable for anything else.
VariableId field_path(const ast::Expr& expr, Path& path) {
  if (expr.kind == ExprKind::Name) return as<const ast::Name>(expr).variable;
  if (expr.kind != ExprKind::Field) return ast::no_variable;
  const auto& field = as<const ast::Field>(expr);
  const VariableId variable = field_path(*field.base, path);
  path.push_back({.kind = Step::Kind::field, .field = field.index, .key = {}});
  return variable;
}

/// `filename(f)`: a builtin that does not wait for its file to be written.
bool needs_only_the_name(const ast::Expr& expr) {
  if (expr.kind != ExprKind::Call) return false;
  const auto& call = as<const ast::Call>(expr);
  if (call.callee_kind != ast::CalleeKind::builtin) return false;
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(call.callee_index);
  return signature.uses_name_of(stdlib::BasicType::file) || signature.uses_name_of(stdlib::BasicType::url);
}

/// `exists(A, k)` looks at the array as it is now.
bool asks_without_waiting(const ast::Expr& expr) {
  if (expr.kind != ExprKind::Call) return false;
  const auto& call = as<const ast::Call>(expr);
  return call.callee_kind == ast::CalleeKind::builtin &&
         stdlib::signature_of(call.callee_index).looks_at_growing_array();
}

/// `size(a)` of a dense array: its extents are there before its elements.
bool asks_for_extents(const Context& context, const ast::Call& call) {
  return call.callee_kind == ast::CalleeKind::builtin && stdlib::builtins()[call.callee_index].name == "size" &&
         context.store().is_dense(call.resolved_arguments[0]->type);
}

/// `s.f[0][i].g`: the variable s and what follows; no_variable for anything else, and where a key is no literal or
/// name.
VariableId part_path(const ast::Expr& expr, Path& path) {
  if (expr.kind == ExprKind::Index) {
    const auto& index = as<const ast::Index>(expr);
    Path steps;
    for (const auto& key : index.indices) steps.push_back(key_step(*key));
    if (!std::ranges::all_of(steps, is_known)) return ast::no_variable;
    const VariableId variable = part_path(*index.base, path);
    std::ranges::move(steps, std::back_inserter(path));
    return variable;
  }
  if (expr.kind == ExprKind::Field) {
    const auto& field = as<const ast::Field>(expr);
    const VariableId variable = part_path(*field.base, path);
    path.push_back({.kind = Step::Kind::field, .field = field.index, .key = {}});
    return variable;
  }
  return expr.kind == ExprKind::Name ? as<const ast::Name>(expr).variable : ast::no_variable;
}

class AwaitedCollector {
 public:
  explicit AwaitedCollector(const Context& context) : context_(context) {}

  void visit(const ast::Expr& expr) {
    if (needs_only_the_name(expr) || asks_without_waiting(expr)) return;
    switch (expr.kind) {
      case ExprKind::Name:
      case ExprKind::Field:
      case ExprKind::Index: return part(expr);
      case ExprKind::MapLiteral:
        for (const auto& entry : as<const ast::MapLiteral>(expr).entries) visit(*entry.first);
        return;
      case ExprKind::Call:
        if (!starts_when_all_is_there(as<const ast::Call>(expr))) return body(as<const ast::Call>(expr));
        closed_ = !asks_for_extents(context_, as<const ast::Call>(expr));
        break;
      case ExprKind::ArrayLiteral: return;
      case ExprKind::IntLiteral:
      case ExprKind::FloatLiteral:
      case ExprKind::StringLiteral:
      case ExprKind::BoolLiteral:
      case ExprKind::Unary:
      case ExprKind::Binary:
      case ExprKind::Slice:
      case ExprKind::Range:
      case ExprKind::Tuple:
      case ExprKind::FileName: break;
    }
    for_children(expr, [&](const ast::Expr& child) { visit(child); });
  }

  std::vector<Awaited> awaited;

 private:
  /// What the call is of each element, or in place of a failure, says nothing of the whole.
  void body(const ast::Call& call) {
    const auto replaces_failure = [](const ast::Annotation& each) { return each.name.text == "default"; };
    if (call.callee_kind == ast::CalleeKind::function && !call.is_lifted &&
        std::ranges::none_of(call.annotations, replaces_failure))
      awaited.push_back({.variable = ast::no_variable, .span = call.span, .call = &call});
  }

  /// A variable or a part of one, and the keys.
  void part(const ast::Expr& expr) {
    Path path;
    const VariableId variable = part_path(expr, path);
    if (variable != ast::no_variable)
      awaited.push_back({.variable = variable, .path = std::move(path), .span = expr.span, .closed = closed_});
    const ast::Expr* base = &expr;
    while (base->kind == ExprKind::Index || base->kind == ExprKind::Field) {
      if (base->kind == ExprKind::Field) {
        base = as<const ast::Field>(*base).base.get();
        continue;
      }
      for (const auto& key : as<const ast::Index>(*base).indices) visit(*key);
      base = as<const ast::Index>(*base).base.get();
    }
    if (base->kind != ExprKind::Name) visit(*base);
  }

  bool starts_when_all_is_there(const ast::Call& call) const {
    switch (call.callee_kind) {
      case ast::CalleeKind::builtin:
      case ast::CalleeKind::conversion: return true;
      case ast::CalleeKind::function:
        return context_.program.functions[call.callee_index].definition->body_kind != ast::BodyKind::block;
      case ast::CalleeKind::structure:
      case ast::CalleeKind::unresolved: break;
    }
    return false;
  }

  const Context& context_;
  bool closed_ = false;  ///< arrays are awaited to be closed: all but a value that is one as a whole
};

}  // namespace

Step key_step(const ast::Expr& key) {
  if (key.kind == ExprKind::IntLiteral)
    return {.kind = Step::Kind::literal, .key = std::to_string(as<const ast::IntLiteral>(key).value)};
  if (key.kind == ExprKind::StringLiteral)
    return {.kind = Step::Kind::literal, .key = as<const ast::StringLiteral>(key).value};
  return {.kind = Step::Kind::element,
          .key = {},
          .variable = key.kind == ExprKind::Name ? as<const ast::Name>(key).variable : ast::no_variable};
}

void read_variables(const Context& context, const ast::Expr& expr, const std::function<void(VariableId, Read)>& found) {
  Path path;
  const VariableId variable = field_path(expr, path);
  if (variable != ast::no_variable) {
    found(variable, {.path = std::move(path), .span = expr.span});
    return;
  }
  const bool name_only = needs_only_the_name(expr);
  for_children(expr, [&](const ast::Expr& child) {
    read_variables(context, child, [&](VariableId read, Read how) {
      how.awaits = how.awaits && !(name_only && child.kind == ExprKind::Name);
      found(read, std::move(how));
    });
  });
}

static void add_calls_of_bodies(const Context& context, const ast::Expr& expr, std::vector<const ast::Call*>& found) {
  if (expr.kind == ExprKind::Call) {
    const auto& call = as<const ast::Call>(expr);
    if (call.callee_kind == ast::CalleeKind::function &&
        context.program.functions[call.callee_index].definition->body_kind == ast::BodyKind::block)
      found.push_back(&call);
  }
  for_children(expr, [&](const ast::Expr& child) { add_calls_of_bodies(context, child, found); });
}

std::vector<const ast::Call*> calls_of_bodies(const Context& context, const ast::Expr& expr) {
  std::vector<const ast::Call*> found;
  add_calls_of_bodies(context, expr, found);
  return found;
}

bool calls_a_body(const Context& context, const ast::Expr& expr) { return !calls_of_bodies(context, expr).empty(); }

std::vector<Awaited> awaited_variables(const Context& context, const ast::Expr& expr) {
  AwaitedCollector collector(context);
  collector.visit(expr);
  return std::move(collector.awaited);
}

}  // namespace raddle::check_detail
