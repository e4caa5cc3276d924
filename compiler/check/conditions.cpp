#include "compiler/check/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "compiler/check/constant_value.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::BinaryOp;
using ast::ExprKind;

std::string subject_of(VariableId variable) { return "v" + std::to_string(variable); }

const char* text_of(bool truth) { return truth ? "true" : "false"; }

std::string text_of(const ConstantValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number + 0.0);  // -0.0 is 0.0
  if (const auto* truth = std::get_if<bool>(&value)) return text_of(*truth);
  return "\"" + std::get<std::string>(value) + "\"";
}

/// Equal texts mean equal values; none for what may differ from one time to the next.
std::optional<std::string> text_of(const Context& context, const ast::Expr& expr) {
  if (const auto constant = constant_value(context, expr)) return text_of(*constant);
  const auto joined = [&](const ast::Expr& left, const std::string& sign,
                          const ast::Expr& right) -> std::optional<std::string> {
    const auto first = text_of(context, left);
    const auto second = text_of(context, right);
    if (!first || !second) return std::nullopt;
    return "(" + *first + sign + *second + ")";
  };
  if (expr.kind == ExprKind::Name) {
    const auto& name = as<const ast::Name>(expr);
    // what an updateable holds changes
    if (name.variable == ast::no_variable || expr.type == TypeStore::updateable) return std::nullopt;
    return subject_of(name.variable);
  }
  if (expr.kind == ExprKind::Binary) {
    const auto& binary = as<const ast::Binary>(expr);
    return joined(*binary.left, " " + std::to_string(static_cast<int>(binary.op)) + " ", *binary.right);
  }
  if (expr.kind == ExprKind::Index && as<const ast::Index>(expr).indices.size() == 1) {
    const auto& index = as<const ast::Index>(expr);
    return joined(*index.base, "[]", *index.indices.front());
  }
  if (expr.kind == ExprKind::Field) {
    const auto& field = as<const ast::Field>(expr);
    if (const auto base = text_of(context, *field.base)) return *base + "." + std::to_string(field.index);
  }
  return std::nullopt;
}

Condition one_fact(Fact fact) { return {.facts = {fact}, .same = {{fact}}}; }

Condition both(Condition one, Condition other) {
  std::ranges::move(other.facts, std::back_inserter(one.facts));
  if (one.same && other.same)
    std::ranges::move(*other.same, std::back_inserter(*one.same));
  else
    one.same.reset();
  return one;
}

Condition equality(const Context& context, const ast::Expr& left, const ast::Expr& right, bool truth) {
  auto subject = text_of(context, left);
  auto value = text_of(context, right);
  if (!subject || !value) return {};
  if (constant_value(context, left)) std::swap(subject, value);
  Condition found = one_fact({*subject + " == " + *value, text_of(truth)});
  if (truth && (constant_value(context, left) || constant_value(context, right)))
    found.facts.push_back({*subject, *value});
  return found;
}

Condition comparison(const Context& context, const ast::Expr& less, const ast::Expr& more, bool truth) {
  const auto left = text_of(context, less);
  const auto right = text_of(context, more);
  return left && right ? one_fact({*left + " < " + *right, text_of(truth)}) : Condition{};
}

/// `a && b` that is false, `a || b` that is true: which of the two it is remains open.
Condition junction(const Context& context, const ast::Binary& binary, bool truth) {
  const auto subject = text_of(context, binary);
  return subject ? one_fact({*subject, text_of(truth)}) : Condition{};
}

Condition condition_of_binary(const Context& context, const ast::Binary& binary, bool truth) {
  const ast::Expr& left = *binary.left;
  const ast::Expr& right = *binary.right;
  switch (binary.op) {
    case BinaryOp::eq: return equality(context, left, right, truth);
    case BinaryOp::ne: return equality(context, left, right, !truth);
    case BinaryOp::lt: return comparison(context, left, right, truth);
    case BinaryOp::ge: return comparison(context, left, right, !truth);
    case BinaryOp::gt: return comparison(context, right, left, truth);
    case BinaryOp::le: return comparison(context, right, left, !truth);
    case BinaryOp::and_:
    case BinaryOp::or_:
      if (truth == (binary.op == BinaryOp::and_))
        return both(condition_of(context, left, truth), condition_of(context, right, truth));
      return junction(context, binary, truth);
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

Condition condition_of(const Context& context, const ast::Expr& condition, bool truth) {
  if (condition.kind == ExprKind::Unary && as<const ast::Unary>(condition).op == ast::UnaryOp::not_)
    return condition_of(context, *as<const ast::Unary>(condition).operand, !truth);
  if (condition.kind == ExprKind::Binary) return condition_of_binary(context, as<const ast::Binary>(condition), truth);
  const auto subject = text_of(context, condition);
  if (!subject) return {};
  if (context.store().base(condition.type) == TypeStore::int_)
    return one_fact({*subject + " == 0", text_of(!truth)});  // `if (n)`
  return one_fact({*subject, text_of(truth)});
}

Condition condition_of_case(const Context& context, const ast::Switch& written, const ast::Switch::Case& choice) {
  const auto subject = text_of(context, *written.value);
  if (!subject) return {};
  const auto is = [&](std::int64_t label, bool truth) {
    return Fact{*subject + " == " + std::to_string(label), text_of(truth)};
  };
  Condition found;
  if (choice.label) {
    found.facts = {is(*choice.label, true), {*subject, std::to_string(*choice.label)}};
  } else {
    for (const ast::Switch::Case& other : written.cases)
      if (other.label) found.facts.push_back(is(*other.label, false));
  }
  found.same = choice.label ? std::vector{found.facts.front()} : found.facts;
  return found;
}

namespace {

/// `one_is_so` settles one condition after the other, so the work doubles with each.
constexpr std::size_t most_conditions = 12;

std::size_t count_of(const std::vector<std::vector<Fact>>& cases) {
  std::size_t count = 0;
  for (const std::vector<Fact>& facts : cases) count += facts.size();
  return count;
}

bool is_truth(const Fact& fact) { return fact.value == "true" || fact.value == "false"; }

/// The fact is that something is not equal to one constant, and it is known to have the value of another.
bool is_other_value(const Fact& fact, const Fact& known) {
  const std::string start = known.subject + " == ";
  if (fact.value != "false" || !fact.subject.starts_with(start)) return false;
  const std::string value = fact.subject.substr(start.size());
  return value != known.value && !value.starts_with('v') && !value.starts_with('(');
}

bool follows(const Fact& fact, const std::vector<Fact>& known) {
  return std::ranges::any_of(known, [&](const Fact& found) { return found == fact || is_other_value(fact, found); });
}

}  // namespace

bool exclude_each_other(const std::vector<Fact>& one, const std::vector<Fact>& other) {
  return std::ranges::any_of(one, [&](const Fact& fact) {
    return std::ranges::any_of(
        other, [&](const Fact& found) { return found.subject == fact.subject && found.value != fact.value; });
  });
}

// Of floats `x < y` and `x >= y` are taken to complete each other, too: that neither is so of NaN is told by the run.
bool one_is_so(std::vector<std::vector<Fact>> cases, const std::vector<Fact>& known) {
  std::erase_if(cases, [&](const std::vector<Fact>& facts) { return exclude_each_other(facts, known); });
  for (std::vector<Fact>& facts : cases) std::erase_if(facts, [&](const Fact& fact) { return follows(fact, known); });
  if (std::ranges::any_of(cases, &std::vector<Fact>::empty)) return true;
  // either a condition of the first case is so, or it is not
  if (cases.size() < 2 || count_of(cases) > most_conditions || !is_truth(cases.front().front())) return false;
  const Fact chosen = cases.front().front();
  const auto with = [&](const char* truth) {
    std::vector<Fact> more = known;
    more.push_back({chosen.subject, truth});
    return more;
  };
  return one_is_so(cases, with("true")) && one_is_so(cases, with("false"));
}

bool pins(const std::vector<Fact>& facts, VariableId variable) {
  return std::ranges::any_of(facts, [&](const Fact& fact) { return fact.subject == subject_of(variable); });
}

std::optional<VariableId> equal_variable(const Fact& fact, VariableId variable) {
  constexpr std::string_view sign = " == ";
  const std::size_t at = fact.subject.find(sign);
  if (fact.value != "true" || at == std::string::npos) return std::nullopt;
  const std::string left = fact.subject.substr(0, at), right = fact.subject.substr(at + sign.size());
  if (left != subject_of(variable) && right != subject_of(variable)) return std::nullopt;
  const std::string& other = left == subject_of(variable) ? right : left;
  VariableId found = 0;
  const char* end = other.data() + other.size();
  if (!other.starts_with("v") || std::from_chars(other.data() + 1, end, found).ptr != end) return std::nullopt;
  return found;
}

std::optional<std::int64_t> pinned_value(const Fact& fact, VariableId variable) {
  const std::string start = subject_of(variable) + " == ";
  if (fact.value != "true" || !fact.subject.starts_with(start)) return std::nullopt;
  std::int64_t value = 0;
  const char* end = fact.subject.data() + fact.subject.size();
  const auto [rest, failed] = std::from_chars(fact.subject.data() + start.size(), end, value);
  return failed == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

}  // namespace raddle::check_detail
