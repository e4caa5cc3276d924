#include "compiler/check/call_help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "compiler/check/convert.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;

/// Of a list as it is written, else nullptr.
const std::vector<ast::ExprPtr>* elements_of(const ast::Expr& expr) {
  if (expr.kind == ExprKind::Tuple) return &as<const ast::Tuple>(expr).elements;
  return expr.kind == ExprKind::ArrayLiteral ? &as<const ast::ArrayLiteral>(expr).elements : nullptr;
}

bool takes(const Context& context, const FormalPattern& formal, const ast::Expr& argument) {
  return std::ranges::any_of(formal.alternatives, [&](const TypePattern& pattern) {
    return pattern.kind != TypePattern::Kind::concrete || fit(context, argument, pattern.type) != Fit::none;
  });
}

bool is_of_library(const Context& context, const Signature& signature) {
  return signature.kind == ast::CalleeKind::builtin || context.is_of_library(signature.span);
}

bool is_int_only(const FormalPattern& formal) {
  return formal.alternatives.size() == 1 && formal.alternatives[0].kind == TypePattern::Kind::concrete &&
         formal.alternatives[0].type == TypeStore::int_;
}

/// `sum(x > 1.0)`
bool counts_truths(const Context& context, const ast::Call& call) {
  const TypeStore& types = context.program.types;
  const TypeId given = call.arguments.size() == 1 ? call.arguments.front().value->type : TypeStore::error;
  if (types.is_dense(given)) return types.dense_element(given) == TypeStore::boolean;
  return types.is_array(given) && types.at(given).element == TypeStore::boolean;
}

/// A growing array of numbers where a dense one is taken, or a number: functions of numbers are called with dense
/// arrays. A list as it is written is dense where a dense array is taken.
const ast::Expr* growing_argument(const Context& context, const std::vector<Signature>& candidates,
                                  const ast::Call& call) {
  const TypeStore& types = context.program.types;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ast::Expr& argument = *call.arguments[i].value;
    if (dense_help(context, argument).empty()) continue;
    const auto takes_dense = [&](const Signature& candidate) {
      return i < candidate.inputs.size() &&
             std::ranges::any_of(candidate.inputs[i].alternatives, [&](const TypePattern& pattern) {
               if (pattern.kind != TypePattern::Kind::concrete) return false;
               const bool is_number = candidate.inputs[i].alternatives.size() == 1 && pattern.type == TypeStore::float_;
               return is_number || (elements_of(argument) == nullptr && types.is_dense(pattern.type));
             });
    };
    if (std::ranges::any_of(candidates, takes_dense)) return &argument;
  }
  return nullptr;
}

/// `max(A, axis=0)`, as in NumPy
bool names(const ast::Call& call, std::string_view keyword) {
  return std::ranges::any_of(call.arguments, [&](const ast::Call::Argument& argument) {
    return argument.keyword && argument.keyword->text == keyword;
  });
}

}  // namespace

std::string imports_text(const std::vector<std::string>& modules) {
  std::string text;
  for (const std::string& module : modules) text += (text.empty() ? "`import " : " or `import ") + module + ";`";
  return text;
}

std::string spread_call(const Context& context, const std::vector<Signature>& candidates, const ast::Call& call) {
  std::vector<const ast::Expr*> arguments, extents;
  for (const ast::Call::Argument& argument : call.arguments) {
    const auto* const elements = elements_of(*argument.value);
    if (argument.keyword || (elements != nullptr && !extents.empty())) return {};
    if (elements == nullptr) arguments.push_back(argument.value.get());
    if (elements == nullptr) continue;
    for (const ast::ExprPtr& element : *elements) extents.push_back(element.get());
  }
  const auto is_int = [](const ast::Expr* extent) { return extent->type == TypeStore::int_; };
  if (extents.empty() || !std::ranges::all_of(extents, is_int)) return {};
  arguments.insert(arguments.end(), extents.begin(), extents.end());
  const auto takes_all = [&](const Signature& candidate) {
    if (!is_of_library(context, candidate)) return false;  // there the order of the arguments means something else
    const std::size_t count = candidate.inputs.size();
    if (candidate.varargs ? arguments.size() < count : arguments.size() != count) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const FormalPattern& formal = candidate.inputs[std::min(i, count - 1)];
      const bool is_extent = i + extents.size() >= arguments.size();
      if (is_extent ? !is_int_only(formal) : !takes(context, formal, *arguments[i])) return false;
    }
    return true;
  };
  if (std::ranges::none_of(candidates, takes_all)) return {};
  std::string text;
  for (const ast::Expr* argument : arguments) text += (text.empty() ? "" : ", ") + source_text(context, argument->span);
  return call.callee.text + "(" + text + ")";
}

std::string dense_help(const Context& context, const ast::Expr& growing) {
  const TypeStore& types = context.store();
  TypeId element = types.base(growing.type);
  std::string dimensions;
  for (; types.is_array(element); element = types.base(types.at(element).element)) {
    if (types.at(element).key != TypeStore::int_) return {};
    dimensions += dimensions.empty() ? ":" : ", :";
  }
  if (dimensions.empty() || !TypeStore::is_number_or_truth(element)) return {};
  const std::string name = growing.kind == ExprKind::Name ? as<ast::Name>(growing).text : "a";
  std::string help = fmt::format("declare `{} {}[{}] = ...;`", context.name(element), name, dimensions);
  if (dimensions == ":")
    help +=
        fmt::format(", or make one of it by `dense({})`, after `import arrays;`", source_text(context, growing.span));
  return help;
}

bool takes_alone(const Context& context, const std::vector<Signature>& candidates, const ast::Expr& value) {
  return std::ranges::any_of(candidates, [&](const Signature& candidate) {
    const auto needed = std::ranges::count(candidate.inputs, nullptr, &FormalPattern::default_value);
    return needed == 1 && takes(context, candidate.inputs.front(), value);
  });
}

void explain_call(const Context& context, const std::vector<Signature>& candidates, const ast::Call& call,
                  Diagnostic& diagnostic) {
  const std::string& name = call.callee.text;
  const bool has_tuple = std::ranges::any_of(
      call.arguments, [](const ast::Call::Argument& each) { return each.value->kind == ExprKind::Tuple; });
  if (const std::string spread = has_tuple ? "" : spread_call(context, candidates, call); !spread.empty())
    diagnostic.note("write `" + spread + "`");
  const auto is_narrow = [&](const ast::Call::Argument& each) {
    const TypeId type = each.value->type;
    return context.store().is_array(type) && TypeStore::is_narrow(number_in(context.store(), type));
  };
  if (const ast::Expr* growing = growing_argument(context, candidates, call); growing != nullptr)
    diagnostic.note("`" + name + "` takes dense arrays here, not growing ones: " + dense_help(context, *growing));
  else if (const auto narrow = std::ranges::find_if(call.arguments, is_narrow); narrow != call.arguments.end())
    diagnostic.note("growing arrays of 32-bit numbers become no wider ones: " + dense_help(context, *narrow->value));
  if (name == "sum" && counts_truths(context, call))
    diagnostic.note("`count(...)` of `import arrays;` tells how many elements of a dense array are true");
  if ((name == "max" || name == "min") && names(call, "axis"))
    diagnostic.note(fmt::format("`a{}(array, axis)` of `import arrays;` goes along an axis", name));
  if ((name == "amax" || name == "amin") && call.arguments.size() == 1)
    diagnostic.note(fmt::format("`{}(...)` is that of all elements", name.substr(1)));
  if (name == "range" && call.arguments.size() == 1)
    diagnostic.note(fmt::format("the ints from 0 up to, not including, n are written `[0 : {} - 1]`",
                                source_text(context, call.arguments[0].value->span)));
  if (names(call, "keepdims"))
    diagnostic.note(
        "`keepdims=true` is for what an axis comes to, as in `sum(A, axis=0, keepdims=true)`; `column(...)` makes a "
        "column of "
        "a vector, `row(...)` a row");
  const bool is_of_vector = !call.arguments.empty() && context.store().is_dense(call.arguments[0].value->type) &&
                            context.store().rank(call.arguments[0].value->type) == 1;
  if (names(call, "axis") && is_of_vector) diagnostic.note("a vector has one axis: leave out `axis`");
  if (name == "std" && names(call, "ddof"))
    diagnostic.note("it divides by n; the deviation of a sample is `std(x) * sqrt(n / (n - 1.0))`");
  if (name == "var" && names(call, "ddof"))
    diagnostic.note("it divides by n; the variance of a sample is `var(x) * n / (n - 1.0)`");
  if (name == "cov" && call.arguments.size() == 2)
    diagnostic.note("of two vectors it is an element of that of both: `cov(stack(x, y))[0, 1]`");
}

}  // namespace raddle::check_detail
