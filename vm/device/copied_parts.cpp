#include "vm/device/copied_parts.hpp"

#include <utility>

namespace raddle::vm {

namespace {

/// Each point gives the element of the second capture, an array, whose number is the first one and the point.
bool copies_part(const Kernel& kernel) {
  constexpr KernelRegister point = 0, offset = 1, array = 2;
  if (!kernel.exists() || kernel.parameter_count != 3 || kernel.outputs.size() != 1 ||
      kernel.blocks.front().size() != 3)
    return false;
  const KernelInstruction &sum = kernel.blocks.front()[0], &get = kernel.blocks.front()[1],
                          &copy = kernel.blocks.front()[2];
  const auto adds = [&](KernelRegister left, KernelRegister right) {
    return sum.inputs[0] == left && sum.inputs[1] == right;
  };
  return sum.op == KernelOp::index_add && (adds(offset, point) || adds(point, offset)) && is_get(get.op) &&
         get.inputs[0] == array && get.inputs[1] == sum.result && copy.op == KernelOp::copy &&
         copy.inputs[0] == get.result && kernel.outputs.front() == copy.result;
}

bool is_constant(const Program& program, Operand operand, std::int64_t number) {
  return operand.is_constant() && program.constants[operand.index()].kind() == ValueKind::int_ &&
         program.constants[operand.index()].as_int() == number;
}

using Variable = std::pair<BodyId, std::uint32_t>;  ///< in which body, the operand's bits
using Copies = std::map<Variable, CopiedParts::Part>;

/// The loop is all that writes the array if the strand that runs it has made it for one writer.
bool is_made_before(const Program& program, const Strand& strand, std::uint32_t loop, Operand array) {
  for (std::uint32_t i = strand.first_instruction; i < loop; ++i) {
    const Instruction& in = program.instructions[i];
    if (in.opcode == Opcode::array_new && in.a == array) return in.d == 1;
  }
  return false;
}

void add_copy(const Program& program, const Strand& strand, std::uint32_t number, Copies& copies) {
  const Instruction& in = program.instructions[number];
  if (in.opcode != Opcode::foreach_range || !is_constant(program, in.a, 0) || !is_constant(program, in.c, 1)) return;
  const ForeachSite& site = program.foreaches[in.d];
  const IndexLaunch& launch = site.launch;
  if (!site.is_launch() || launch.is_projected() || !launch.reads.empty() || launch.captures.size() != 2 ||
      launch.sinks.size() != 1 || launch.sinks.front().kind != LaunchSink::Kind::element ||
      launch.captures[0].value != no_id || launch.captures[1].value != no_id ||
      !copies_part(program.kernels[launch.leaf]) ||
      !is_made_before(program, strand, number, launch.sinks.front().target))
    return;
  copies[{strand.body, launch.sinks.front().target.bits()}] = {strand.body, launch.captures[1].operand,
                                                               launch.captures[0].operand};
}

}  // namespace

CopiedParts::CopiedParts(const Program& program) {
  Copies copies;
  const auto visit = [&program](const auto& look) {
    for (const Strand& strand : program.strands)
      for (std::uint32_t i = 0; i < strand.instruction_count; ++i) look(strand, strand.first_instruction + i);
  };
  visit([&](const Strand& strand, std::uint32_t number) { add_copy(program, strand, number, copies); });
  if (copies.empty()) return;
  visit([&](const Strand& strand, std::uint32_t number) {
    const Instruction& in = program.instructions[number];
    if (form_of(in.opcode) != InstructionForm::call) return;
    const CallSite& site = program.calls[in.d];
    if (program.functions[site.function].foreign == no_id) return;
    for (std::size_t i = 0; i < site.arguments.size(); ++i) {
      const auto found = copies.find({strand.body, site.arguments[i].bits()});
      if (found == copies.end()) continue;
      std::vector<std::optional<Part>>& parts = parts_[number];
      parts.resize(site.arguments.size());
      parts[i] = found->second;
    }
  });
}

std::optional<CopiedParts::Part> CopiedParts::part(std::uint32_t call, std::size_t argument) const {
  const auto found = parts_.find(call);
  return found == parts_.end() ? std::nullopt : found->second[argument];
}

}  // namespace raddle::vm
