#include "compiler/emit/emit_kernel.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

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

vm::Place place_of(Span span) { return {span.file, span.begin, span.end}; }

class KernelEmitter {
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
    insert_constants();
    return std::move(kernel_);
  }

 private:
  // ---------------------------------------------------------------- registers

  /// Constants are numbered from here on until all others are known.
  static constexpr KernelRegister first_constant = 1U << 31;

  KernelType type_of(TypeId type) {
    const std::optional<KernelType> found = ir::kernel_type(*module_.types, type);
    if (!found) refuse();
    return found.value_or(KernelType::int_);
  }
  KernelType type_of(ir::Operand operand) { return type_of(ir::type_of(module_, leaf_, operand)); }
  KernelRegister make_register(KernelType type) {
    kernel_.types.push_back(type);
    return static_cast<KernelRegister>(kernel_.types.size() - 1);
  }
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
  KernelRegister constant(KernelType type, std::int64_t bits) {
    const auto [found, is_new] = constant_index_.try_emplace({type, bits}, 0);
    if (is_new) {
      found->second = first_constant + static_cast<KernelRegister>(kernel_.constants.size());
      kernel_.constants.push_back(bits);
      constant_types_.push_back(type);
    }
    return found->second;
  }
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

  void insert_constants() {
    const auto count = static_cast<KernelRegister>(kernel_.constants.size());
    const auto renumber = [&](KernelRegister& id) {
      if (id == vm::no_kernel_part || id < kernel_.parameter_count) return;
      id = id >= first_constant ? id - first_constant + kernel_.parameter_count : id + count;
    };
    for (std::vector<KernelInstruction>& instructions : kernel_.blocks) {
      for (KernelInstruction& instruction : instructions) {
        renumber(instruction.result);
        std::ranges::for_each(instruction.inputs, renumber);
      }
    }
    for (vm::KernelLoop& loop : kernel_.loops) {
      for (auto* const registers : {&loop.variables, &loop.initial, &loop.next})
        std::ranges::for_each(*registers, renumber);
      renumber(loop.condition);
    }
    for (vm::KernelCall& call : kernel_.calls)
      for (auto* const registers : {&call.inputs, &call.results}) std::ranges::for_each(*registers, renumber);
    for (vm::KernelReduction& reduction : kernel_.reductions) {
      renumber(reduction.count);
      std::ranges::for_each(reduction.inputs, renumber);
      renumber(reduction.result);
    }
    for (vm::KernelForeignCall& call : kernel_.foreign_calls) {
      std::ranges::for_each(call.inputs, renumber);
      renumber(call.result);
    }
    for (vm::KernelEach& each : kernel_.eaches) {
      renumber(each.point);
      renumber(each.count);
    }
    std::ranges::for_each(kernel_.outputs, renumber);
    kernel_.types.insert(kernel_.types.begin() + kernel_.parameter_count, constant_types_.begin(),
                         constant_types_.end());
  }

  // ---------------------------------------------------------------- instructions

  KernelInstruction& put(KernelOp op, Span span) {
    KernelInstruction& instruction = kernel_.blocks[block_].emplace_back();
    instruction.op = op;
    instruction.place = place_of(span);
    return instruction;
  }
  vm::KernelBlockId begin_block() {
    kernel_.blocks.emplace_back();
    return static_cast<vm::KernelBlockId>(kernel_.blocks.size() - 1);
  }
  /// Makes it of a region.
  vm::KernelBlockId block(ir::RegionId region) {
    const vm::KernelBlockId around = block_, made = begin_block();
    block_ = made;
    operations(region);
    block_ = around;
    return made;
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
    KernelInstruction& instruction = put(KernelOp::loop, op.span);
    const auto index = instruction.index = static_cast<std::uint32_t>(kernel_.loops.size());
    kernel_.loops.emplace_back();
    made.test_block = block(op.regions[0]);
    made.body_block = block(op.regions[1]);
    made.condition = register_of(op.condition);
    made.next = registers_of(op.nexts);
    kernel_.loops[index] = std::move(made);
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

  // ---------------------------------------------------------------- own arrays: opt/own_arrays.hpp makes these

  /// Of rank 1.
  void own_array(const ir::Op& op) {
    if (is_row(op.results[0])) return;
    const KernelType type = type_of(leaf_.variables[op.results[0]].type);
    const KernelOp made = type == KernelType::floats ? KernelOp::new_floats
                          : type == KernelType::ints ? KernelOp::new_ints
                                                     : KernelOp::new_booleans;
    computed(op, made, {register_of(op.operands[0])});
  }
  void own_element(const ir::Op& op) {
    const KernelType type = type_of(op.operands[0]);
    const KernelOp made = type == KernelType::floats ? KernelOp::put_float
                          : type == KernelType::ints ? KernelOp::put_int
                                                     : KernelOp::put_boolean;
    computed(op, made, registers_of(op.operands));
  }
  void each(const ir::Op& op) {
    vm::KernelEach made;
    made.count = count_of(op);
    made.point = register_of(leaf_.regions[op.regions[0]].parameters[0]);
    const auto index = static_cast<std::uint32_t>(kernel_.eaches.size());
    put(KernelOp::each, op.span).index = index;
    kernel_.eaches.emplace_back();
    made.block = block(op.regions[0]);
    kernel_.eaches[index] = made;
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
  vm::Kernel kernel_;
  vm::KernelBlockId block_ = vm::no_kernel_part;  ///< that instructions are put into
  std::vector<KernelRegister> registers_;         ///< by variable; absent: none yet
  std::map<ir::VarId, unsigned> assignments_;
  std::map<std::pair<KernelType, std::int64_t>, KernelRegister> constant_index_;
  std::vector<KernelType> constant_types_;
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
