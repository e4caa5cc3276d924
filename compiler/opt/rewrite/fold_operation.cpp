#include "compiler/opt/rewrite/fold_operation.hpp"

#include <bit>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/kernel_operator.hpp"
#include "stdlib/builtins.hpp"
#include "vm/kernel/evaluate.hpp"

namespace raddle::opt {

namespace {

using ir::Constant;
using ir::OpKind;
using vm::KernelType;
using Constants = std::span<const Constant* const>;

/// Bytes of a text: `v1 = v0 + v0`, `v2 = v1 + v1`, ... would take all of the memory.
constexpr std::size_t longest_folded = 1024;

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

std::optional<Constant> fold_kernel_operation(vm::KernelOp op, std::span<const std::int64_t> bits) {
  const std::optional<std::int64_t> result = vm::evaluate(op, bits);
  if (!result) return std::nullopt;
  switch (vm::info(op).result) {
    case 'i': return Constant(*result);
    case 'f': return Constant(std::bit_cast<double>(*result));
    case 'b': return Constant(*result != 0);
    default: return std::nullopt;
  }
}

/// As kernels compute it.
std::optional<Constant> fold_words(OpKind kind, std::span<const Word> operands) {
  const ir::KernelOperator found = ir::kernel_operator(kind, operands[0].type);
  if (found.op == vm::KernelOp::if_) return std::nullopt;
  std::vector<std::int64_t> bits;
  for (const Word& operand : operands) bits.push_back(operand.bits);
  if (found.swaps) std::swap(bits[0], bits[1]);
  return fold_kernel_operation(found.op, bits);
}

std::optional<Constant> fold_strings(OpKind kind, const std::string& x, const std::string& y) {
  const bool is_short = x.size() + y.size() <= longest_folded;
  if (kind == OpKind::concat && is_short) return x + y;
  if (kind == OpKind::path_join && is_short) return x + "/" + y;
  if (kind == OpKind::eq) return x == y;
  if (kind == OpKind::ne) return x != y;
  return std::nullopt;
}

/// Functions that leaves may call, and checks of extents.
std::optional<Constant> fold_call(const ir::Module& module, const ir::Function& function, const ir::Op& op,
                                  Constants operands) {
  if (const vm::KernelOp found = ir::library_operator(module, function, op); found != vm::KernelOp::if_) {
    std::vector<std::int64_t> bits;
    for (const Constant* const operand : operands.first(vm::info(found).inputs.size())) {
      const std::optional<Word> word = word_of(*operand);
      if (!word) return std::nullopt;
      bits.push_back(word->bits);
    }
    return fold_kernel_operation(found, bits);
  }
  std::vector<vm::Value> values;
  for (const Constant* const operand : operands)
    values.push_back(std::visit([](const auto& value) { return vm::Value::of(value); }, *operand));
  if (const auto result = stdlib::evaluate_check(stdlib::builtins()[op.callee], values)) return Constant(*result);
  return std::nullopt;
}

}  // namespace

std::optional<Constant> fold_operation(const ir::Module& module, const ir::Function& function, const ir::Op& op,
                                       Constants operands) {
  if (op.results.size() != 1 || operands.empty()) return std::nullopt;
  if (op.kind == OpKind::call_builtin) return fold_call(module, function, op, operands);
  if (ir::info(op.kind).effect > ir::Effect::fails) return std::nullopt;
  if (op.kind == OpKind::copy) return *operands[0];
  std::vector<Word> words;
  for (const Constant* const operand : operands)
    if (const std::optional<Word> word = word_of(*operand)) words.push_back(*word);
  if (words.size() == operands.size()) return fold_words(op.kind, words);
  if (!words.empty() || operands.size() != 2) return std::nullopt;
  return fold_strings(op.kind, std::get<std::string>(*operands[0]), std::get<std::string>(*operands[1]));
}

std::optional<Constant> fold_operation(const ir::Module& module, const ir::Function& function, const ir::Op& op) {
  std::vector<const Constant*> operands;
  for (const ir::Operand& operand : op.operands) {
    if (!operand.is_constant) return std::nullopt;
    operands.push_back(&module.constants[operand.index]);
  }
  return fold_operation(module, function, op, operands);
}

}  // namespace raddle::opt
