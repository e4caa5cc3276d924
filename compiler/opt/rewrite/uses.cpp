#include "compiler/opt/rewrite/uses.hpp"

#include <algorithm>

namespace raddle::opt {

namespace {

template <typename AnyOp, typename Visit>
void visit_all(AnyOp& op, const Visit& visit) {
  for (auto& operand : op.operands) visit(operand);
  for (auto& next : op.nexts) visit(next);
  if (op.condition.index != ir::none) visit(op.condition);
  if (op.priority.index != ir::none) visit(op.priority);
  if (op.rank.index != ir::none) visit(op.rank);
  for (auto& loop : op.collapsed) visit(loop.low), visit(loop.high), visit(loop.each);
}

void sort_unique(std::vector<ir::VarId>& variables) {
  std::ranges::sort(variables);
  const auto rest = std::ranges::unique(variables);
  variables.erase(rest.begin(), rest.end());
}

}  // namespace

void visit_operands(ir::Op& op, const std::function<void(ir::Operand&)>& visit) { visit_all(op, visit); }
void visit_operands(const ir::Op& op, const std::function<void(const ir::Operand&)>& visit) { visit_all(op, visit); }

void visit_nested(const ir::Function& function, const ir::Op& op, const std::function<void(const ir::Op&)>& visit) {
  visit(op);
  for (const ir::RegionId region : op.regions)
    for (const ir::Op& inner : function.regions[region].ops) visit_nested(function, inner, visit);
}

std::vector<ir::VarId> variables_read(const ir::Function& function, const ir::Op& op) {
  std::vector<ir::VarId> read;
  visit_nested(function, op, [&](const ir::Op& inner) {
    visit_operands(inner, [&](const ir::Operand& operand) {
      if (!operand.is_constant) read.push_back(operand.index);
    });
  });
  sort_unique(read);
  return read;
}

std::vector<ir::VarId> variables_assigned(const ir::Function& function, const ir::Op& op) {
  std::vector<ir::VarId> assigned;
  visit_nested(function, op, [&](const ir::Op& inner) {
    assigned.insert(assigned.end(), inner.results.begin(), inner.results.end());
  });
  sort_unique(assigned);
  return assigned;
}

std::vector<std::uint32_t> count_reads(const ir::Function& function) {
  std::vector<std::uint32_t> reads(function.variables.size(), 0);
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      visit_operands(op, [&](const ir::Operand& operand) {
        if (!operand.is_constant) ++reads[operand.index];
      });
  for (const ir::VarId output : function.outputs) ++reads[output];
  const auto count_word = [&](const ir::Operand& operand) {
    if (operand.index != ir::none && !operand.is_constant) ++reads[operand.index];
  };
  std::ranges::for_each(function.command.words, count_word);
  for (const ir::Operand& operand :
       {function.command.stdin_file, function.command.stdout_file, function.command.stderr_file})
    count_word(operand);
  std::ranges::for_each(function.command.limits, count_word);
  return reads;
}

std::set<ir::VarId> inserted_into(const ir::Function& function, const ir::Op& op) {
  std::set<ir::VarId> arrays;
  visit_nested(function, op, [&](const ir::Op& inner) {
    if (inner.kind == ir::OpKind::array_insert) arrays.insert(inner.operands[0].index);
  });
  return arrays;
}

std::vector<std::uint32_t> count_assignments(const ir::Function& function) {
  std::vector<std::uint32_t> assignments(function.variables.size(), 0);
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      for (const ir::VarId result : op.results) ++assignments[result];
  return assignments;
}

void visit_launch(ir::IndexLaunch& launch, const std::function<void(ir::Operand&)>& visit) {
  std::ranges::for_each(launch.captures, visit);
  std::ranges::for_each(launch.projected, visit);
  for (ir::Access& access : launch.accesses) {
    visit(access.data);
    for (ir::Key& key : access.keys)
      if (key.has_operand()) visit(key.operand);
  }
}

void visit_all_operands(ir::Function& function, const std::function<void(ir::Operand&)>& visit) {
  for (ir::Region& region : function.regions)
    for (ir::Op& op : region.ops) visit_operands(op, visit);
  for (ir::IndexLaunch& launch : function.launches) visit_launch(launch, visit);
  for (ir::LaunchNest& nest : function.nests) std::ranges::for_each(nest.captures, visit);
  for (ir::LoopKernel& kernel : function.kernels) {
    std::ranges::for_each(kernel.captures, visit);
    for (ir::LoopSink& sink : kernel.sinks) visit(sink.array);
  }
  std::ranges::for_each(function.command.words, visit);
  for (ir::Operand* operand :
       {&function.command.stdin_file, &function.command.stdout_file, &function.command.stderr_file})
    if (operand->index != ir::none) visit(*operand);
  for (ir::Operand& limit : function.command.limits)
    if (limit.index != ir::none) visit(limit);
}

Replacements::Replacements(const ir::Function& function) {
  for (ir::VarId id = 0; id < function.variables.size(); ++id) instead_.push_back(ir::Operand::variable(id));
}

void Replacements::apply(ir::Op& op) const {
  visit_operands(op, [this](ir::Operand& operand) { operand = of(operand); });
}

void Replacements::apply(ir::Function& function) const {
  visit_all_operands(function, [this](ir::Operand& operand) { operand = of(operand); });
}

bool can_not_fail(const ir::Module& module, const ir::Function& function, const ir::Op& op) {
  const bool is_arithmetic = op.kind == ir::OpKind::add || op.kind == ir::OpKind::sub || op.kind == ir::OpKind::mul ||
                             op.kind == ir::OpKind::neg;
  if (is_arithmetic) return module.types->base(ir::type_of(module, function, op.operands[0])) == TypeStore::float_;
  return ir::info(op.kind).effect == ir::Effect::pure;
}

}  // namespace raddle::opt
