#include "compiler/emit/function_plan.hpp"

#include <algorithm>
#include <utility>

#include "compiler/ir/writers.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::emit {

using ir::OpKind;
using vm::AwaitMode;

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
      : module_(module), function_(function), writers_(function) {
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
    if (function_.kind == ir::FunctionKind::app || function_.kind == ir::FunctionKind::foreign) add_run_app();
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
    Step step;
    step.op = &op;
    step.results = op.results;
    set_inputs(step);
    const auto index = static_cast<std::uint32_t>(plan_.regions[region].steps.size());
    plan_.regions[region].steps.push_back(std::move(step));
    const std::uint32_t body = plan_.regions[region].body;
    std::vector<PlanId> regions;
    if (op.kind == OpKind::loop) {
      regions.push_back(add_loop(region, index, body, op));
    } else if (op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array) {
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
    Step test;
    test.kind = StepKind::loop_test;
    test.op = &op;
    await(test, op.condition, AwaitMode::set);
    for (const ir::Operand next : op.nexts) pass(test, next);
    const auto test_index = static_cast<std::uint32_t>(plan_.regions[main].steps.size());
    plan_.regions[main].steps.push_back(std::move(test));
    if (!op.test_after) {
      const PlanId inner = add_region(main, test_index, own, {op.regions[1]});
      fill_region(inner, {op.regions[1]});
      plan_.regions[main].steps[test_index].regions = {inner};
    }
    return main;
  }

  void add_run_app() {
    Step step;
    step.kind = StepKind::run_app;
    step.alone = true;
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      const ir::Operand parameter = ir::Operand::variable(function_.parameters[i]);
      await(step, parameter, i < function_.file_output_count ? AwaitMode::set : deep_mode(parameter));
    }
    const ir::Command& command = function_.command;
    for (const ir::Operand word : command.words) {
      const bool is_output = !word.is_constant && is_file_output(word.index);
      await(step, word, is_output ? AwaitMode::set : deep_mode(word));
    }
    if (command.stdin_file.index != ir::none) await(step, command.stdin_file, deep_mode(command.stdin_file));
    for (const ir::Operand file : {command.stdout_file, command.stderr_file}) {
      if (file.index != ir::none) await(step, file, AwaitMode::set);
    }
    for (const ir::Operand limit : command.limits) await(step, limit, AwaitMode::set);
    step.results = function_.outputs;
    plan_.regions[0].steps.push_back(std::move(step));
  }

  bool is_file_output(ir::VarId variable) const {
    const auto end = function_.parameters.begin() + function_.file_output_count;
    return std::find(function_.parameters.begin(), end, variable) != end;
  }

  // --- what a step awaits

  void await(Step& step, ir::Operand operand, AwaitMode mode) {
    if (operand.is_constant || operand.index == ir::none) return;
    const Awaited input{operand.index, mode};
    if (std::ranges::find(step.awaited, input) == step.awaited.end()) step.awaited.push_back(input);
  }
  void pass(Step& step, ir::Operand operand) {
    if (!operand.is_constant && operand.index != ir::none) step.passed.push_back(operand.index);
  }
  void await_all(Step& step, AwaitMode mode = AwaitMode::set) {
    for (const ir::Operand operand : step.op->operands) await(step, operand, mode);
  }
  void pass_all(Step& step) {
    for (const ir::Operand operand : step.op->operands) pass(step, operand);
  }
  void await_but_last(Step& step) {
    const std::vector<ir::Operand>& operands = step.op->operands;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) await(step, operands[i], AwaitMode::set);
    pass(step, operands.back());
  }

  TypeKind kind(ir::Operand operand) const { return kind_of(module_, function_, operand); }

  /// Scalars have nothing inside: waiting for the value is enough.
  AwaitMode deep_mode(ir::Operand operand) const {
    const TypeKind type = kind(operand);
    if (type == TypeKind::array || type == TypeKind::bag || type == TypeKind::structure) return AwaitMode::deep;
    return type == TypeKind::file || type == TypeKind::url ? AwaitMode::closed : AwaitMode::set;
  }
  AwaitMode closed_mode(ir::Operand operand) const { return std::min(deep_mode(operand), AwaitMode::closed); }
  AwaitMode reference_mode(ir::Operand operand) const {
    const TypeKind type = kind(operand);
    if (type == TypeKind::file || type == TypeKind::url) return AwaitMode::named;
    return type == TypeKind::array || type == TypeKind::bag ? AwaitMode::closed : AwaitMode::set;
  }

  void await_builtin(Step& step) {
    const ir::Op& op = *step.op;
    const stdlib::BuiltinSignature& signature = stdlib::signature_of(op.callee);
    const std::size_t files = signature.file_output_count();
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const ir::Operand operand = op.operands[i];
      const bool names_file = i < files || op.number != 0;
      await(step, operand, names_file ? AwaitMode::set : input_mode(operand, signature.mark(i - files)));
    }
  }

  AwaitMode input_mode(ir::Operand operand, stdlib::InputMark mark) const {
    switch (mark) {
      case stdlib::InputMark::none: return deep_mode(operand);
      case stdlib::InputMark::closed: return reference_mode(operand);
      case stdlib::InputMark::reference: return AwaitMode::set;
    }
    std::unreachable();
  }

  /// File outputs of `memo` need only be there; those of `memo_keep` are complete.
  void await_memo(Step& step, std::size_t first_file) {
    const ir::Op& op = *step.op;
    const std::size_t first_input = first_file + static_cast<std::size_t>(op.number);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const bool is_unfilled = op.kind == OpKind::memo && i < first_input;
      await(step, op.operands[i], is_unfilled ? AwaitMode::set : deep_mode(op.operands[i]));
    }
  }

  void set_inputs(Step& step) {
    step.synchronous = true;
    switch (step.op->kind) {
      case OpKind::array_get:
      case OpKind::struct_get: step.synchronous = false; return await_all(step);
      case OpKind::array_insert:
      case OpKind::bag_append:
      case OpKind::struct_set: return await_but_last(step);
      case OpKind::array_list:
      case OpKind::struct_make:
        step.alone = true;
        step.synchronous = false;
        return pass_all(step);
      case OpKind::array_map:
        for (std::size_t i = 0; i < step.op->operands.size(); ++i) {
          if (i % 2 == 0)
            await(step, step.op->operands[i], AwaitMode::set);
          else
            pass(step, step.op->operands[i]);
        }
        return;
      case OpKind::call:
      case OpKind::call_app:
      case OpKind::loop:
        step.alone = true;
        step.synchronous = false;
        await(step, step.op->priority, AwaitMode::set);
        return pass_all(step);
      case OpKind::call_builtin:
        step.synchronous =
            !may_end_later(stdlib::builtins()[step.op->callee].effect) && step.op->priority.index == ir::none;
        await(step, step.op->priority, AwaitMode::set);
        return await_builtin(step);
      case OpKind::memo: step.synchronous = false; return await_memo(step, 2);
      case OpKind::memo_keep: return await_memo(step, 1);
      case OpKind::file_assign:
        await(step, step.op->operands[0], AwaitMode::set);
        return await(step, step.op->operands[1], AwaitMode::closed);
      case OpKind::if_:
      case OpKind::switch_:
      case OpKind::foreach_range: step.synchronous = false; return await_all(step);
      case OpKind::foreach_array: step.synchronous = false; return await_all(step, AwaitMode::closed);
      case OpKind::wait:
      case OpKind::wait_deep:
        step.synchronous = false;
        for (const ir::Operand operand : step.op->operands) {
          await(step, operand, step.op->kind == OpKind::wait ? closed_mode(operand) : deep_mode(operand));
        }
        return;
      case OpKind::copy:
      case OpKind::int_to_float:
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul:
      case OpKind::div:
      case OpKind::idiv:
      case OpKind::mod:
      case OpKind::pow:
      case OpKind::mul_add:
      case OpKind::mul_sub:
      case OpKind::sub_mul:
      case OpKind::neg:
      case OpKind::not_:
      case OpKind::and_:
      case OpKind::or_:
      case OpKind::eq:
      case OpKind::ne:
      case OpKind::lt:
      case OpKind::le:
      case OpKind::gt:
      case OpKind::ge:
      case OpKind::concat:
      case OpKind::path_join:
      case OpKind::array_new:
      case OpKind::array_row:
      case OpKind::array_range:
      case OpKind::bag_new:
      case OpKind::bag_row:
      case OpKind::struct_new:
      case OpKind::file_new:
      case OpKind::update_new:
      case OpKind::update_get:
      case OpKind::update: return await_all(step);
    }
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
        await(step, ir::Operand::variable(root), AwaitMode::set);
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

  const ir::Module& module_;
  const ir::Function& function_;
  const ir::Writers writers_;
  FunctionPlan plan_;
};

}  // namespace

FunctionPlan plan_function(const ir::Module& module, const ir::Function& function) {
  return Planner(module, function).run();
}

}  // namespace raddle::emit
