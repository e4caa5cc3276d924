#include "compiler/emit/memo_site.hpp"

#include <string>
#include <variant>
#include <vector>

#include "compiler/emit/external_sites.hpp"

namespace raddle::emit {

vm::MemoSite memo_site(const FunctionPlan& plan, const ir::Op& op, const OperandMap& operands, std::uint32_t body) {
  const auto text_of = [&](ir::Operand constant) {
    return std::get<std::string>(plan.module->constants[constant.index]);
  };
  const std::vector<ir::Var>& variables = plan.function->variables;
  vm::MemoSite site;
  const bool finds = op.kind == ir::OpKind::memo;
  const auto first_file = op.operands.begin() + (finds ? 2 : 1);
  const auto first_value = first_file + op.number;
  site.files = operands.all(std::vector<ir::Operand>(first_file, first_value), body);
  std::vector<vm::Operand> values = operands.all(std::vector<ir::Operand>(first_value, op.operands.end()), body);
  if (!finds) {
    site.key = operands.of(op.operands[0], body);
    site.outputs = std::move(values);
    return site;
  }
  site.function = text_of(op.operands[0]);
  site.code = text_of(op.operands[1]);
  site.key = operands.of(op.results[0], body);
  site.inputs = std::move(values);
  for (auto input = first_value; input != op.operands.end(); ++input)
    site.input_names.push_back(input->is_constant ? "" : variables[input->index].name);
  site.outputs = operands.all(std::vector<ir::VarId>(op.results.begin() + 1, op.results.end()), body);
  for (std::size_t i = 1; i < op.results.size(); ++i)
    site.output_types.push_back(foreign_type(*plan.module->types, variables[op.results[i]].type));
  return site;
}

}  // namespace raddle::emit
