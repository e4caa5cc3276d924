#include "compiler/opt/fold_constants.hpp"

#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/kernel_operator.hpp"
#include "compiler/opt/uses.hpp"
#include "vm/kernel/evaluate.hpp"

namespace raddle::opt {

namespace {

using ir::Constant;
using ir::OpKind;

/// Bytes of a text: `v1 = v0 + v0`, `v2 = v1 + v1`, ... would take all of the memory.
constexpr std::size_t longest_folded = 1024;

using vm::KernelType;

struct Word {
  KernelType type;
  std::int64_t bits;
};

/// @return none: a string
std::optional<Word> word_of(const Constant& constant) {
  if (const auto* number = std::get_if<std::int64_t>(&constant)) return Word{KernelType::int_, *number};
  if (const auto* number = std::get_if<double>(&constant))
    return Word{KernelType::float_, std::bit_cast<std::int64_t>(*number)};
  if (const auto* truth = std::get_if<bool>(&constant)) return Word{KernelType::boolean, *truth ? 1 : 0};
  return std::nullopt;
}

/// As kernels compute it. @return none: it fails
std::optional<Constant> fold_words(OpKind kind, std::span<const Word> operands) {
  const ir::KernelOperator found = ir::kernel_operator(kind, operands[0].type);
  if (found.op == vm::KernelOp::if_) return std::nullopt;
  std::vector<std::int64_t> bits;
  for (const Word& operand : operands) bits.push_back(operand.bits);
  if (found.swaps) std::swap(bits[0], bits[1]);
  const std::optional<std::int64_t> result = vm::evaluate(found.op, bits);
  if (!result) return std::nullopt;
  switch (vm::info(found.op).result) {  // not that of `copy`: see fold_constant()
    case 'i': return Constant(*result);
    case 'f': return Constant(std::bit_cast<double>(*result));
    default: return Constant(*result != 0);
  }
}

std::optional<Constant> fold_strings(OpKind kind, const std::string& x, const std::string& y) {
  const bool is_short = x.size() + y.size() <= longest_folded;
  if (kind == OpKind::concat && is_short) return x + y;
  if (kind == OpKind::path_join && is_short) return x + "/" + y;
  if (kind == OpKind::eq) return x == y;
  if (kind == OpKind::ne) return x != y;
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
        const std::optional<Constant> result = fold_constant(module_, op);
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

std::optional<Constant> fold_constant(const ir::Module& module, const ir::Op& op) {
  if (ir::info(op.kind).effect > ir::Effect::fails || op.results.size() != 1 || op.operands.empty())
    return std::nullopt;
  std::vector<Word> words;
  for (const ir::Operand& operand : op.operands) {
    if (!operand.is_constant) return std::nullopt;
    if (const std::optional<Word> word = word_of(module.constants[operand.index])) words.push_back(*word);
  }
  const auto value = [&](std::size_t i) -> const Constant& { return module.constants[op.operands[i].index]; };
  if (op.kind == OpKind::copy) return value(0);
  if (words.size() == op.operands.size()) return fold_words(op.kind, words);
  if (!words.empty() || op.operands.size() != 2) return std::nullopt;
  return fold_strings(op.kind, std::get<std::string>(value(0)), std::get<std::string>(value(1)));
}

void fold_constants(ir::Module& module) {
  for (ir::Function& function : module.functions) Folder(module, function).run();
}

}  // namespace raddle::opt
