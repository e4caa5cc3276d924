#include "compiler/opt/leaves/loop_body_copier.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

LoopBodyCopier::LoopBodyCopier(const ir::Module& module, const ir::Function& around, const ir::Op& loop,
                               const char* what)
    : module_(module), around_(around), loop_(loop) {
  collect_declared(loop.regions[0]);
  made_.name = fmt::format("{}.{}.{}", around.name, what, module.functions.size());
  made_.kind = ir::FunctionKind::launched;
  made_.span = loop.span;
  made_.regions.emplace_back();
}

void LoopBodyCopier::collect_declared(ir::RegionId id) {
  const ir::Region& region = around_.regions[id];
  declared_.insert(region.parameters.begin(), region.parameters.end());
  declared_.insert(region.variables.begin(), region.variables.end());
  for (const ir::Op& op : region.ops)
    for (const ir::RegionId nested : op.regions) collect_declared(nested);
}

bool LoopBodyCopier::assigns_outside() const {
  return std::ranges::any_of(around_.regions[loop_.regions[0]].ops, [&](const ir::Op& op) {
    const std::vector<ir::VarId> assigned = variables_assigned(around_, op);
    return !std::ranges::all_of(assigned, [&](ir::VarId variable) { return declares(variable); });
  });
}

bool LoopBodyCopier::counter_is_read() const {
  const ir::Region& body = around_.regions[loop_.regions[0]];
  if (loop_.kind != ir::OpKind::foreach_range || body.parameters.size() < 2) return false;
  const std::vector<ir::VarId> read = variables_read(around_, loop_);
  return std::ranges::find(read, body.parameters[1]) != read.end();
}

void LoopBodyCopier::add_unnamed_parameter(TypeId type) {
  made_.variables.push_back({"", type, loop_.span, 0});
  made_.parameters.push_back(static_cast<ir::VarId>(made_.variables.size() - 1));
}

void LoopBodyCopier::add_element(ir::Operand array, ir::VarId element) {
  ir::Op get;
  get.kind = ir::OpKind::array_get;
  get.span = loop_.span;
  get.operands = {translate(array), ir::Operand::variable(made_.parameters[0])};
  get.results = {take_over(element, 0)};
  made_.regions[0].variables.push_back(get.results[0]);
  made_.regions[0].ops.push_back(std::move(get));
}

void LoopBodyCopier::add_output(ir::Operand value, Span span) {
  const auto output = static_cast<ir::VarId>(made_.variables.size());
  made_.variables.push_back({"", ir::type_of(module_, around_, value), span, 0});
  made_.outputs.push_back(output);
  ir::Op copy;
  copy.span = span;
  copy.operands = {translate(value)};
  copy.results = {output};
  made_.regions[0].ops.push_back(std::move(copy));
}

ir::VarId LoopBodyCopier::take_over(ir::VarId id, ir::RegionId region) {
  const auto [found, is_new] = here_.try_emplace(id, static_cast<ir::VarId>(made_.variables.size()));
  if (is_new) {
    made_.variables.push_back(around_.variables[id]);
    made_.variables.back().region = region;
  }
  return found->second;
}

/// Nothing happens if it is a variable here already.
void LoopBodyCopier::declare(ir::VarId variable) {
  if (!here_.contains(variable)) made_.regions[0].variables.push_back(take_over(variable, 0));
}

ir::Operand LoopBodyCopier::translate(ir::Operand operand) {
  if (operand.is_constant || operand.index == ir::none) return operand;
  if (declares(operand.index)) {
    declare(operand.index);
  } else if (!here_.contains(operand.index)) {
    add_parameter(operand.index);
    captures_.push_back(operand);
  }
  return ir::Operand::variable(here_.at(operand.index));
}

void LoopBodyCopier::copy_body(const std::function<bool(const ir::Op&)>& is_wanted) {
  const ir::Region& body = around_.regions[loop_.regions[0]];
  std::set<ir::VarId> mentioned;
  for (const ir::Op& op : body.ops) {
    if (!is_wanted(op)) continue;
    for (const ir::VarId variable : variables_read(around_, op)) mentioned.insert(variable);
    for (const ir::VarId variable : variables_assigned(around_, op)) mentioned.insert(variable);
  }
  for (const ir::VarId variable : body.variables)
    if (mentioned.contains(variable)) declare(variable);
  for (const ir::Op& op : body.ops)
    if (is_wanted(op)) copy_op(op, 0);
}

void LoopBodyCopier::copy_op(const ir::Op& op, ir::RegionId to) {
  ir::Op copy = op;
  copy.regions.clear();
  copy.launch = ir::none;  // of the function around, if the loop within was looked at first
  visit_operands(copy, [this](ir::Operand& operand) {
    if (!is_of_nested(operand)) operand = translate(operand);
  });
  for (ir::VarId& result : copy.results) result = translate(ir::Operand::variable(result)).index;
  copy_nested(op, copy, to);
  made_.regions[to].ops.push_back(std::move(copy));
}

/// A loop's test and next values are variables of its own regions, which are not copied yet.
bool LoopBodyCopier::is_of_nested(ir::Operand operand) const {
  return !operand.is_constant && declared_.contains(operand.index) && !here_.contains(operand.index);
}

void LoopBodyCopier::copy_nested(const ir::Op& op, ir::Op& copy, ir::RegionId around) {
  for (const ir::RegionId nested : op.regions) {
    const auto id = static_cast<ir::RegionId>(made_.regions.size());
    const bool is_loop_body = op.kind == ir::OpKind::loop && copy.regions.size() == 1;
    made_.regions.emplace_back().parent = is_loop_body ? copy.regions[0] : around;
    copy.regions.push_back(id);
    for (const ir::VarId parameter : around_.regions[nested].parameters)
      made_.regions[id].parameters.push_back(take_over(parameter, id));
    for (const ir::VarId variable : around_.regions[nested].variables)
      made_.regions[id].variables.push_back(take_over(variable, id));
    for (const ir::Op& inner : around_.regions[nested].ops) copy_op(inner, id);
  }
  if (op.kind != ir::OpKind::loop) return;
  copy.condition = translate(op.condition);
  copy.nexts.clear();
  for (const ir::Operand next : op.nexts) copy.nexts.push_back(translate(next));
}

}  // namespace raddle::opt
