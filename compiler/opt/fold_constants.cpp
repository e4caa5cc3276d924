#include "compiler/opt/fold_constants.hpp"

#include <limits>
#include <optional>

#include "compiler/opt/uses.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::opt {

namespace {

using ir::Constant;
using ir::OpKind;

/// Bytes of a text: `v1 = v0 + v0`, `v2 = v1 + v1`, ... would take all of the memory.
constexpr std::size_t longest_folded = 1024;

template <typename T>
std::optional<Constant> fold_comparison(OpKind kind, const T& a, const T& b) {
  if (kind == OpKind::eq) return a == b;
  if (kind == OpKind::ne) return a != b;
  if (kind == OpKind::lt) return a < b;
  if (kind == OpKind::le) return a <= b;
  if (kind == OpKind::gt) return a > b;
  if (kind == OpKind::ge) return a >= b;
  return std::nullopt;
}

std::optional<Constant> fold_ints(OpKind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const auto unless = [&result](bool overflows) { return overflows ? std::nullopt : std::optional<Constant>(result); };
  const bool divides = b != 0 && !(a == std::numeric_limits<std::int64_t>::min() && b == -1);
  if (kind == OpKind::add) return unless(__builtin_add_overflow(a, b, &result));
  if (kind == OpKind::sub) return unless(__builtin_sub_overflow(a, b, &result));
  if (kind == OpKind::mul) return unless(__builtin_mul_overflow(a, b, &result));
  if (kind == OpKind::idiv) return divides ? std::optional<Constant>(a / b) : std::nullopt;
  if (kind == OpKind::mod) return divides ? std::optional<Constant>(a % b) : std::nullopt;
  return fold_comparison(kind, a, b);
}

std::optional<Constant> fold_floats(OpKind kind, double a, double b) {
  if (kind == OpKind::add) return a + b;
  if (kind == OpKind::sub) return a - b;
  if (kind == OpKind::mul) return a * b;
  if (kind == OpKind::div) return a / b;
  if (kind == OpKind::pow) return vm::math::scalar::pow(a, b);
  return fold_comparison(kind, a, b);
}

std::optional<Constant> fold_booleans(OpKind kind, bool a, bool b) {
  if (kind == OpKind::and_) return a && b;
  if (kind == OpKind::or_) return a || b;
  if (kind == OpKind::eq) return a == b;
  if (kind == OpKind::ne) return a != b;
  return std::nullopt;
}

std::optional<Constant> fold_unary(OpKind kind, const Constant& x) {
  if (kind == OpKind::copy) return x;
  if (const auto* number = std::get_if<std::int64_t>(&x)) {
    if (kind == OpKind::int_to_float) return static_cast<double>(*number);
    if (kind == OpKind::neg && *number != std::numeric_limits<std::int64_t>::min()) return -*number;
  }
  if (const auto* number = std::get_if<double>(&x); number && kind == OpKind::neg) return -*number;
  if (const auto* truth = std::get_if<bool>(&x); truth && kind == OpKind::not_) return !*truth;
  return std::nullopt;
}

std::optional<Constant> fold_binary(OpKind kind, const Constant& a, const Constant& b) {
  if (a.index() != b.index()) return std::nullopt;
  if (const auto* x = std::get_if<std::int64_t>(&a)) return fold_ints(kind, *x, std::get<std::int64_t>(b));
  if (const auto* x = std::get_if<double>(&a)) return fold_floats(kind, *x, std::get<double>(b));
  if (const auto* x = std::get_if<bool>(&a)) return fold_booleans(kind, *x, std::get<bool>(b));
  const auto& x = std::get<std::string>(a);
  const auto& y = std::get<std::string>(b);
  const bool is_short = x.size() + y.size() <= longest_folded;
  if (kind == OpKind::concat && is_short) return x + y;
  if (kind == OpKind::path_join && is_short) return x + "/" + y;
  if (kind == OpKind::eq) return x == y;
  if (kind == OpKind::ne) return x != y;
  return std::nullopt;
}

std::optional<Constant> fold(const ir::Module& module, const ir::Op& op) {
  if (ir::info(op.kind).effect > ir::Effect::fails || op.results.size() != 1) return std::nullopt;
  for (const ir::Operand& operand : op.operands)
    if (!operand.is_constant) return std::nullopt;
  const auto value = [&](std::size_t i) -> const Constant& { return module.constants[op.operands[i].index]; };
  if (op.operands.size() == 1) return fold_unary(op.kind, value(0));
  if (op.operands.size() == 2) return fold_binary(op.kind, value(0), value(1));
  return std::nullopt;
}

/// Folds until nothing changes. Readers of a folded variable take the constant itself; the copy is dead then.
class Folder {
 public:
  Folder(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), replacements_(function), assignments_(count_assignments(function)) {}

  void run() {
    while (sweep()) continue;
    replacements_.apply(function_);
  }

 private:
  bool sweep() {
    bool changed = false;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      for (ir::Op& op : function_.regions[id].ops) {
        replacements_.apply(op);
        if (is_known(op, id)) continue;
        const std::optional<Constant> result = fold(module_, op);
        if (!result) continue;
        const ir::Operand constant = ir::Operand::constant(module_.constant(*result));
        op.kind = OpKind::copy;
        op.operands = {constant};
        if (!can_replace(op.results[0], id)) continue;
        replacements_.add(op.results[0], constant);
        changed = true;
      }
    }
    return changed;
  }

  bool is_known(const ir::Op& op, ir::RegionId region) const {
    if (op.kind != OpKind::copy || !op.operands[0].is_constant) return false;
    const ir::Operand result = ir::Operand::variable(op.results[0]);
    return replacements_.of(result) != result || !can_replace(op.results[0], region);
  }

  /// Assigned here and nowhere else; outputs are read by the caller, too, but inside a constant will do for them.
  bool can_replace(ir::VarId variable, ir::RegionId region) const {
    return function_.variables[variable].region == region && assignments_[variable] == 1;
  }

  ir::Module& module_;
  ir::Function& function_;
  Replacements replacements_;
  std::vector<std::uint32_t> assignments_;
};

}  // namespace

void fold_constants(ir::Module& module) {
  for (ir::Function& function : module.functions) Folder(module, function).run();
}

}  // namespace raddle::opt
