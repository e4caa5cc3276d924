// Arrays that a kernel has in memory of its own: flatten/flat_bodies.hpp makes them. Note [own arrays] in
// vm/kernel/kernel.hpp.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/emit/kernel_emitter.hpp"
#include "stdlib/own_functions.hpp"

namespace raddle::emit {

using ir::OpKind;
using vm::KernelInstruction;
using vm::KernelOp;
using vm::KernelRegister;
using vm::KernelType;

void KernelEmitter::own_array(const ir::Op& op) {
  const ir::VarId array = op.results[0];
  if (is_row(array)) return;
  if (!is_hoisted_.contains(array)) make_arrays(op, {register_of(array)});
  if (op.is_tracked) there_.at(array).begin(register_of(op.operands[0]), op.span);
}

void KernelEmitter::make_arrays(const ir::Op& op, const std::vector<KernelRegister>& arrays) {
  make_arrays(arrays, register_of(op.operands[0]), op.span);
  if (!op.is_tracked) return;
  there_.emplace(op.results[0], Tracker(*this, op.fill_order)).first->second.make(register_of(op.operands[0]), op.span);
}

void KernelEmitter::make_arrays(const std::vector<KernelRegister>& arrays, KernelRegister count, Span span) {
  const KernelOp made = vm::new_of(element_of(kernel_.types[arrays[0]]));
  for (const KernelRegister array : arrays) put_array(made, array, count, span);
}

void KernelEmitter::own_function(const ir::Op& op, const stdlib::OwnFunction& function) {
  vm::KernelForeignCall made{.library = "",
                             .symbol = std::string(function.symbol),
                             .inputs = {},
                             .result = make_register(KernelType::boolean)};
  for (std::size_t i = 0; i < function.input_count; ++i) made.inputs.push_back(word_or_register(op.operands[i]));
  std::vector<KernelRegister> outputs;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const KernelType type = type_of(leaf_.variables[op.results[i]].type);
    if (is_hoisted_.contains(op.results[i])) {
      outputs.push_back(register_of(op.results[i]));
    } else {
      outputs.push_back(vm::is_array(type) ? register_of(op.results[i]) : make_register(KernelType::floats));
      make_arrays({outputs.back()}, register_of(op.operands[function.input_count + i]), op.span);
    }
  }
  made.inputs.insert(made.inputs.end(), outputs.begin(), outputs.end());
  const KernelRegister is_well = made.result;
  put(KernelOp::foreign, op.span).index = static_cast<std::uint32_t>(kernel_.foreign_calls.size());
  kernel_.foreign_calls.push_back(std::move(made));
  put(KernelOp::assert_true, {is_well}, op.span);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    if (!vm::is_array(type_of(leaf_.variables[op.results[i]].type)))
      computed_of(op.results[i], KernelOp::get_float, {outputs[i], constant(KernelType::int_, 0)}, op.span);
}

void KernelEmitter::computed_of(ir::VarId result, KernelOp made, std::initializer_list<KernelRegister> inputs,
                                Span span) {
  const KernelRegister to = register_of(result);
  KernelInstruction& instruction = put(made, span);
  instruction.result = to;
  std::ranges::copy(inputs, instruction.inputs.begin());
}

KernelRegister KernelEmitter::word_or_register(ir::Operand operand) {
  const auto* const text = operand.is_constant ? std::get_if<std::string>(&module_.constants[operand.index]) : nullptr;
  return text ? constant(KernelType::int_, stdlib::word_number(*text)) : register_of(operand);
}

std::vector<std::pair<ir::VarId, ir::Operand>> KernelEmitter::arrays_of(const ir::Op& op) {
  if (op.kind == OpKind::array_new && !reduced_loops_.of(op)) return {{op.results[0], op.operands[0]}};
  std::vector<std::pair<ir::VarId, ir::Operand>> arrays;
  if (const auto* const own = op.kind == OpKind::call_builtin ? stdlib::find_own_function(op.callee) : nullptr)
    for (std::size_t i = 0; i < op.results.size(); ++i)
      if (vm::is_array(type_of(leaf_.variables[op.results[i]].type)))
        arrays.emplace_back(op.results[i], op.operands[own->input_count + i]);
  return arrays;
}

void KernelEmitter::hoist_arrays(const ir::Op& loop, const ir::Op& outermost) {
  for (const ir::RegionId region : loop.regions) hoist_arrays_in(region, loop, outermost);
}

std::size_t KernelEmitter::array_count(const ir::Op& loop, ir::VarId array) {
  if (std::ranges::find(loop.nexts, ir::Operand::variable(array)) == loop.nexts.end()) return 1;
  const auto is_array = [&](ir::VarId id) { return vm::is_array(type_of(leaf_.variables[id].type)); };
  const auto variables = std::ranges::count_if(leaf_.regions[loop.regions[0]].parameters, is_array);
  return static_cast<std::size_t>(variables) + 1;
}

void KernelEmitter::hoist_arrays_in(ir::RegionId region, const ir::Op& loop, const ir::Op& outermost) {
  for (const ir::Op& op : leaf_.regions[region].ops) {
    for (const auto& [array, size] : arrays_of(op)) {
      if (is_in(outermost, size)) return refuse();
      Turn turn;
      const std::size_t count = array_count(loop, array);
      for (std::size_t i = 0; i < count; ++i) {
        const KernelType type = type_of(leaf_.variables[array].type);
        turn.variables.push_back(i == 0 ? register_of(array) : make_register(type));
        turn.arrays.push_back(count == 1 ? turn.variables[0] : make_register(type));
      }
      if (op.kind == OpKind::array_new)
        make_arrays(op, turn.arrays);
      else
        make_arrays(turn.arrays, register_of(size), op.span);
      if (count > 1) turns_[&loop].push_back(std::move(turn));
      is_hoisted_.insert(array);
    }
    if (op.kind == OpKind::loop) {
      hoist_arrays(op, outermost);
    } else {
      for (const ir::RegionId nested : op.regions) hoist_arrays_in(nested, loop, outermost);
    }
  }
}

bool KernelEmitter::is_in(const ir::Op& loop, ir::Operand operand) const {
  if (operand.is_constant) return false;
  ir::RegionId at = leaf_.variables[operand.index].region;
  while (at != ir::none && at != loop.regions[0]) at = leaf_.regions[at].parent;
  return at != ir::none;
}

void KernelEmitter::own_element(const ir::Op& op) {
  const KernelOp made = vm::put_of(element_of(type_of(op.operands[0])));
  if (op.is_tracked) there_.at(op.operands[0].index).insert(register_of(op.operands[1]), op.span);
  computed(op, made, registers_of(op.operands));
}

void KernelEmitter::each(const ir::Op& op) {
  const ir::Region& body = leaf_.regions[op.regions[0]];
  put_each(register_of(body.parameters[0]), count_of(op), op.span, [&] { operations(op.regions[0]); });
}

}  // namespace raddle::emit
