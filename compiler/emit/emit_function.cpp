#include "compiler/emit/emit_function.hpp"

#include <algorithm>
#include <unordered_map>

#include "compiler/emit/external_sites.hpp"
#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/emit/launch_sites.hpp"
#include "compiler/emit/library_site.hpp"
#include "compiler/emit/memo_site.hpp"
#include "compiler/emit/operand_map.hpp"
#include "compiler/emit/select_opcode.hpp"
#include "compiler/ir/kernel_operator.hpp"

namespace raddle::emit {

using ir::OpKind;

namespace {

class FunctionEmitter {
 public:
  FunctionEmitter(const FunctionPlan& plan, vm::FunctionId id, vm::Program& program, StructureTable& structures)
      : plan_(plan),
        module_(*plan.module),
        function_(*plan.function),
        id_(id),
        program_(program),
        structures_(structures),
        first_body_(static_cast<vm::BodyId>(program.bodies.size())),
        operands_(plan),
        states_(plan.bodies.size(), 0),
        guarded_(guarded_assignments(plan)) {}

  vm::BodyId run() {
    add_bodies();
    for (std::uint32_t i = 0; i < plan_.bodies.size(); ++i) {
      const vm::RegionId region = emit_region(plan_.bodies[i].region);
      program_.bodies[first_body_ + i].region = region;
    }
    for (std::uint32_t i = 0; i < states_.size(); ++i) program_.bodies[first_body_ + i].state_count = states_[i];
    for (const auto& [site, inner] : nests_) program_.foreaches[site].nest.inner = foreach_at_.at(inner);
    return first_body_;
  }

 private:
  // --- bodies

  void add_bodies() {
    for (const BodyPlan& plan : plan_.bodies) {
      vm::Body body;
      body.function = id_;
      body.parent = plan.parent == ir::none ? vm::no_id : first_body_ + plan.parent;
      body.future_count = static_cast<std::uint32_t>(plan.slots.size());
      body.output_count = static_cast<std::uint32_t>(plan.outputs.size());
      for (const ir::VarId id : plan.slots) body.variables.push_back(describe(id));
      for (const ir::VarId id : plan.outputs) body.variables.push_back(describe(id));
      program_.bodies.push_back(std::move(body));
    }
  }

  vm::VariableInfo describe(ir::VarId id) const {
    const ir::Var& variable = function_.variables[id];
    return {variable.name, place_of(variable.span), guarded_[id]};
  }

  // --- regions and strands

  /// Strands of a region lie side by side; regions inside are emitted meanwhile, behind them.
  vm::RegionId emit_region(PlanId id) {
    const RegionPlan& plan = plan_.regions[id];
    const auto first = static_cast<vm::StrandId>(program_.strands.size());
    const auto count = static_cast<std::uint32_t>(plan.strands.size());
    program_.strands.resize(first + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const vm::Strand strand = emit_strand(plan, plan.strands[i]);
      program_.strands[first + i] = strand;
    }
    program_.regions.push_back({first, count});
    return static_cast<vm::RegionId>(program_.regions.size() - 1);
  }

  vm::Strand emit_strand(const RegionPlan& region, const StrandPlan& plan) {
    vm::Strand strand;
    strand.body = first_body_ + region.body;
    strand.first_awaited = static_cast<std::uint32_t>(program_.awaited.size());
    strand.awaited_count = static_cast<std::uint32_t>(plan.awaited.size());
    for (const Awaited& input : plan.awaited)
      program_.awaited.push_back({operands_.of(input.variable, region.body), input.mode});
    if (!plan.awaited.empty()) strand.state = states_[region.body]++;
    std::vector<vm::Instruction> code;
    std::vector<vm::Place> places;
    std::vector<std::uint64_t> streams;
    for (const std::uint32_t i : plan.steps) {
      code.push_back(emit_step(region.steps[i], region.body));
      const ir::Op* const op = region.steps[i].op;
      places.push_back(place_of(op ? op->span : function_.span));
      streams.push_back(op ? op->stream : 0);
    }
    strand.first_instruction = static_cast<std::uint32_t>(program_.instructions.size());
    strand.instruction_count = static_cast<std::uint32_t>(code.size());
    for (std::uint32_t i = 0; i < plan.steps.size(); ++i)
      if (vm::form_of(code[i].opcode) == vm::InstructionForm::foreach)
        foreach_at_[region.steps[plan.steps[i]].op] = strand.first_instruction + i;
    program_.instructions.insert(program_.instructions.end(), code.begin(), code.end());
    program_.places.insert(program_.places.end(), places.begin(), places.end());
    program_.streams.insert(program_.streams.end(), streams.begin(), streams.end());
    return strand;
  }

  // --- instructions

  vm::Instruction emit_step(const Step& step, std::uint32_t body) {
    if (step.kind == StepKind::loop_test) return emit_loop_test(step, body);
    if (step.kind == StepKind::run_app) return emit_run_app(body);
    const ir::Op& op = *step.op;
    const TypeKind type = op.operands.empty() ? TypeKind::error : kind_of(module_, function_, op.operands[0]);
    vm::Instruction in;
    in.opcode = select_opcode(op, type);
    if (!step.results.empty()) {
      in.is_private = plan_.variables[step.results[0]].is_private;
      in.a = operands_.of(step.results[0], body);
    }
    const auto input = [&](std::size_t i) {
      return i < op.operands.size() ? operands_.of(op.operands[i], body) : vm::Operand();
    };
    switch (vm::form_of(in.opcode)) {
      case vm::InstructionForm::make: set_make(in, op, body); break;
      case vm::InstructionForm::unary:
        in.b = input(0);
        in.d = static_cast<std::uint32_t>(op.number);
        break;
      case vm::InstructionForm::binary:
        in.b = input(0);
        in.c = input(1);
        if (op.kind == OpKind::file_assign) in.d = type == TypeKind::url ? 1 : 0;
        break;
      case vm::InstructionForm::ternary:
        in.b = input(0);
        in.c = input(1);
        in.d = input(2).bits();
        break;
      case vm::InstructionForm::list: set_list(in, op, body); break;
      case vm::InstructionForm::insert:
        in.a = input(0);
        in.b = input(1);
        in.c = input(2);
        in.d = root(op, body);
        break;
      case vm::InstructionForm::hold:
        in.b = input(1);
        in.d = root(op, body);
        break;
      case vm::InstructionForm::row:
        in.b = input(0);
        in.c = input(1);
        in.d = root(op, body);
        break;
      case vm::InstructionForm::append:
      case vm::InstructionForm::store:
        in.a = input(0);
        in.c = input(1);
        in.d = op.kind == OpKind::bag_append ? root(op, body) : static_cast<std::uint32_t>(op.number);
        break;
      case vm::InstructionForm::call: in.d = add_call(op, body); break;
      case vm::InstructionForm::builtin:
        in.d = static_cast<std::uint32_t>(program_.builtins.size());
        program_.builtins.push_back(library_site(op, operands_, body));
        break;
      case vm::InstructionForm::branch:
        in.b = input(0);
        in.d = add_branch(step, body);
        break;
      case vm::InstructionForm::foreach:
        in.a = input(0);
        in.b = input(1);
        in.c = input(2);
        in.d = add_foreach(step, body);
        break;
      case vm::InstructionForm::loop:
        in.a = vm::Operand();
        in.d = add_loop(step, body);
        break;
      case vm::InstructionForm::attempt: in.d = add_attempt(step, body); break;
      case vm::InstructionForm::memo:
        in.a = {};
        in.is_private = false;
        in.d = add_memo(step, body);
        break;
      case vm::InstructionForm::app:
      case vm::InstructionForm::loop_test: break;  // no operations of the IR
    }
    return in;
  }

  std::uint32_t root(const ir::Op& op, std::uint32_t body) const {
    return operands_.of(plan_.variables[op.operands[0].index].root, body).bits();
  }

  void set_make(vm::Instruction& in, const ir::Op& op, std::uint32_t body) {
    const ir::VarId result = op.results[0];
    if (op.kind == OpKind::struct_new) {
      in.d = structure_info(result);
      return;
    }
    in.d = static_cast<std::uint32_t>(op.number);
    in.b = vm::Operand::from_bits(static_cast<std::uint32_t>(program_.arrays.size()));
    const ir::Var& variable = function_.variables[result];
    vm::ArrayInfo info{variable.name, place_of(variable.span), op.is_reduced, op.has_deviation};
    info.rank = static_cast<std::uint32_t>(op.operands.size());
    if (op.is_filled) info.filled_with = ir::kernel_type(*module_.types, module_.types->at(variable.type).element);
    in.c = vm::Operand::from_bits(add_list(op, body));
    program_.arrays.push_back(std::move(info));
  }

  std::uint32_t structure_info(ir::VarId result) { return structures_.number_of(function_.variables[result].type); }

  void set_list(vm::Instruction& in, const ir::Op& op, std::uint32_t body) {
    in.b = vm::Operand::from_bits(add_list(op, body));
    in.d = static_cast<std::uint32_t>(op.operands.size());
    if (op.kind == OpKind::struct_make) in.c = vm::Operand::from_bits(structure_info(op.results[0]));
  }
  /// @return where its operands begin
  std::uint32_t add_list(const ir::Op& op, std::uint32_t body) {
    const auto first = static_cast<std::uint32_t>(program_.lists.size());
    for (const ir::Operand each : op.operands) program_.lists.push_back(operands_.of(each, body));
    return first;
  }

  // --- sites

  /// With ints as keys.
  bool is_number_array(ir::Operand operand) const {
    const Type type = module_.types->at(type_of(module_, function_, operand));
    return type.kind == TypeKind::array && type.key == TypeStore::int_ &&
           ir::kernel_type(*module_.types, type.element).has_value();
  }

  std::uint32_t add_call(const ir::Op& op, std::uint32_t body) {
    vm::CallSite site;
    site.function = op.callee;
    site.arguments = operands_.all(op.operands, body);
    site.results = operands_.all(op.results, body);
    site.priority = operands_.of(op.priority, body);
    site.rank = operands_.of(op.rank, body);
    const auto is_memo = [](const ir::Op& each) { return each.kind == OpKind::memo; };
    site.is_tail = std::ranges::none_of(function_.regions[0].ops, is_memo);  // it is asked what was called in it
    for (const ir::VarId result : op.results) {
      if (!plan_.variables[result].is_output) site.is_tail = false;
    }
    const TypeStore& types = *module_.types;
    for (std::uint32_t i = 0; i < op.operands.size(); ++i)
      if (is_number_array(op.operands[i])) site.number_arrays.push_back(i);
    site.makes_dense = std::ranges::any_of(
        op.results, [&](ir::VarId result) { return types.is_dense(function_.variables[result].type); });
    program_.calls.push_back(std::move(site));
    return static_cast<std::uint32_t>(program_.calls.size() - 1);
  }

  std::vector<vm::WriterShare> shares(const std::set<ir::VarId>& roots, PlanId region, std::uint32_t body) const {
    std::vector<vm::WriterShare> result;
    for (const ir::VarId root : roots) {
      const std::uint32_t writers = region == ir::none ? 0 : writer_count(plan_.regions[region], root);
      result.push_back({operands_.of(root, body), writers});
    }
    return result;
  }

  vm::Arm add_arm(const Step& step, PlanId region, std::uint32_t body) {
    vm::Arm arm;
    arm.shares = shares(step.written, region, body);
    if (region != ir::none && !plan_.regions[region].steps.empty()) arm.region = emit_region(region);
    return arm;
  }

  std::uint32_t add_branch(const Step& step, std::uint32_t body) {
    vm::BranchSite site;
    site.labels = step.op->labels;
    site.assigned = operands_.all(step.nested_assigned, body);
    site.written = operands_.all(step.written, body);
    if (step.op->kind == OpKind::wait || step.op->kind == OpKind::wait_deep) {
      site.awaited = operands_.all(step.op->operands, body);
    }
    for (const PlanId region : step.regions) site.arms.push_back(add_arm(step, region, body));
    std::size_t arms = 1;
    if (step.op->kind == OpKind::if_) arms = 2;
    if (step.op->kind == OpKind::switch_) arms = site.labels.size() + 1;
    while (site.arms.size() < arms) site.arms.push_back(add_arm(step, ir::none, body));
    program_.branches.push_back(std::move(site));
    return static_cast<std::uint32_t>(program_.branches.size() - 1);
  }

  std::uint32_t add_memo(const Step& step, std::uint32_t body) {
    vm::MemoSite site = memo_site(plan_, *step.op, operands_, body);
    if (step.op->kind == OpKind::memo) site.miss = add_arm(step, step.regions[0], body);
    program_.memos.push_back(std::move(site));
    return static_cast<std::uint32_t>(program_.memos.size() - 1);
  }

  /// Of an operation whose region is a body of its own.
  template <typename Site>
  void set_body(Site& site, const Step& step, std::uint32_t body) const {
    site.body = first_body_ + plan_.regions[step.regions[0]].body;
    site.shares = shares(step.written, step.regions[0], body);
    site.assigned = operands_.all(step.nested_assigned, body);
    site.written = operands_.all(step.written, body);
  }

  std::uint32_t add_foreach(const Step& step, std::uint32_t body) {
    vm::ForeachSite site;
    const std::uint32_t own_body = plan_.regions[step.regions[0]].body;
    set_body(site, step, body);
    site.placement = step.op->placement;
    site.fusion = fusion_of(function_, *step.op);
    site.told = told_loops(function_, *step.op);
    site.collapsed = collapsed_loops(operands_, *step.op, body);
    site.element_of_result = element_of_result(function_, operands_, step, body);
    site.parameter_count = static_cast<std::uint32_t>(function_.regions[step.op->regions[0]].parameters.size());
    if (step.op->launch != ir::none) set_launch(site, module_, function_, operands_, *step.op, body);
    const auto id = static_cast<std::uint32_t>(program_.foreaches.size());
    if (step.op->nest != ir::none)
      nests_.emplace_back(id, &set_nest(site, module_, function_, operands_, *step.op, body, own_body));
    program_.foreaches.push_back(std::move(site));
    return id;
  }

  std::uint32_t add_attempt(const Step& step, std::uint32_t body) {
    vm::AttemptSite site;
    set_body(site, step, body);
    program_.attempts.push_back(std::move(site));
    return static_cast<std::uint32_t>(program_.attempts.size() - 1);
  }

  std::uint32_t add_loop(const Step& step, std::uint32_t body) {
    vm::LoopSite site;
    set_body(site, step, body);
    site.initial = operands_.all(step.op->operands, body);
    site.results = operands_.all(step.op->results, body);
    site.place = place_of(step.op->span);
    site.test_after = step.op->test_after;
    if (step.op->kernel != ir::none) site.kernel = loop_kernel(function_.kernels[step.op->kernel], operands_, body);
    const auto index = static_cast<std::uint32_t>(program_.loops.size());
    program_.loops.push_back(std::move(site));
    loops_.emplace_back(step.op, index);
    return index;
  }

  /// The loop's own operation was emitted before: bodies follow those around them.
  vm::Instruction emit_loop_test(const Step& step, std::uint32_t body) {
    vm::Instruction in;
    in.opcode = vm::Opcode::loop_test;
    in.b = operands_.of(step.op->condition, body);
    for (const auto& [op, index] : loops_)
      if (op == step.op) in.d = index;
    vm::Arm arm = add_arm(step, step.regions.empty() ? ir::none : step.regions[0], body);
    vm::LoopSite& site = program_.loops[in.d];
    site.step = std::move(arm);
    site.nexts = operands_.all(step.op->nexts, body);
    return in;
  }

  vm::Instruction emit_run_app(std::uint32_t body) {
    vm::AppSite site = app_site(module_, function_, operands_, body);
    vm::Instruction in;
    in.opcode = vm::Opcode::run_app;
    if (function_.kind == ir::FunctionKind::foreign) {
      in.opcode = vm::Opcode::run_foreign;
      site.foreign = static_cast<std::uint32_t>(program_.foreigns.size());
      program_.functions[id_].foreign = site.foreign;
      program_.foreigns.push_back(foreign_function(*module_.types, function_));
    }
    program_.apps.push_back(std::move(site));
    in.d = static_cast<std::uint32_t>(program_.apps.size() - 1);
    return in;
  }

  const FunctionPlan& plan_;
  const ir::Module& module_;
  const ir::Function& function_;
  const vm::FunctionId id_;
  vm::Program& program_;
  StructureTable& structures_;
  const vm::BodyId first_body_;
  const OperandMap operands_;
  std::vector<std::uint32_t> states_;                            ///< strand states so far, by body
  std::vector<std::vector<vm::GuardedAssignment>> guarded_;      ///< by variable
  std::vector<std::pair<const ir::Op*, std::uint32_t>> loops_;   ///< LoopSite of each loop emitted so far
  std::unordered_map<const ir::Op*, std::uint32_t> foreach_at_;  ///< their instructions
  std::vector<std::pair<std::uint32_t, const ir::Op*>> nests_;   ///< ForeachSite and inner loop
};

}  // namespace

vm::BodyId emit_function(const FunctionPlan& plan, vm::FunctionId id, vm::Program& program,
                         StructureTable& structures) {
  return FunctionEmitter(plan, id, program, structures).run();
}

}  // namespace raddle::emit
