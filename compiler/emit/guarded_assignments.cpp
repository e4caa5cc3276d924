#include "compiler/emit/guarded_assignments.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;

class GuardedAssignments {
 public:
  explicit GuardedAssignments(const FunctionPlan& plan) : plan_(plan), found_(plan.variables.size()) {
    for (ir::VarId id = 0; id < plan_.variables.size(); ++id) {
      for (const StepRef& by : plan_.variables[id].assigned_by) add(id, by, "");
    }
    for_each_op([this](const ir::Op& op, StepRef by) {
      const std::size_t count = file_output_count(op);
      for (std::size_t i = 0; i < count; ++i) add(op.operands[i].index, by, "");
    });
    for_each_field_write([this](const ir::Op& op, StepRef) {
      if (makes_container(op)) holders_[op.operands[1].index] = {op.operands[0].index, field_name(op)};
    });
    for_each_field_write([this](const ir::Op& op, StepRef by) {
      if (makes_container(op)) return;
      ir::VarId variable = op.operands[0].index;
      std::string path = field_name(op);
      for (auto at = holders_.find(variable); at != holders_.end(); at = holders_.find(variable)) {
        path = at->second.second + "." + path;
        variable = at->second.first;
      }
      add(variable, by, path);
    });
  }

  std::vector<std::vector<vm::GuardedAssignment>> take() { return std::move(found_); }

 private:
  template <typename Visit>
  void for_each_op(const Visit& visit) const {
    for (PlanId region = 0; region < plan_.regions.size(); ++region) {
      const std::vector<Step>& steps = plan_.regions[region].steps;
      for (std::uint32_t i = 0; i < steps.size(); ++i) {
        if (steps[i].op) visit(*steps[i].op, StepRef{region, i});
      }
    }
  }

  template <typename Visit>
  void for_each_field_write(const Visit& visit) const {
    for_each_op([&](const ir::Op& op, StepRef at) {
      if (op.kind == OpKind::struct_set) visit(op, at);
    });
  }

  /// Its first operands, if they are files that it makes.
  std::size_t file_output_count(const ir::Op& op) const {
    if (op.kind == OpKind::file_assign) return 1;
    if (op.kind == OpKind::call) return plan_.module->functions[op.callee].file_output_count;
    if (op.kind != OpKind::call_builtin) return 0;
    return stdlib::signature_of(op.callee).file_output_count();
  }

  /// The field is a structure that is made with the one around it, and has its own writes.
  bool makes_container(const ir::Op& set) const {
    const ir::Operand value = set.operands[1];
    if (value.is_constant) return false;
    const std::vector<StepRef>& assigned = plan_.variables[value.index].assigned_by;
    if (assigned.size() != 1) return false;
    const ir::Op* by = plan_.regions[assigned[0].region].steps[assigned[0].step].op;
    return by && by->kind == OpKind::struct_new;
  }

  std::string field_name(const ir::Op& op) const {
    const TypeStore& types = *plan_.module->types;
    const TypeId structure = types.base(plan_.function->variables[op.operands[0].index].type);
    return types.structure(structure).fields[static_cast<std::size_t>(op.number)].name;
  }

  void add(ir::VarId variable, StepRef by, std::string field) {
    if (by.region == plan_.variables[variable].region) return;
    const RegionPlan& region = plan_.regions[by.region];
    const ir::Op* assignment = region.steps[by.step].op;
    const ir::Op* guard = plan_.regions[region.parent].steps[region.parent_step].op;
    if (assignment && guard && guard->kind != OpKind::memo)
      found_[variable].push_back({place_of(assignment->span), place_of(guard->span), std::move(field)});
  }

  const FunctionPlan& plan_;
  std::vector<std::vector<vm::GuardedAssignment>> found_;
  /// Structures made with the one around them: that one, and the name of the field.
  std::unordered_map<ir::VarId, std::pair<ir::VarId, std::string>> holders_;
};

}  // namespace

vm::Place place_of(Span span) { return {span.file, span.begin, span.end}; }

std::vector<std::vector<vm::GuardedAssignment>> guarded_assignments(const FunctionPlan& plan) {
  return GuardedAssignments(plan).take();
}

}  // namespace raddle::emit
