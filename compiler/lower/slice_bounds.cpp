#include "compiler/lower/slice_bounds.hpp"

#include <utility>

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

}  // namespace

std::optional<Bound> bound(const ast::Expr& expr) {
  if (const auto number = literal(expr)) return Bound{.offset = *number};
  if (expr.kind == ExprKind::Name) {
    const auto& name = as<ast::Name>(expr);
    if (name.is_end) return Bound{.base = Bound::Base::end};
    return Bound{.base = Bound::Base::variable, .variable = name.variable};
  }
  if (expr.kind != ExprKind::Binary) return std::nullopt;
  const auto& binary = as<ast::Binary>(expr);
  const bool is_sum = binary.op == ast::BinaryOp::add;
  if (!is_sum && binary.op != ast::BinaryOp::sub) return std::nullopt;
  const auto right = literal(*binary.right), left = literal(*binary.left);
  std::optional<Bound> made = right ? bound(*binary.left) : is_sum && left ? bound(*binary.right) : std::nullopt;
  if (made) made->offset += !right ? *left : is_sum ? *right : -*right;
  return made;
}

std::optional<std::int64_t> SliceLength::count() const {
  if (low.base != Bound::Base::none || high.base != Bound::Base::none || high.offset < 0) return std::nullopt;
  return high.offset / step + 1;
}

std::optional<SliceLength> length_of(const ast::Slice& slice) {
  const std::optional<Bound> low = slice.low ? bound(*slice.low) : Bound{};
  const std::optional<Bound> high = slice.high ? bound(*slice.high) : Bound{.base = Bound::Base::end};
  const std::optional<std::int64_t> step = slice.step ? literal(*slice.step) : 1;
  if (!low || !high || !step || *step < 1) return std::nullopt;
  SliceLength length{.low = *low, .high = *high, .step = *step};
  length.high.offset -= std::exchange(length.low.offset, 0);
  if (low->has_base_of(*high)) {
    length.low = {};
    length.high = {.offset = length.high.offset};
  }
  return length;
}

}  // namespace raddle::lowering
