#include "compiler/ir/affine_keys.hpp"

#include <algorithm>
#include <cstdlib>

namespace raddle::ir {

namespace {

// Bounds of what a body computes on the way to a key: with a point below 2^40 and a base below 2^60 no sum of three
// terms overflows.
constexpr std::int64_t stride_limit = std::int64_t{1} << 20;
constexpr std::int64_t offset_limit = std::int64_t{1} << 60;

/// stride * point + base + offset
struct Affine {
  std::int64_t stride = 0, offset = 0;
  Operand base = {};  ///< a variable from outside; index none: there is none

  bool is_constant() const { return stride == 0 && base.index == none; }
  bool is_within_limits() const { return std::abs(stride) <= stride_limit && std::abs(offset) <= offset_limit; }
};

class AffineFinder {
 public:
  AffineFinder(const Module& module, const Function& function, const Op& loop)
      : module_(module), function_(function), body_(function.regions[loop.regions[0]]) {}

  std::optional<Affine> find(Operand operand) const {
    if (operand.is_constant) {
      const auto* const number = std::get_if<std::int64_t>(&module_.constants[operand.index]);
      return number ? within_limits({.offset = *number}) : std::nullopt;
    }
    if (operand.index == body_.parameters[0]) return Affine{.stride = 1};
    if (!is_of_body(operand.index)) return Affine{.base = operand};
    const Op* const op = sole_assigner(operand.index);
    if (!op) return std::nullopt;
    switch (op->kind) {
      case OpKind::copy: return find(op->operands[0]);
      case OpKind::index_add:
      case OpKind::add: return sum(find(op->operands[0]), find(op->operands[1]), 1);
      case OpKind::sub: return sum(find(op->operands[0]), find(op->operands[1]), -1);
      case OpKind::index_mul:
      case OpKind::mul: return product(find(op->operands[0]), find(op->operands[1]));
      default: return std::nullopt;
    }
  }

 private:
  static bool contains(const std::vector<VarId>& all, VarId id) { return std::ranges::find(all, id) != all.end(); }
  static std::optional<Affine> within_limits(const Affine& made) {
    return made.is_within_limits() ? std::optional(made) : std::nullopt;
  }
  static std::optional<Affine> sum(std::optional<Affine> left, std::optional<Affine> right, std::int64_t sign) {
    if (!left || !right) return std::nullopt;
    const bool has_both = left->base.index != none && right->base.index != none;
    if (has_both || (sign < 0 && right->base.index != none)) return std::nullopt;
    return within_limits({.stride = left->stride + sign * right->stride,
                          .offset = left->offset + sign * right->offset,
                          .base = left->base.index != none ? left->base : right->base});
  }
  static std::optional<Affine> product(std::optional<Affine> left, std::optional<Affine> right) {
    if (!left || !right) return std::nullopt;
    if (!left->is_constant()) std::swap(left, right);
    Affine made = *right;
    if (!left->is_constant() || made.base.index != none ||
        __builtin_mul_overflow(made.stride, left->offset, &made.stride) ||
        __builtin_mul_overflow(made.offset, left->offset, &made.offset))
      return std::nullopt;
    return within_limits(made);
  }

  bool is_of_body(VarId id) const { return contains(body_.parameters, id) || contains(body_.variables, id); }
  /// The operation of the body that assigns the variable, if no other one does, in a branch perhaps.
  const Op* sole_assigner(VarId id) const {
    const auto assigns = [&](const Op& op) { return contains(op.results, id); };
    std::ptrdiff_t count = 0;
    for (const Region& region : function_.regions) count += std::ranges::count_if(region.ops, assigns);
    const auto found = std::ranges::find_if(body_.ops, assigns);
    return count == 1 && found != body_.ops.end() ? &*found : nullptr;
  }

  const Module& module_;
  const Function& function_;
  const Region& body_;
};

}  // namespace

std::optional<Key> affine_key(const Module& module, const Function& function, const Op& loop, Operand key) {
  const std::optional<Affine> found = AffineFinder(module, function, loop).find(key);
  if (!found) return std::nullopt;
  if (found->stride == 1 && found->offset == 0 && found->base.index == none) return Key{};
  if (found->stride == 0 && found->offset == 0 && found->base.index != none)
    return Key{.kind = Key::Kind::same, .operand = found->base};
  if (found->is_constant())
    return key.is_constant ? std::optional(Key{.kind = Key::Kind::same, .operand = key}) : std::nullopt;
  return Key{.kind = Key::Kind::affine, .operand = found->base, .stride = found->stride, .offset = found->offset};
}

}  // namespace raddle::ir
