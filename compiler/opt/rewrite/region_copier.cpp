#include "compiler/opt/rewrite/region_copier.hpp"

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

std::vector<ir::Op> RegionCopier::copy(ir::RegionId region, ir::RegionId into) {
  const ir::Region original = from_.regions[region];  // a copy: `to` may be the same function, whose regions move
  for (const ir::VarId variable : original.variables) {
    declare(variable, into);
    to_.regions[into].variables.push_back(here_[variable]->index);
  }
  std::vector<ir::Op> ops;
  for (const ir::Op& op : original.ops) ops.push_back(copy(op, into));
  return ops;
}

void RegionCopier::declare(ir::VarId variable, ir::RegionId region) {
  ir::Var copy = from_.variables[variable];
  copy.region = region;
  move(copy.span);
  here_[variable] = ir::Operand::variable(static_cast<ir::VarId>(to_.variables.size()));
  to_.variables.push_back(std::move(copy));
}

void RegionCopier::move(Span& span) {
  if (sources_ == nullptr) return;
  const auto [found, is_new] = inlined_files_.try_emplace(span.file, 0);
  if (is_new) found->second = sources_->add_inlined(span.file, call_);
  span.file = found->second;
}

ir::Operand RegionCopier::translate(ir::Operand operand) const {
  if (operand.is_constant || operand.index == ir::none || operand.index >= here_.size()) return operand;
  return here_[operand.index].value_or(operand);
}

ir::Op RegionCopier::copy(const ir::Op& op, ir::RegionId into) {
  ir::Op made = op;
  made.regions.clear();
  move(made.span);
  for (ir::Operand& operand : made.operands) operand = translate(operand);
  for (ir::VarId& result : made.results) result = translate(ir::Operand::variable(result)).index;
  made.priority = translate(op.priority);
  made.rank = translate(op.rank);
  for (const ir::RegionId nested : op.regions) {
    const auto id = static_cast<ir::RegionId>(to_.regions.size());
    const bool is_loop_body = op.kind == ir::OpKind::loop && made.regions.size() == 1;
    to_.regions.emplace_back().parent = is_loop_body ? made.regions[0] : into;
    made.regions.push_back(id);
    for (const ir::VarId parameter : std::vector(from_.regions[nested].parameters)) {
      declare(parameter, id);
      to_.regions[id].parameters.push_back(here_[parameter]->index);
    }
    std::vector<ir::Op> ops = copy(nested, id);
    to_.regions[id].ops = std::move(ops);
  }
  made.condition = translate(op.condition);
  for (ir::Operand& next : made.nexts) next = translate(next);
  return made;
}

}  // namespace raddle::opt
