#include "vm/program/program.hpp"

namespace raddle::vm {

namespace {

struct OpcodeInfo {
  const char* text;
  InstructionForm form;
};

constexpr OpcodeInfo opcode_table[] = {
#define RADDLE_OPCODE(name, form) {#name, InstructionForm::form},
#include "vm/program/opcodes.def"
#undef RADDLE_OPCODE
};

}  // namespace

InstructionForm form_of(Opcode opcode) { return opcode_table[static_cast<std::size_t>(opcode)].form; }

const char* text_of(Opcode opcode) { return opcode_table[static_cast<std::size_t>(opcode)].text; }

const char* text_of(AwaitMode mode) {
  switch (mode) {
    case AwaitMode::set: return "set";
    case AwaitMode::named: return "named";
    case AwaitMode::closed: return "closed";
    case AwaitMode::deep: return "deep";
  }
  return "";
}

const VariableInfo* find_variable(const Program& program, BodyId body, Operand operand) {
  if (operand.is_absent() || operand.is_constant()) return nullptr;
  for (std::uint32_t level = operand.level(); level > 0; --level) body = program.bodies[body].parent;
  return &program.bodies[body].variables[operand.index()];
}

}  // namespace raddle::vm
