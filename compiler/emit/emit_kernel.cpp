#include "compiler/emit/emit_kernel.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

/// An operation of the IR for operands of the type of its first one; `if_`: there is none for this type.
struct Operator {
  OpKind kind;
  KernelOp of_ints = KernelOp::if_, of_floats = KernelOp::if_, of_booleans = KernelOp::if_;
  bool swaps = false;  ///< the operands: `gt` and `ge` are `lt` and `le` the other way round
};

constexpr KernelOp none = KernelOp::if_;
constexpr Operator operators[] = {
    {OpKind::copy, KernelOp::copy, KernelOp::copy, KernelOp::copy},
    {OpKind::not_, none, none, KernelOp::not_},
    {OpKind::neg, KernelOp::neg_int, KernelOp::neg_float},
    {OpKind::int_to_float, KernelOp::int_to_float},
    {OpKind::add, KernelOp::add_int, KernelOp::add_float},
    {OpKind::sub, KernelOp::sub_int, KernelOp::sub_float},
    {OpKind::mul, KernelOp::mul_int, KernelOp::mul_float},
    {OpKind::div, none, KernelOp::div_float},
    {OpKind::pow, none, KernelOp::pow},
    {OpKind::idiv, KernelOp::idiv},
    {OpKind::mod, KernelOp::mod},
    {OpKind::and_, none, none, KernelOp::and_},
    {OpKind::or_, none, none, KernelOp::or_},
    {OpKind::eq, KernelOp::eq_int, KernelOp::eq_float, KernelOp::eq_boolean},
    {OpKind::ne, KernelOp::ne_int, KernelOp::ne_float, KernelOp::ne_boolean},
    {OpKind::lt, KernelOp::lt_int, KernelOp::lt_float},
    {OpKind::le, KernelOp::le_int, KernelOp::le_float},
    {OpKind::gt, KernelOp::lt_int, KernelOp::lt_float, none, true},
    {OpKind::ge, KernelOp::le_int, KernelOp::le_float, none, true},
    {OpKind::mul_add, none, KernelOp::mul_add},
    {OpKind::mul_sub, none, KernelOp::mul_sub},
    {OpKind::sub_mul, none, KernelOp::sub_mul},
};

vm::Place place_of(Span span) { return {span.file, span.begin, span.end}; }

class KernelEmitter {
 public:
  KernelEmitter(const ir::Module& module, const ir::Function& leaf)
      : module_(module), leaf_(leaf), registers_(leaf.variables.size(), vm::no_kernel_part) {
    for (const ir::Region& region : leaf.regions)
      for (const ir::Op& op : region.ops)
        for (const ir::VarId result : op.results) ++assignments_[result];
  }

  vm::Kernel run() {
    kernel_.name = leaf_.name;
    kernel_.place = place_of(leaf_.span);
    for (const ir::VarId parameter : leaf_.parameters) static_cast<void>(register_of(parameter));
    kernel_.parameter_count = static_cast<std::uint32_t>(kernel_.types.size());
    static_cast<void>(block(0));
    if (is_refused_) return {};
    for (const ir::VarId output : leaf_.outputs) kernel_.outputs.push_back(register_of(output));
    insert_constants();
    return std::move(kernel_);
  }

 private:
  // ---------------------------------------------------------------- registers

  /// Constants are numbered from here on until all others are known.
  static constexpr KernelRegister first_constant = 1U << 31;

  TypeKind kind(TypeId type) const { return module_.types->kind(module_.types->base(type)); }
  KernelType type_of(TypeId type) const {
    const bool is_array = kind(type) == TypeKind::array;
    const TypeKind number = is_array ? kind(module_.types->at(module_.types->base(type)).element) : kind(type);
    const KernelType scalar = number == TypeKind::float_    ? KernelType::float_
                              : number == TypeKind::boolean ? KernelType::boolean
                                                            : KernelType::int_;
    const auto arrays = static_cast<unsigned>(is_array ? KernelType::ints : KernelType::int_);
    return static_cast<KernelType>(static_cast<unsigned>(scalar) + arrays);
  }
  KernelType type_of(ir::Operand operand) const { return type_of(ir::type_of(module_, leaf_, operand)); }
  KernelRegister make_register(KernelType type) {
    kernel_.types.push_back(type);
    return static_cast<KernelRegister>(kernel_.types.size() - 1);
  }
  KernelRegister register_of(ir::VarId variable) {
    KernelRegister& known = registers_[variable];
    if (known == vm::no_kernel_part) known = make_register(type_of(leaf_.variables[variable].type));
    return known;
  }
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
    for (vm::KernelForeignCall& call : kernel_.foreign_calls) {
      std::ranges::for_each(call.inputs, renumber);
      renumber(call.result);
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
    switch (op.kind) {
      case OpKind::array_get: return element(op);
      case OpKind::call: return module_.functions[op.callee].kind == ir::FunctionKind::foreign ? foreign(op) : call(op);
      case OpKind::call_builtin: return library(op);
      case OpKind::if_: return branch(op);
      case OpKind::switch_: return choose(op, 0);
      case OpKind::loop: return loop(op);
      default: return compute(op);
    }
  }

  void compute(const ir::Op& op) {
    const auto* const found = std::ranges::find(operators, op.kind, &Operator::kind);
    if (found == std::end(operators)) return refuse();
    const KernelType type = type_of(op.operands[0]);
    const KernelOp made = type == KernelType::float_ ? found->of_floats
                          : type == KernelType::int_ ? found->of_ints
                                                     : found->of_booleans;
    if (made == none || vm::is_array(type)) return refuse();
    std::vector<KernelRegister> inputs = registers_of(op.operands);
    if (found->swaps) std::swap(inputs[0], inputs[1]);
    computed(op, made, inputs);
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
    std::vector<KernelType> types;
    std::vector<KernelRegister> inputs;
    for (const ir::Operand operand : op.operands) {
      if (kind(ir::type_of(module_, leaf_, operand)) == TypeKind::string) continue;  // told if an assertion fails
      types.push_back(type_of(operand));
      inputs.push_back(register_of(operand));
    }
    const KernelOp made = vm::operation_of_function(stdlib::builtins()[op.callee].name, types);
    if (made == none) return refuse();
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

  // ---------------------------------------------------------------- calls

  void call(const ir::Op& op) {
    if (module_.functions[op.callee].kind != ir::FunctionKind::leaf) return refuse();
    vm::KernelCall made{op.callee, registers_of(op.operands), registers_of(op.results)};
    put(KernelOp::call, op.span).index = static_cast<std::uint32_t>(kernel_.calls.size());
    kernel_.calls.push_back(std::move(made));
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
    kernels.push_back(function.kind == ir::FunctionKind::leaf ? emit_kernel(module, function) : vm::Kernel{});
  return kernels;
}

}  // namespace raddle::emit
