#include "compiler/lower/slice_bounds.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;

namespace {

std::optional<std::int64_t> literal(const ast::Expr& expr) {
  constexpr std::int64_t most = 1'000'000'000;  // no sum of a few overflows
  if (expr.kind != ExprKind::IntLiteral) return std::nullopt;
  const std::int64_t number = as<ast::IntLiteral>(expr).value;
  return number > most ? std::nullopt : std::optional(number);
}

/// Adds a bound, a sum of variables, numbers and the end, so many times. @return false: it is no such sum
bool add(const ast::Expr& bound, int times, SliceLength& length) {
  if (const auto number = literal(bound)) {
    length.offset += times * *number;
    return true;
  }
  if (bound.kind == ExprKind::Name) {
    const auto& name = as<ast::Name>(bound);
    int& count = name.is_end ? length.ends : length.variables[name.variable];
    count += times;
    return true;
  }
  if (bound.kind != ExprKind::Binary) return false;
  const auto& binary = as<ast::Binary>(bound);
  const bool is_sum = binary.op == ast::BinaryOp::add;
  if (!is_sum && binary.op != ast::BinaryOp::sub) return false;
  return add(*binary.left, times, length) && add(*binary.right, is_sum ? times : -times, length);
}

}  // namespace

std::optional<std::int64_t> SliceLength::count() const {
  if (!variables.empty() || ends != 0 || offset < 0) return std::nullopt;
  return offset / step + 1;
}

ast::VariableId SliceLength::variable() const {
  const bool is_one = variables.size() == 1 && variables.begin()->second == 1 && ends == 0 && offset == -1 && step == 1;
  return is_one ? variables.begin()->first : ast::no_variable;
}

std::optional<SliceLength> length_of(const ast::Slice& slice) {
  const std::optional<std::int64_t> step = slice.step ? literal(*slice.step) : 1;
  if (!step || *step < 1) return std::nullopt;
  SliceLength length{.step = *step};
  if (slice.low && !add(*slice.low, -1, length)) return std::nullopt;
  if (slice.high && !add(*slice.high, 1, length)) return std::nullopt;
  if (!slice.high) ++length.ends;
  std::erase_if(length.variables, [](const auto& each) { return each.second == 0; });
  return length;
}

}  // namespace raddle::lowering
