#include "compiler/emit/emit_kernel.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/emit/kernel_builder.hpp"
#include "compiler/emit/tracker.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

class KernelEmitter : KernelBuilder {
 public:
  KernelEmitter(const ir::Module& module, const ir::Function& leaf)
      : module_(module),
        leaf_(leaf),
        reduced_loops_(module, leaf),
        registers_(leaf.variables.size(), vm::no_kernel_part) {
    for (const ir::Region& region : leaf.regions)
      for (const ir::Op& op : region.ops)
        for (const ir::VarId result : op.results) ++assignments_[result];
  }

  vm::Kernel run() {
    kernel_.name = leaf_.name;
    kernel_.place = place_of(leaf_.span);
    for (std::size_t i = 0; i < leaf_.parameters.size(); ++i) {
      if (i == 1) make_rows();
      static_cast<void>(register_of(leaf_.parameters[i]));
    }
    if (leaf_.parameters.size() == 1) make_rows();
    kernel_.parameter_count = static_cast<std::uint32_t>(kernel_.types.size());
    static_cast<void>(block(0));
    if (is_refused_) return {};
    for (const ir::VarId output : leaf_.outputs)
      if (!vm::is_array(type_of(leaf_.variables[output].type))) kernel_.outputs.push_back(register_of(output));
    return take();
  }

 private:
  // ---------------------------------------------------------------- registers

  KernelType type_of(TypeId type) {
    const std::optional<KernelType> found = ir::kernel_type(*module_.types, type);
    if (!found) refuse();
    return found.value_or(KernelType::int_);
  }
  KernelType type_of(ir::Operand operand) { return type_of(ir::type_of(module_, leaf_, operand)); }
  KernelRegister register_of(ir::VarId variable) {
    KernelRegister& known = registers_[variable];
    if (known == vm::no_kernel_part) known = make_register(type_of(leaf_.variables[variable].type));
    return known;
  }
  /// Outputs that are arrays: what calls the kernel has made them.
  void make_rows() {
    for (const ir::VarId output : leaf_.outputs) {
      if (!module_.types->is_array(leaf_.variables[output].type)) continue;
      static_cast<void>(register_of(output));
      ++kernel_.row_count;
    }
  }
  bool is_row(ir::VarId array) const { return std::ranges::find(leaf_.outputs, array) != leaf_.outputs.end(); }
  KernelRegister register_of(ir::Operand operand) {
    if (!operand.is_constant) return register_of(operand.index);
    const ir::Constant& value = module_.constants[operand.index];
    if (const auto* number = std::get_if<double>(&value))
      return constant(KernelType::float_, std::bit_cast<std::int64_t>(*number));
    if (const auto* truth = std::get_if<bool>(&value)) return constant(KernelType::boolean, *truth ? 1 : 0);
    return constant(KernelType::int_, std::get<std::int64_t>(value));
  }
  std::vector<KernelRegister> registers_of(const std::vector<ir::Operand>& operands) {
    std::vector<KernelRegister> registers;
    for (const ir::Operand operand : operands) registers.push_back(register_of(operand));
    return registers;
  }
  std::vector<KernelRegister> registers_of(const std::vector<ir::VarId>& variables) {
    std::vector<KernelRegister> registers;
    for (const ir::VarId variable : variables) registers.push_back(register_of(variable));
    return registers;
  }

  // ---------------------------------------------------------------- instructions

  vm::KernelBlockId block(ir::RegionId region) {
    return block_of([&] { operations(region); });
  }
  void operations(ir::RegionId region) {
    for (const ir::Op& op : leaf_.regions[region].ops)
      if (!is_refused_) operation(op);
  }

  void operation(const ir::Op& op) {
    if (const ir::ReducedLoop* const reduced = reduced_loops_.of(op)) {
      if (&op == reduced->reduction) reduce(*reduced);
      return;
    }
    switch (op.kind) {
      case OpKind::array_get: return element(op);
      case OpKind::call: return module_.functions[op.callee].kind == ir::FunctionKind::foreign ? foreign(op) : call(op);
      case OpKind::call_builtin: return library(op);
      case OpKind::if_: return branch(op);
      case OpKind::switch_: return choose(op, 0);
      case OpKind::loop: return loop(op);
      case OpKind::array_new: return own_array(op);
      case OpKind::array_insert: return own_element(op);
      case OpKind::foreach_range: return each(op);
      case OpKind::wait:
      case OpKind::wait_deep: return operations(op.regions[0]);  // all that it waits for is there
      default: return compute(op);
    }
  }

  void compute(const ir::Op& op) {
    const KernelType type = type_of(op.operands[0]);
    if (op.is_tracked) {  // a copy of a growing array
      const KernelRegister count = there_.at(op.operands[0].index).next(op.span);
      return computed(op, KernelOp::first, {register_of(op.operands[0]), count});
    }
    const ir::KernelOperator found = vm::is_array(type) ? ir::KernelOperator() : ir::kernel_operator(op.kind, type);
    if (found.op == KernelOp::if_) return refuse();
    std::vector<KernelRegister> inputs = registers_of(op.operands);
    if (found.swaps) std::swap(inputs[0], inputs[1]);
    computed(op, found.op, inputs);
  }
  void computed(const ir::Op& op, KernelOp made, const std::vector<KernelRegister>& inputs) {
    const KernelRegister result = vm::info(made).result == 'v' ? vm::no_kernel_part : register_of(op.results[0]);
    KernelInstruction& instruction = put(made, op.span);
    instruction.result = result;
    std::ranges::copy(inputs, instruction.inputs.begin());
  }
  void element(const ir::Op& op) {
    const KernelType array = type_of(op.operands[0]);
    const KernelOp made = array == KernelType::floats ? KernelOp::get_float
                          : array == KernelType::ints ? KernelOp::get_int
                                                      : KernelOp::get_boolean;
    if (op.is_tracked) there_.at(op.operands[0].index).read(register_of(op.operands[1]), op.span);
    computed(op, made, registers_of(op.operands));
  }
  void library(const ir::Op& op) {
    const KernelOp made = ir::library_operator(module_, leaf_, op);
    if (made == KernelOp::if_) return refuse();
    std::vector<KernelRegister> inputs;
    for (std::size_t i = 0; i < vm::info(made).inputs.size(); ++i) inputs.push_back(register_of(op.operands[i]));
    computed(op, made, inputs);
  }

  // ---------------------------------------------------------------- control

  /// An int is a condition too: 0 is false.
  KernelRegister condition(ir::Operand operand, Span span) {
    const KernelRegister value = register_of(operand);
    if (type_of(operand) == KernelType::boolean) return value;
    const KernelRegister zero = constant(KernelType::int_, 0), truth = make_register(KernelType::boolean);
    KernelInstruction& test = put(KernelOp::ne_int, span);
    test.result = truth;
    test.inputs = {value, zero, vm::no_kernel_part};
    return truth;
  }
  /// @return its number
  std::uint32_t put_branch(KernelRegister condition, Span span) {
    KernelInstruction& instruction = put(KernelOp::if_, span);
    instruction.inputs[0] = condition;
    instruction.index = static_cast<std::uint32_t>(kernel_.branches.size());
    kernel_.branches.emplace_back();
    return instruction.index;
  }
  void branch(const ir::Op& op) {
    const std::uint32_t made = put_branch(condition(op.operands[0], op.span), op.span);
    const vm::KernelBlockId then_block = block(op.regions[0]);
    const vm::KernelBlockId else_block = op.regions.size() > 1 ? block(op.regions[1]) : vm::no_kernel_part;
    kernel_.branches[made] = {then_block, else_block};
  }
  /// From its label `first` on.
  void choose(const ir::Op& op, std::size_t first) {
    if (first == op.labels.size()) {
      if (op.regions.size() > op.labels.size()) operations(op.regions.back());
      return;
    }
    const KernelRegister label = constant(KernelType::int_, op.labels[first]);
    const KernelRegister value = register_of(op.operands[0]), is_it = make_register(KernelType::boolean);
    KernelInstruction& test = put(KernelOp::eq_int, op.span);
    test.result = is_it;
    test.inputs = {value, label, vm::no_kernel_part};
    const std::uint32_t made = put_branch(is_it, op.span);
    vm::KernelBranch branch;
    branch.then_block = block(op.regions[first]);
    if (first + 1 < op.regions.size()) {
      const vm::KernelBlockId around = block_;
      block_ = branch.else_block = begin_block();
      choose(op, first + 1);
      block_ = around;
    }
    kernel_.branches[made] = branch;
  }
  /// See Note [loop] in ir/module.hpp.
  void loop(const ir::Op& op) {
    const std::vector<ir::VarId>& variables = leaf_.regions[op.regions[0]].parameters;
    vm::KernelLoop made;
    made.initial = registers_of(op.operands);
    made.variables = registers_of(variables);
    made.test_after = op.test_after;
    if (loops_around_++ == 0) hoist_arrays(op, op);
    KernelInstruction& instruction = put(KernelOp::loop, op.span);
    const auto index = instruction.index = static_cast<std::uint32_t>(kernel_.loops.size());
    kernel_.loops.emplace_back();
    made.test_block = block(op.regions[0]);
    made.body_block = block(op.regions[1]);
    made.condition = register_of(op.condition);
    made.next = registers_of(op.nexts);
    for (const Turn& turn : turns_[&op]) {
      made.variables.insert(made.variables.end(), turn.variables.begin(), turn.variables.end());
      made.initial.insert(made.initial.end(), turn.arrays.begin(), turn.arrays.end());
      made.next.insert(made.next.end(), turn.variables.begin() + 1, turn.variables.end());
      made.next.push_back(turn.variables[0]);
    }
    kernel_.loops[index] = std::move(made);
    --loops_around_;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const ir::VarId result = op.results[i];
      if (assignments_[result] == 1) {  // nobody else: it is the variable
        registers_[result] = register_of(variables[i]);
        continue;
      }
      const KernelRegister from = register_of(variables[i]), to = register_of(result);
      KernelInstruction& copy = put(KernelOp::copy, op.span);
      copy.inputs[0] = from;
      copy.result = to;
    }
  }

  /// Of the points of a loop from 0 on in steps of 1.
  KernelRegister count_of(const ir::Op& loop) {
    const ir::Operand last = loop.operands[1];
    if (last.is_constant) {
      const std::int64_t most = std::get<std::int64_t>(module_.constants[last.index]);
      return constant(KernelType::int_, std::max<std::int64_t>(most, -1) + 1);
    }
    const KernelRegister from = register_of(last), one = constant(KernelType::int_, 1);
    const KernelRegister count = make_register(KernelType::int_);
    KernelInstruction& add = put(KernelOp::add_int, loop.span);
    add.result = count;
    add.inputs = {from, one, vm::no_kernel_part};
    return count;
  }

  // ---------------------------------------------------------------- own arrays: flatten/flat_bodies.hpp makes these

  /// Of rank 1. In a loop it lies in memory that is there before the loop: hoist_arrays().
  void own_array(const ir::Op& op) {
    const ir::VarId array = op.results[0];
    if (is_row(array)) return;
    if (!is_hoisted_.contains(array)) make_arrays(op, {register_of(array)});
    if (op.is_tracked) there_.at(array).begin(register_of(op.operands[0]), op.span);
  }
  /// With what says which elements are there, if that is to be known.
  void make_arrays(const ir::Op& op, const std::vector<KernelRegister>& arrays) {
    const KernelType type = type_of(leaf_.variables[op.results[0]].type);
    const KernelOp made = type == KernelType::floats ? KernelOp::new_floats
                          : type == KernelType::ints ? KernelOp::new_ints
                                                     : KernelOp::new_booleans;
    const KernelRegister count = register_of(op.operands[0]);
    for (const KernelRegister array : arrays) put_array(made, array, count, op.span);
    if (!op.is_tracked) return;
    there_.emplace(op.results[0], Tracker(*this, op.fill_order)).first->second.make(count, op.span);
  }
  /// Arrays that are made in a loop, or in loops of that, before the outermost one is entered. Of one that the loop
  /// around it carries on there are as many as that has variables that are arrays, and one, which are taken in turn:
  /// so long none of what it has made before is gone.
  void hoist_arrays(const ir::Op& loop, const ir::Op& outermost) {
    for (const ir::RegionId region : loop.regions) hoist_arrays_in(region, loop, outermost);
  }
  std::size_t array_count(const ir::Op& loop, ir::VarId array) {
    if (std::ranges::find(loop.nexts, ir::Operand::variable(array)) == loop.nexts.end()) return 1;
    const auto is_array = [&](ir::VarId id) { return vm::is_array(type_of(leaf_.variables[id].type)); };
    const auto variables = std::ranges::count_if(leaf_.regions[loop.regions[0]].parameters, is_array);
    return static_cast<std::size_t>(variables) + 1;
  }
  void hoist_arrays_in(ir::RegionId region, const ir::Op& loop, const ir::Op& outermost) {
    for (const ir::Op& op : leaf_.regions[region].ops) {
      if (op.kind == OpKind::array_new && !reduced_loops_.of(op)) {
        if (is_in(outermost, op.operands[0])) return refuse();
        Turn turn;
        const std::size_t count = array_count(loop, op.results[0]);
        for (std::size_t i = 0; i < count; ++i) {
          const KernelType type = type_of(leaf_.variables[op.results[0]].type);
          turn.variables.push_back(i == 0 ? register_of(op.results[0]) : make_register(type));
          turn.arrays.push_back(count == 1 ? turn.variables[0] : make_register(type));
        }
        make_arrays(op, turn.arrays);
        if (count > 1) turns_[&loop].push_back(std::move(turn));
        is_hoisted_.insert(op.results[0]);
      } else if (op.kind == OpKind::loop) {
        hoist_arrays(op, outermost);
      } else {
        for (const ir::RegionId nested : op.regions) hoist_arrays_in(nested, loop, outermost);
      }
    }
  }
  bool is_in(const ir::Op& loop, ir::Operand operand) const {
    if (operand.is_constant) return false;
    ir::RegionId at = leaf_.variables[operand.index].region;
    while (at != ir::none && at != loop.regions[0]) at = leaf_.regions[at].parent;
    return at != ir::none;
  }
  void own_element(const ir::Op& op) {
    const KernelType type = type_of(op.operands[0]);
    const KernelOp made = type == KernelType::floats ? KernelOp::put_float
                          : type == KernelType::ints ? KernelOp::put_int
                                                     : KernelOp::put_boolean;
    if (op.is_tracked) there_.at(op.operands[0].index).insert(register_of(op.operands[1]), op.span);
    computed(op, made, registers_of(op.operands));
  }
  void each(const ir::Op& op) {
    const ir::Region& body = leaf_.regions[op.regions[0]];
    put_each(register_of(body.parameters[0]), count_of(op), op.span, [&] { operations(op.regions[0]); });
  }
  // ---------------------------------------------------------------- calls

  void call(const ir::Op& op) {
    if (module_.functions[op.callee].kind != ir::FunctionKind::leaf) return refuse();
    vm::KernelCall made{op.callee, registers_of(op.operands), registers_of(op.results)};
    put(KernelOp::call, op.span).index = static_cast<std::uint32_t>(kernel_.calls.size());
    kernel_.calls.push_back(std::move(made));
  }
  void reduce(const ir::ReducedLoop& reduced) {
    if (reduced.loop->launch == ir::none) return refuse();
    const ir::IndexLaunch& launch = leaf_.launches[reduced.loop->launch];
    const KernelRegister count = count_of(*reduced.loop);
    vm::KernelReduction made{launch.kernel,
                             *vm::reducer_of_function(stdlib::builtins()[reduced.reduction->callee].name), count,
                             registers_of(launch.captures), register_of(reduced.reduction->results[0])};
    put(KernelOp::reduce, reduced.reduction->span).index = static_cast<std::uint32_t>(kernel_.reductions.size());
    kernel_.reductions.push_back(std::move(made));
  }
  void foreign(const ir::Op& op) {
    const ir::Foreign& callee = module_.functions[op.callee].foreign;
    vm::KernelForeignCall made{callee.library, callee.code, op.callee, registers_of(op.operands),
                               register_of(op.results[0])};
    put(KernelOp::foreign, op.span).index = static_cast<std::uint32_t>(kernel_.foreign_calls.size());
    kernel_.foreign_calls.push_back(std::move(made));
  }

  void refuse() { is_refused_ = true; }

  const ir::Module& module_;
  const ir::Function& leaf_;
  const ir::ReducedLoops reduced_loops_;
  std::vector<KernelRegister> registers_;  ///< by variable; absent: none yet
  std::map<ir::VarId, unsigned> assignments_;
  std::map<ir::VarId, Tracker> there_;  ///< of tracked arrays which elements they have
  struct Turn {
    std::vector<KernelRegister> arrays, variables;  ///< the first variable has the one to be filled
  };
  std::map<const ir::Op*, std::vector<Turn>> turns_;  ///< by loop: of arrays that it may carry on
  std::set<ir::VarId> is_hoisted_;                    ///< arrays that lie in memory from before a loop
  unsigned loops_around_ = 0;
  bool is_refused_ = false;
};

}  // namespace

vm::Kernel emit_kernel(const ir::Module& module, const ir::Function& leaf) { return KernelEmitter(module, leaf).run(); }

std::vector<vm::Kernel> emit_kernels(const ir::Module& module) {
  std::vector<vm::Kernel> kernels;
  for (const ir::Function& function : module.functions)
    kernels.push_back(function.is_leaf() ? emit_kernel(module, function) : vm::Kernel{});
  return kernels;
}

}  // namespace raddle::emit
