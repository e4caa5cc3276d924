#include "compiler/opt/bodies/border_tests.hpp"

#include <cstddef>
#include <limits>

namespace raddle::opt {

using ints::IntSum;
using ir::Operand;
using ir::OpKind;

namespace {

constexpr std::int64_t widest_border = 2;  ///< iterations
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
constexpr unsigned most_steps = 8;  ///< from a sum to its terms

bool is_comparison(OpKind kind) {
  return kind == OpKind::eq || kind == OpKind::ne || kind == OpKind::lt || kind == OpKind::le || kind == OpKind::gt ||
         kind == OpKind::ge;
}

OpKind turned(OpKind kind) {
  switch (kind) {
    case OpKind::lt: return OpKind::gt;
    case OpKind::le: return OpKind::ge;
    case OpKind::gt: return OpKind::lt;
    case OpKind::ge: return OpKind::le;
    default: return kind;
  }
}

std::optional<bool> known(bool is_true, bool is_false) {
  if (is_true) return true;
  return is_false ? std::optional(false) : std::nullopt;
}

}  // namespace

std::optional<bool> outcome(const BorderTest& test, const Iterations& iterations) {
  if (test.is_at_low != iterations.is_at_low) return std::nullopt;
  const std::int64_t with = test.is_at_low ? test.distance : -test.distance;
  const bool are_less = iterations.last<with, are_greater = iterations.first> with;
  const bool are_equal = iterations.first == with && iterations.last == with;
  switch (test.kind) {
    case OpKind::eq: return known(are_equal, are_less || are_greater);
    case OpKind::ne: return known(are_less || are_greater, are_equal);
    case OpKind::lt: return known(are_less, iterations.first >= with);
    case OpKind::le: return known(iterations.last <= with, are_greater);
    case OpKind::gt: return known(are_greater, iterations.last <= with);
    case OpKind::ge: return known(iterations.first >= with, are_less);
    default: return std::nullopt;
  }
}

std::optional<Iterations> border_of(const BorderTest& test) {
  const bool is_equality = test.kind == OpKind::eq || test.kind == OpKind::ne;
  const bool parts_behind = test.is_at_low ? test.kind == OpKind::le || test.kind == OpKind::gt
                                           : test.kind == OpKind::ge || test.kind == OpKind::lt;
  // one that is not at the end is, once those before are none of the loop any more
  const std::int64_t count = test.distance + (parts_behind || (is_equality && test.distance == 0) ? 1 : 0);
  if (count < 1 || count > widest_border) return std::nullopt;
  return test.is_at_low ? Iterations{true, 0, count - 1} : Iterations{false, 1 - count, 0};
}

Iterations all_but(const Iterations& border) {
  return border.is_at_low ? Iterations{true, border.last + 1, no_limit}
                          : Iterations{false, -no_limit, border.first - 1};
}

std::optional<BorderTest> BorderTests::test(const ir::Op& loop, const ir::Op& op, bool is_at_low) const {
  if (const auto wrapped = wrapped_index(loop, op); wrapped && wrapped->test.is_at_low == is_at_low)
    return wrapped->test;
  if (!is_comparison(op.kind) || ir::type_of(module_, function_, op.operands[0]) != TypeStore::int_)
    return std::nullopt;
  const IntSum end = order_.sum_of(loop.operands[is_at_low ? 0 : 1]);
  for (const std::size_t side : {0UZ, 1UZ}) {
    const IntSum own = order_.sum_of(op.operands[side]), other = order_.sum_of(op.operands[1 - side]);
    if (own.base != variable_of(loop) || other.base != end.base) continue;
    const std::int64_t distance = other.offset - own.offset - end.offset;
    return BorderTest{side == 0 ? op.kind : turned(op.kind), is_at_low, is_at_low ? distance : -distance};
  }
  return std::nullopt;
}

std::optional<WrappedIndex> BorderTests::wrapped_index(const ir::Op& loop, const ir::Op& op) const {
  if (op.kind != OpKind::mod) return std::nullopt;
  const IntSum low = order_.sum_of(loop.operands[0]), high = order_.sum_of(loop.operands[1]),
               extent = order_.sum_of(op.operands[1]);
  Terms terms;
  if (low.base || high.base != extent.base || high.offset >= extent.offset ||
      !add_terms(terms, op.operands[0], 1, variable_of(loop), extent, most_steps) || terms.own != 1)
    return std::nullopt;
  if (!extent.base && terms.number > widest_border) {
    terms.extents = 1;
    terms.number -= extent.offset;
  }
  WrappedIndex made{.test = {}, .variable = variable_of(loop), .offset = terms.number};
  if (terms.extents == 0 && low.offset + made.offset >= 0)  // i + offset >= n
    made.test = {OpKind::ge, false, high.offset - extent.offset + made.offset};
  else if (terms.extents == 1 && high.offset + made.offset < extent.offset)  // i + offset < 0
    made.test = {OpKind::lt, true, -made.offset - low.offset};
  else
    return std::nullopt;
  return made;
}

bool BorderTests::add_terms(Terms& terms, Operand operand, std::int64_t sign, Operand variable, const IntSum& extent,
                            unsigned steps) const {
  const IntSum sum = order_.sum_of(operand);
  if (!sum.base || sum.base == variable || sum.base == extent.base) {
    if (sum.base) (sum.base == variable ? terms.own : terms.extents) += sign;
    terms.number += sign * (sum.offset - (sum.base && sum.base != variable ? extent.offset : 0));
    return true;
  }
  const ir::Op* const op = steps == 0 ? nullptr : order_.maker_of(operand);
  if (!op || (op->kind != OpKind::add && op->kind != OpKind::sub)) return false;
  return add_terms(terms, op->operands[0], sign, variable, extent, steps - 1) &&
         add_terms(terms, op->operands[1], op->kind == OpKind::add ? sign : -sign, variable, extent, steps - 1);
}

}  // namespace raddle::opt
