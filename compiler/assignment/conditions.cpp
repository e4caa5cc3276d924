#include "compiler/assignment/conditions.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "compiler/assignment/possible_values.hpp"
#include "compiler/assignment/read_variables.hpp"
#include "compiler/check/value_text.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::BinaryOp;
using ast::ExprKind;

constexpr std::uint8_t any_relation = Fact::less | Fact::equal | Fact::more;

/// Of more than these nothing is known: conditions of many cases multiply.
constexpr std::size_t most_cases = 16;
constexpr std::size_t most_facts = 48;  // of conditions nested deeper the outer ones are not known

VariableId variable_of(const ast::Expr& expr) {
  return expr.kind == ExprKind::Name ? as<const ast::Name>(expr).variable : ast::no_variable;
}

std::uint8_t mirrored(std::uint8_t relations) {
  std::uint8_t other = relations & Fact::equal;
  if (relations & Fact::less) other |= Fact::more;
  if (relations & Fact::more) other |= Fact::less;
  return other;
}

Condition one_fact(Fact fact, bool truth) {
  if (!truth) fact.relations ^= any_relation;
  return {.cases = {{std::move(fact)}}, .is_exact = true};
}

std::vector<VariableId> variables_in(const Context& context, std::initializer_list<const ast::Expr*> exprs) {
  std::vector<VariableId> variables;
  for (const ast::Expr* expr : exprs)
    read_variables(context, *expr, [&](VariableId variable, const Read&) { variables.push_back(variable); });
  return variables;
}

/// A constant is on the right, of two others the one with the lesser text on the left.
Condition comparison(const Context& context, const ast::Expr& left, std::uint8_t relations, const ast::Expr& right,
                     bool truth) {
  const auto left_text = text_of(context, left);
  const auto right_text = text_of(context, right);
  if (!left_text || !right_text) return {};
  const auto constant = constant_value(context, right);
  const auto left_constant = constant_value(context, left);
  if (left_constant ? !constant : !constant && *right_text < *left_text)
    return comparison(context, right, mirrored(relations), left, truth);
  if (constant && std::holds_alternative<bool>(*constant) && !std::get<bool>(*constant) && relations == Fact::equal)
    return one_fact(
        {.left = *left_text, .right = "true", .constant = true, .variables = variables_in(context, {&left})}, !truth);
  const auto is_int = [&](const ast::Expr& expr) { return context.store().base(expr.type) == TypeStore::int_; };
  return one_fact({.left = *left_text,
                   .right = *right_text,
                   .relations = relations,
                   .constant = constant,
                   .left_variable = variable_of(left),
                   .right_variable = constant ? ast::no_variable : variable_of(right),
                   .variables = variables_in(context, {&left, &right}),
                   .is_whole = is_int(left) && is_int(right)},
                  truth);
}

Condition either(Condition one, const Condition& other) {
  if (one.cases.size() + other.cases.size() > most_cases) return {};
  one.cases.insert(one.cases.end(), other.cases.begin(), other.cases.end());
  one.is_exact = one.is_exact && other.is_exact;
  return one;
}

Condition condition_of_binary(const Context& context, const ast::Binary& binary, bool truth) {
  const ast::Expr& left = *binary.left;
  const ast::Expr& right = *binary.right;
  switch (binary.op) {
    case BinaryOp::eq: return comparison(context, left, Fact::equal, right, truth);
    case BinaryOp::ne: return comparison(context, left, Fact::equal, right, !truth);
    case BinaryOp::lt: return comparison(context, left, Fact::less, right, truth);
    case BinaryOp::ge: return comparison(context, left, Fact::less, right, !truth);
    case BinaryOp::gt: return comparison(context, left, Fact::more, right, truth);
    case BinaryOp::le: return comparison(context, left, Fact::more, right, !truth);
    case BinaryOp::and_:
    case BinaryOp::or_: {
      Condition one = condition_of(context, left, truth);
      const Condition other = condition_of(context, right, truth);
      return truth == (binary.op == BinaryOp::and_) ? both(std::move(one), other) : either(std::move(one), other);
    }
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::idiv:
    case BinaryOp::mod:
    case BinaryOp::format:
    case BinaryOp::pow: return {};
  }
  return {};
}

}  // namespace

Condition both(Condition one, const Condition& other) {
  const auto longest = [](const Condition& each) {
    std::size_t count = 0;
    for (const Facts& facts : each.cases) count = std::max(count, facts.size());
    return count;
  };
  if (one.cases.size() * other.cases.size() > most_cases || longest(one) + longest(other) > most_facts) {
    one.is_exact = false;
    return one;
  }
  Condition joined{.cases = {}, .is_exact = one.is_exact && other.is_exact};
  for (const Facts& first : one.cases) {
    for (const Facts& second : other.cases) {
      joined.cases.push_back(first);
      joined.cases.back().insert(joined.cases.back().end(), second.begin(), second.end());
    }
  }
  return joined;
}

Condition condition_of(const Context& context, const ast::Expr& condition, bool truth) {
  if (condition.kind == ExprKind::Unary && as<const ast::Unary>(condition).op == ast::UnaryOp::not_)
    return condition_of(context, *as<const ast::Unary>(condition).operand, !truth);
  if (condition.kind == ExprKind::Binary) return condition_of_binary(context, as<const ast::Binary>(condition), truth);
  const auto text = text_of(context, condition);
  if (!text) return {};
  const bool is_number = context.store().base(condition.type) == TypeStore::int_;
  if (is_number) {  // `if (n)`
    return one_fact({.left = *text,
                     .right = "0",
                     .constant = std::int64_t{0},
                     .left_variable = variable_of(condition),
                     .variables = variables_in(context, {&condition}),
                     .is_whole = true},
                    !truth);
  }
  return one_fact({.left = *text, .right = "true", .constant = true, .variables = variables_in(context, {&condition})},
                  truth);
}

Condition condition_of_case(const Context& context, const ast::Switch& written, const ast::Switch::Case& choice) {
  const auto text = text_of(context, *written.value);
  if (!text) return {};
  const auto is = [&](std::int64_t label, bool truth) {
    return one_fact({.left = *text,
                     .right = std::to_string(label),
                     .constant = label,
                     .left_variable = variable_of(*written.value),
                     .variables = variables_in(context, {written.value.get()}),
                     .is_whole = true},
                    truth);
  };
  if (choice.label) return is(*choice.label, true);
  Condition none_of_them = always();
  for (const ast::Switch::Case& other : written.cases)
    if (other.label) none_of_them.cases.front().push_back(is(*other.label, false).cases.front().front());
  return none_of_them;
}

namespace {

/// `one_is_so` settles one fact after the other: of more than these and most_facts nothing is said.
constexpr std::size_t most_combinations = 1024;

bool is_simple(const std::vector<Facts>& cases) {
  std::size_t facts = 0, combinations = 1;
  for (const Facts& all : cases) {
    facts += all.size();
    combinations = std::min(combinations * std::max<std::size_t>(all.size(), 1), most_combinations + 1);
  }
  return facts <= most_facts && combinations <= most_combinations;
}

Facts joined(Facts facts, const Facts& more) {
  facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

/// All of `known` can be so while of each of the cases from the `first`-th on some fact is not.
bool none_can_be_so(const std::vector<Facts>& cases, std::size_t first, Facts& known) {
  if (!is_possible(known)) return false;
  if (first == cases.size()) return true;
  return std::ranges::any_of(cases[first], [&](Fact fact) {
    fact.relations ^= any_relation;
    known.push_back(std::move(fact));
    const bool can = none_can_be_so(cases, first + 1, known);
    known.pop_back();
    return can;
  });
}

}  // namespace

bool exclude_each_other(const Condition& one, const Condition& other) {
  return std::ranges::none_of(one.cases, [&](const Facts& first) {
    return std::ranges::any_of(other.cases, [&](const Facts& second) { return is_possible(joined(first, second)); });
  });
}

// Of floats `x < y` and `x >= y` are taken to complete each other, too: that neither is so of NaN is told by the run.
bool one_is_so(const std::vector<Facts>& cases, const Condition& known) {
  return std::ranges::all_of(known.cases, [&](Facts facts) {
    if (!is_possible(facts)) return true;
    std::vector<Facts> left;
    std::ranges::copy_if(cases, std::back_inserter(left),
                         [&](const Facts& each) { return is_possible(joined(facts, each)); });
    return !left.empty() &&
           (std::ranges::any_of(left, &Facts::empty) || (is_simple(left) && !none_can_be_so(left, 0, facts)));
  });
}

bool pins(const Fact& fact, VariableId variable) {
  return fact.is_equality() && fact.constant && fact.left_variable == variable;
}

bool equals(const Fact& fact, VariableId variable) {
  return fact.is_equality() && (fact.left_variable == variable || fact.right_variable == variable) &&
         std::ranges::count(fact.variables, variable) == 1;
}

Condition known_part(Condition condition, const std::function<bool(VariableId)>& is_known) {
  for (Facts& facts : condition.cases) {
    const auto removed =
        std::erase_if(facts, [&](const Fact& fact) { return !std::ranges::all_of(fact.variables, is_known); });
    condition.is_exact = condition.is_exact && removed == 0;
  }
  return condition;
}

std::optional<std::int64_t> pinned_value(const Fact& fact, VariableId variable) {
  if (!pins(fact, variable) || !std::holds_alternative<std::int64_t>(*fact.constant)) return std::nullopt;
  return std::get<std::int64_t>(*fact.constant);
}

}  // namespace raddle::check_detail
