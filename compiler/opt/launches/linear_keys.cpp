#include "compiler/opt/launches/linear_keys.hpp"

#include <algorithm>
#include <cstdlib>

#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::OpKind;

namespace {

/// So sums and products of two overflow nowhere.
constexpr std::int64_t factor_limit = std::int64_t{1} << 30;

std::optional<LinearKey> plus(std::optional<LinearKey> left, const std::optional<LinearKey>& right,
                              std::int64_t factor) {
  if (!left || !right || std::abs(factor) > factor_limit) return std::nullopt;
  left->constant += factor * right->constant;
  for (const auto& [variable, times] : right->terms) {
    std::int64_t& all = left->terms[variable];
    all += factor * times;
    if (std::abs(all) > factor_limit) return std::nullopt;
    if (all == 0) left->terms.erase(variable);
  }
  return std::abs(left->constant) > factor_limit ? std::nullopt : left;
}

std::optional<LinearKey> times(const std::optional<LinearKey>& left, const std::optional<LinearKey>& right) {
  if (!left || !right) return std::nullopt;
  if (left->terms.empty()) return plus(LinearKey{}, right, left->constant);
  return right->terms.empty() ? plus(LinearKey{}, left, right->constant) : std::nullopt;
}

}  // namespace

LinearKeys::LinearKeys(const ir::Module& module, const ir::Function& around, const ir::Op& loop,
                       const std::set<ir::RegionId>& own)
    : module_(module), around_(around), loop_(loop), own_(own) {
  for (const ir::RegionId region : own)
    for (const ir::Op& op : around.regions[region].ops)
      for (const ir::VarId result : op.results) {
        const auto [found, is_first] = made_by_.try_emplace(result, &op);
        if (!is_first) found->second = nullptr;
      }
}

std::optional<LinearKey> LinearKeys::find(ir::Operand operand) const {
  if (operand.is_constant) {
    const auto* const number = std::get_if<std::int64_t>(&module_.constants[operand.index]);
    return number && std::abs(*number) <= factor_limit ? std::optional(LinearKey{.constant = *number}) : std::nullopt;
  }
  const std::vector<ir::VarId>& variables = around_.regions[loop_.regions[0]].parameters;
  const bool is_of_loop = std::ranges::find(variables, operand.index) != variables.end();
  if (is_of_loop || !own_.contains(around_.variables[operand.index].region))
    return LinearKey{.terms = {{operand.index, 1}}};
  const auto found = made_by_.find(operand.index);
  if (found == made_by_.end() || !found->second) return std::nullopt;
  const ir::Op& op = *found->second;
  switch (op.kind) {
    case OpKind::copy: return find(op.operands[0]);
    case OpKind::add:
    case OpKind::index_add: return plus(find(op.operands[0]), find(op.operands[1]), 1);
    case OpKind::sub: return plus(find(op.operands[0]), find(op.operands[1]), -1);
    case OpKind::mul:
    case OpKind::index_mul: return times(find(op.operands[0]), find(op.operands[1]));
    case OpKind::call_builtin:  // of the first operand, if that is an index
      return stdlib::builtins()[op.callee].name == "@index" ? find(op.operands[0]) : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> LinearKeys::stride(const LinearKey& key) const {
  const std::vector<ir::VarId>& variables = around_.regions[loop_.regions[0]].parameters;
  std::int64_t stride = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto term = key.terms.find(variables[i]);
    if (term == key.terms.end()) continue;
    std::optional<LinearKey> step = plus(find(loop_.nexts[i]), LinearKey{.terms = {{variables[i], 1}}}, -1);
    if (!step || !step->terms.empty()) return std::nullopt;
    stride += term->second * step->constant;
  }
  return stride;
}

}  // namespace raddle::opt
