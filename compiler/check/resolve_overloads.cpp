#include "compiler/check/resolve_overloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/unfit_calls.hpp"
#include "stdlib/definitions.hpp"

namespace raddle::check_detail {
namespace {

/// The type that a pattern means now; nullopt while one of its variables is unbound.
std::optional<TypeId> instantiate(TypeStore& types, const TypePattern& pattern, const Bindings& bindings) {
  switch (pattern.kind) {
    case TypePattern::Kind::concrete: return pattern.type;
    case TypePattern::Kind::variable: return bindings.find(pattern.variable);
    case TypePattern::Kind::bag: {
      const auto element = instantiate(types, pattern.parts[0], bindings);
      if (!element) return std::nullopt;
      return *element == TypeStore::error ? *element : types.bag_of(*element);
    }
    case TypePattern::Kind::array: break;
  }
  const auto key = instantiate(types, pattern.parts[0], bindings);
  const auto element = instantiate(types, pattern.parts[1], bindings);
  if (!key || !element) return std::nullopt;
  return types.array_of(*key, *element);
}

/// Binds the variables of `pattern` so that it becomes `type`.
bool unify(const TypeStore& types, const TypePattern& pattern, TypeId type, Bindings& bindings) {
  switch (pattern.kind) {
    case TypePattern::Kind::concrete: return pattern.type == type || type == TypeStore::error;
    case TypePattern::Kind::variable:
      if (const auto bound = bindings.find(pattern.variable)) return *bound == type;
      bindings.bind(pattern.variable, type);
      return true;
    case TypePattern::Kind::bag:
      return types.kind(type) == TypeKind::bag && unify(types, pattern.parts[0], types.at(type).element, bindings);
    case TypePattern::Kind::array: break;
  }
  const TypeId array = types.base(type);
  return types.is_array(array) && unify(types, pattern.parts[0], types.at(array).key, bindings) &&
         unify(types, pattern.parts[1], types.at(array).element, bindings);
}

Fit match_pattern(Context& context, const TypePattern& pattern, const ast::Expr& argument, Bindings& bindings,
                  TypeId& type) {
  if (const auto known = instantiate(context.store(), pattern, bindings)) {
    type = *known;
    return fit(context, argument, *known);
  }
  if (argument.type == TypeStore::error) {
    type = TypeStore::error;
    return Fit::exact;
  }
  if (pattern.kind == TypePattern::Kind::array && context.store().rank(argument.type) == 1) {
    type = context.store().dense_elements(argument.type);
    return unify(context.store(), pattern, type, bindings) ? Fit::converts : Fit::none;
  }
  type = argument.type;
  return unify(context.store(), pattern, argument.type, bindings) ? Fit::exact : Fit::none;
}

/// Where several types are taken, `int|float|string`, it is to know which one it gets: numbers of 32 bits stay these.
bool takes_narrow(const TypeStore& types, const FormalPattern& formal, TypeId found) {
  const TypeId base = types.base(found);
  return TypeStore::is_narrow(base) && formal.alternatives.size() > 1 &&
         std::ranges::any_of(formal.alternatives, [&](const TypePattern& pattern) {
           return pattern.kind == TypePattern::Kind::concrete && pattern.type == TypeStore::wide(base);
         });
}

Fit match_formal(Context& context, const FormalPattern& formal, const ast::Expr& argument, Bindings& bindings,
                 TypeId& type) {
  Fit best = Fit::none;
  if (takes_narrow(context.store(), formal, argument.type)) {
    type = context.store().base(argument.type);
    return Fit::exact;
  }
  const Bindings before = bindings;
  for (const TypePattern& alternative : formal.alternatives) {
    Bindings trial = before;
    TypeId trial_type = TypeStore::error;
    const Fit found = match_pattern(context, alternative, argument, trial, trial_type);
    if (found >= best) continue;
    best = found;
    bindings = trial;
    type = trial_type;
  }
  return best;
}

bool is_number_or_truth(const TypeStore& types, const TypePattern& pattern) {
  if (pattern.kind != TypePattern::Kind::concrete) return false;
  return TypeStore::is_number_or_truth(pattern.type) ||
         (types.kind(pattern.type) == TypeKind::named && types.is_scalar(pattern.type));
}

/// What gives numbers can be done for each element of a dense array.
bool can_be_lifted(const TypeStore& types, const Signature& signature) {
  return !signature.outputs.empty() && std::ranges::all_of(signature.outputs, [&](const TypePattern& output) {
    return is_number_or_truth(types, output);
  });
}

/// `trace(A)`: where strings and numbers are taken, they are printed.
bool is_printed(const FormalPattern& formal) {
  return formal.alternatives.size() > 1 && std::ranges::any_of(formal.alternatives, [](const TypePattern& pattern) {
           return pattern.kind == TypePattern::Kind::concrete && pattern.type == TypeStore::string;
         });
}

bool has_parts(const TypeStore& types, TypeId type) {
  const TypeKind kind = types.kind(types.base(type));
  return kind == TypeKind::array || kind == TypeKind::bag || kind == TypeKind::structure;
}

/// A dense array where none is taken.
Fit match_dense(Context& context, const Signature& signature, const FormalPattern& formal, ast::Expr& argument,
                TypeId& type) {
  if (is_printed(formal)) {
    type = TypeStore::string;
    return Fit::prints;
  }
  if (!can_be_lifted(context.store(), signature)) return Fit::none;
  const TypeId dense = std::exchange(argument.type, context.store().dense_element(argument.type));
  Bindings bindings;
  const bool is_number = std::ranges::any_of(
      formal.alternatives, [&](const TypePattern& pattern) { return is_number_or_truth(context.store(), pattern); });
  const Fit found = is_number ? match_formal(context, formal, argument, bindings, type) : Fit::none;
  argument.type = dense;
  return found == Fit::none ? found : Fit::lifts;
}

/// Which argument of the call goes to which formal; no_argument where the default is taken.
constexpr std::size_t no_argument = ~std::size_t{0};
struct Placement {
  std::vector<std::size_t> of_formal;
  std::vector<std::size_t> varargs;
};

std::optional<Mismatch> place_keyword(const Signature& signature, const ast::Call& call, std::size_t argument,
                                      Placement& placement) {
  const std::string& keyword = call.arguments[argument].keyword->text;
  // not the one that may be given any number of times
  const auto last = signature.inputs.begin() + static_cast<std::ptrdiff_t>(placement.of_formal.size());
  const auto formal =
      std::find_if(signature.inputs.begin(), last, [&](const FormalPattern& input) { return input.name == keyword; });
  if (formal == last) return Mismatch{Mismatch::Kind::unknown_keyword, argument};
  std::size_t& place = placement.of_formal[static_cast<std::size_t>(formal - signature.inputs.begin())];
  if (place != no_argument) return Mismatch{Mismatch::Kind::repeated, argument, place};
  place = argument;
  return std::nullopt;
}

/// Of the library's own. `max(A, 0)` compares with 0, which is no axis then.
bool is_by_name_only(const Context& context, const Signature& signature, std::size_t formal) {
  const std::string& input = signature.inputs[formal].name;
  const bool is_extreme = signature.name == "max" || signature.name == "min";
  return ((is_extreme && input == "axis") || input == stdlib::name_only_input) &&
         signature.kind == ast::CalleeKind::function && context.is_of_library(signature.span);
}

std::optional<Mismatch> place_arguments(const Context& context, const Signature& signature, const ast::Call& call,
                                        Placement& placement) {
  const std::size_t fixed = signature.inputs.size() - (signature.varargs ? 1 : 0);
  placement.of_formal.assign(fixed, no_argument);
  bool keyword_seen = false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i].keyword) {
      keyword_seen = true;
      if (auto mismatch = place_keyword(signature, call, i, placement)) return mismatch;
    } else if (keyword_seen) {
      return Mismatch{Mismatch::Kind::positional_after_keyword, i};
    } else if (i < fixed && is_by_name_only(context, signature, i)) {
      return Mismatch{Mismatch::Kind::count};
    } else if (i < fixed) {
      placement.of_formal[i] = i;
    } else if (signature.varargs) {
      placement.varargs.push_back(i);
    } else {
      return Mismatch{Mismatch::Kind::count};
    }
  }
  for (std::size_t formal = 0; formal < fixed; ++formal)
    if (placement.of_formal[formal] == no_argument && signature.inputs[formal].default_value == nullptr)
      return Mismatch{Mismatch::Kind::count};
  return std::nullopt;
}

/// A script's own functions go before those of the library.
int origin(const Context& context, const Signature& signature) {
  if (signature.kind != ast::CalleeKind::function) return 2;
  return context.is_of_library(signature.span) ? 1 : 0;
}

/// Negative if `a` is the better match, 0 if neither is.
int compare(const Context& context, const Match& a, const Match& b) {
  if (a.conversions != b.conversions) return a.conversions - b.conversions;
  const int origins = origin(context, *a.signature) - origin(context, *b.signature);
  if (origins != 0) return origins;
  return static_cast<int>(a.signature->varargs) - static_cast<int>(b.signature->varargs);
}

}  // namespace

std::size_t required_count(const Signature& signature) {
  std::size_t count = 0;
  for (const FormalPattern& formal : signature.inputs) count += formal.default_value == nullptr ? 1 : 0;
  return signature.varargs ? count - 1 : count;
}

std::string argument_count_text(const Signature& signature) {
  const std::size_t least = required_count(signature);
  const std::size_t most = signature.inputs.size();
  const auto plural = [](std::size_t n) { return n == 1 ? " argument" : " arguments"; };
  if (signature.varargs) return "at least " + std::to_string(least) + plural(least);
  if (most == 0) return "no arguments";
  if (least == most) return std::to_string(most) + plural(most);
  return std::to_string(least) + (most == least + 1 ? " or " : " to ") + std::to_string(most) + " arguments";
}

std::variant<Match, Mismatch> match(Context& context, const Signature& signature, const ast::Call& call) {
  Placement placement;
  if (auto mismatch = place_arguments(context, signature, call, placement)) return *mismatch;
  Match result{.signature = &signature, .arguments = {}, .outputs = {}};
  Bindings bindings;
  const auto take = [&](std::size_t formal, std::size_t argument) -> bool {
    ast::Expr& value = *call.arguments[argument].value;
    TypeId type = TypeStore::error;
    Fit found = match_formal(context, signature.inputs[formal], value, bindings, type);
    if (found == Fit::none && context.store().is_dense(value.type)) {
      found = match_dense(context, signature, signature.inputs[formal], value, type);
      if (found == Fit::lifts) result.rank = std::max(result.rank, context.store().rank(value.type));
    }
    if (found != Fit::none) result.conversions += conversion_cost(context.store(), found, value.type, type);
    result.arguments.push_back({.argument = &value, .default_value = nullptr, .type = type});
    return found != Fit::none;
  };
  for (std::size_t formal = 0; formal < placement.of_formal.size(); ++formal) {
    const std::size_t argument = placement.of_formal[formal];
    if (argument == no_argument) {
      result.arguments.push_back({.argument = nullptr, .default_value = signature.inputs[formal].default_value});
    } else if (!take(formal, argument)) {
      return Mismatch{Mismatch::Kind::type, argument, formal};
    }
  }
  for (const std::size_t argument : placement.varargs)
    if (!take(signature.inputs.size() - 1, argument))
      return Mismatch{Mismatch::Kind::type, argument, signature.inputs.size() - 1};
  for (const TypePattern& output : signature.outputs)
    result.outputs.push_back(instantiate(context.store(), output, bindings).value_or(TypeStore::error));
  if (result.rank != 0)
    for (TypeId& output : result.outputs) output = context.store().dense_of(context.store().base(output), result.rank);
  return result;
}

std::optional<Match> resolve_overload(Context& context, const std::vector<Signature>& candidates,
                                      const ast::Call& call) {
  const bool has_error = std::ranges::any_of(
      call.arguments, [](const auto& argument) { return argument.value->type == TypeStore::error; });
  std::optional<Match> best;
  std::vector<const Signature*> equals;
  for (const Signature& candidate : candidates) {
    if (context.is_hidden(candidate, call.callee.span)) continue;
    auto result = match(context, candidate, call);
    if (const auto* mismatch = std::get_if<Mismatch>(&result)) {
      if (candidates.size() == 1) report_mismatch(context, candidate, call, *mismatch);
      continue;
    }
    Match& found = std::get<Match>(result);
    const int order = best ? compare(context, found, *best) : -1;
    if (order < 0) equals.clear();
    if (order <= 0) equals.push_back(&candidate);
    if (order < 0) best = std::move(found);
  }
  // what a function of numbers makes of an argument that is wrong may be an array
  if (best && has_error) std::ranges::fill(best->outputs, TypeStore::error);
  if (equals.size() == 1 || (best && best->conversions == 0 && !has_error)) return best;
  if (has_error || candidates.size() == 1) return std::nullopt;
  if (best)
    report_ambiguous(context, equals, call);
  else
    report_no_overload(context, candidates, call);
  return std::nullopt;
}

}  // namespace raddle::check_detail
