#include "compiler/emit/function_plan.hpp"

#include <algorithm>
#include <utility>

#include "compiler/emit/step_inputs.hpp"
#include "compiler/ir/writers.hpp"

namespace raddle::emit {

using ir::OpKind;

TypeKind kind_of(const ir::Module& module, const ir::Function& function, ir::Operand operand) {
  if (operand.is_constant) {
    const ir::Constant& constant = module.constants[operand.index];
    if (std::holds_alternative<std::int64_t>(constant)) return TypeKind::int_;
    if (std::holds_alternative<double>(constant)) return TypeKind::float_;
    return std::holds_alternative<bool>(constant) ? TypeKind::boolean : TypeKind::string;
  }
  return module.types->kind(module.types->base(function.variables[operand.index].type));
}

std::uint32_t writer_count(const RegionPlan& region, ir::VarId root) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(region.steps, [root](const Step& step) { return step.written.contains(root); }));
}

namespace {

class Planner {
 public:
  Planner(const ir::Module& module, const ir::Function& function)
      : function_(function), writers_(function), inputs_(module, function) {
    plan_.module = &module;
    plan_.function = &function;
    plan_.variables.resize(function.variables.size());
  }

  FunctionPlan run() {
    plan_.bodies.emplace_back();
    add_region(ir::none, 0, 0, {0});
    for (const ir::VarId id : function_.parameters) declare(id, 0);
    for (const ir::VarId id : function_.outputs) declare(id, 0);
    plan_.bodies[0].slots = function_.parameters;
    fill_region(0, {0});
    if (function_.kind == ir::FunctionKind::app || function_.kind == ir::FunctionKind::foreign)
      plan_.regions[0].steps.push_back(inputs_.run_app());
    find_roots();
    lay_out_slots();
    for (PlanId id = 0; id < plan_.regions.size(); ++id) record_uses(id);
    summarise(0);
    return std::move(plan_);
  }

 private:
  // --- regions and steps

  PlanId add_region(PlanId parent, std::uint32_t parent_step, std::uint32_t body,
                    const std::vector<ir::RegionId>& sources) {
    const auto id = static_cast<PlanId>(plan_.regions.size());
    RegionPlan& region = plan_.regions.emplace_back();
    region.parent = parent;
    region.parent_step = parent_step;
    region.body = body;
    for (const ir::RegionId source : sources) {
      for (const ir::VarId variable : function_.regions[source].parameters) declare(variable, id);
      for (const ir::VarId variable : function_.regions[source].variables) declare(variable, id);
    }
    return id;
  }

  void declare(ir::VarId variable, PlanId region) {
    plan_.variables[variable].region = region;
    plan_.variables[variable].body = plan_.regions[region].body;
    plan_.regions[region].declared.insert(variable);
  }

  void fill_region(PlanId id, const std::vector<ir::RegionId>& sources) {
    for (const ir::RegionId source : sources) {
      for (const ir::Op& op : function_.regions[source].ops) add_step(id, op);
    }
  }

  std::uint32_t add_body(std::uint32_t parent, std::vector<ir::VarId> parameters) {
    plan_.bodies.push_back({parent, static_cast<PlanId>(plan_.regions.size()), std::move(parameters), {}});
    return static_cast<std::uint32_t>(plan_.bodies.size() - 1);
  }

  void add_step(PlanId region, const ir::Op& op) {
    const auto index = static_cast<std::uint32_t>(plan_.regions[region].steps.size());
    plan_.regions[region].steps.push_back(inputs_.operation(op));
    const std::uint32_t body = plan_.regions[region].body;
    std::vector<PlanId> regions;
    if (op.kind == OpKind::loop) {
      regions.push_back(add_loop(region, index, body, op));
    } else if (op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array || op.kind == OpKind::attempt) {
      const std::uint32_t own = add_body(body, function_.regions[op.regions[0]].parameters);
      regions.push_back(add_region(region, index, own, {op.regions[0]}));
      fill_region(regions[0], {op.regions[0]});
    } else {
      for (const ir::RegionId source : op.regions) {
        regions.push_back(add_region(region, index, body, {source}));
        fill_region(regions.back(), {source});
      }
    }
    plan_.regions[region].steps[index].regions = std::move(regions);
  }

  /// `for`: the test, then a step that enters the body. `iterate`: body and test are one region.
  PlanId add_loop(PlanId region, std::uint32_t index, std::uint32_t body, const ir::Op& op) {
    const std::uint32_t own = add_body(body, function_.regions[op.regions[0]].parameters);
    std::vector<ir::RegionId> sources{op.regions[0]};
    if (op.test_after) sources.push_back(op.regions[1]);
    const PlanId main = add_region(region, index, own, sources);
    fill_region(main, sources);
    const auto test_index = static_cast<std::uint32_t>(plan_.regions[main].steps.size());
    plan_.regions[main].steps.push_back(inputs_.loop_test(op));
    if (!op.test_after) {
      const PlanId inner = add_region(main, test_index, own, {op.regions[1]});
      fill_region(inner, {op.regions[1]});
      plan_.regions[main].steps[test_index].regions = {inner};
    }
    return main;
  }

  // --- arrays written

  void find_roots() {
    for (ir::VarId id = 0; id < plan_.variables.size(); ++id) plan_.variables[id].root = writers_.root(id);
  }

  /// The body of a `for` is entered by the test's step, which holds its writers; else a step is an operation.
  std::vector<ir::VarId> arrays_held(const Step& step) const {
    switch (step.kind) {
      case StepKind::op: return writers_.held_by(*step.op);
      case StepKind::loop_test:
        return step.regions.empty() ? std::vector<ir::VarId>() : writers_.written_in(step.op->regions[1]);
      case StepKind::run_app: return {};
    }
    return {};
  }

  /// Fills the nested sets of the region's steps from the inside out.
  void summarise(PlanId id) {
    for (std::uint32_t i = 0; i < plan_.regions[id].steps.size(); ++i) {
      Step& step = plan_.regions[id].steps[i];
      for (const PlanId inner : step.regions) {
        summarise(inner);
        collect(step, plan_.regions[inner]);
      }
      for (const ir::VarId root : arrays_held(step)) {
        step.written.insert(root);
        await(step, ir::Operand::variable(root), vm::AwaitMode::set);
        plan_.variables[root].read_by.push_back({id, i});
      }
    }
  }

  static void collect(Step& step, const RegionPlan& inner) {
    const auto add = [&inner](std::set<ir::VarId>& to, ir::VarId variable) {
      if (!inner.declared.contains(variable)) to.insert(variable);
    };
    for (const Step& each : inner.steps) {
      for (const Awaited& input : each.awaited) add(step.nested_reads, input.variable);
      for (const ir::VarId variable : each.passed) add(step.nested_reads, variable);
      for (const ir::VarId variable : each.nested_reads) add(step.nested_reads, variable);
      for (const ir::VarId variable : each.results) add(step.nested_assigned, variable);
      for (const ir::VarId variable : each.nested_assigned) add(step.nested_assigned, variable);
    }
  }

  // --- variables

  void lay_out_slots() {
    for (BodyPlan& body : plan_.bodies) {
      for (std::uint32_t i = 0; i < body.slots.size(); ++i) plan_.variables[body.slots[i]].slot = i;
    }
    for (const ir::VarId id : function_.outputs) plan_.variables[id].is_output = true;
    std::vector<bool> placed(plan_.variables.size(), false);
    for (const BodyPlan& body : plan_.bodies) {
      for (const ir::VarId id : body.slots) placed[id] = true;
    }
    for (ir::VarId id = 0; id < plan_.variables.size(); ++id) {
      VariablePlan& variable = plan_.variables[id];
      if (placed[id] || variable.is_output) continue;
      BodyPlan& body = plan_.bodies[variable.body];
      variable.slot = static_cast<std::uint32_t>(body.slots.size());
      body.slots.push_back(id);
    }
    BodyPlan& own = plan_.bodies[0];
    own.outputs = function_.outputs;
    for (std::uint32_t i = 0; i < own.outputs.size(); ++i) {
      plan_.variables[own.outputs[i]].slot = static_cast<std::uint32_t>(own.slots.size()) + i;
    }
  }

  void record_uses(PlanId id) {
    const RegionPlan& region = plan_.regions[id];
    for (std::uint32_t i = 0; i < region.steps.size(); ++i) {
      const Step& step = region.steps[i];
      for (const ir::VarId variable : step.results) plan_.variables[variable].assigned_by.push_back({id, i});
      for (const Awaited& input : step.awaited) plan_.variables[input.variable].read_by.push_back({id, i});
      for (const ir::VarId variable : step.passed) plan_.variables[variable].read_by.push_back({id, i});
    }
  }

  const ir::Function& function_;
  const ir::Writers writers_;
  const StepInputs inputs_;
  FunctionPlan plan_;
};

}  // namespace

FunctionPlan plan_function(const ir::Module& module, const ir::Function& function) {
  return Planner(module, function).run();
}

}  // namespace raddle::emit
