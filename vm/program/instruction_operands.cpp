#include "vm/program/instruction_operands.hpp"

namespace raddle::vm {

namespace {

template <typename Operands>
void visit_all(const Operands& operands, const OperandVisitor& visit) {
  for (const Operand operand : operands) {
    if (!operand.is_absent()) visit(operand);
  }
}

using Some = std::initializer_list<Operand>;

}  // namespace

void visit_inputs(const Program& program, const Instruction& in, const OperandVisitor& visit) {
  switch (form_of(in.opcode)) {
    case InstructionForm::make:
    case InstructionForm::attempt: return;
    case InstructionForm::unary:
    case InstructionForm::hold:
    case InstructionForm::loop_test: return visit_all(Some{in.b}, visit);
    case InstructionForm::binary:
    case InstructionForm::row: return visit_all(Some{in.b, in.c}, visit);
    case InstructionForm::ternary: return visit_all(Some{in.b, in.c, Operand::from_bits(in.d)}, visit);
    case InstructionForm::list:
      for (std::uint32_t i = 0; i < in.d; ++i) visit(program.lists[in.b.bits() + i]);
      return;
    case InstructionForm::insert:
    case InstructionForm::foreach: return visit_all(Some{in.a, in.b, in.c}, visit);
    case InstructionForm::append:
    case InstructionForm::store: return visit_all(Some{in.a, in.c}, visit);
    case InstructionForm::call: return visit_all(program.calls[in.d].arguments, visit);
    case InstructionForm::builtin: return visit_all(program.builtins[in.d].arguments, visit);
    case InstructionForm::app: return visit_all(program.apps[in.d].words, visit);
    case InstructionForm::branch: visit_all(Some{in.b}, visit); return visit_all(program.branches[in.d].awaited, visit);
    case InstructionForm::loop: return visit_all(program.loops[in.d].initial, visit);
    case InstructionForm::memo: {
      const MemoSite& site = program.memos[in.d];
      visit_all(site.files, visit);
      return visit_all(in.opcode == Opcode::memo ? site.inputs : site.outputs, visit);
    }
  }
}

void visit_outputs(const Program& program, const Instruction& in, const OperandVisitor& visit) {
  switch (form_of(in.opcode)) {
    case InstructionForm::make:
    case InstructionForm::unary:
    case InstructionForm::binary:
    case InstructionForm::ternary:
    case InstructionForm::list:
    case InstructionForm::row: return visit_all(Some{in.a}, visit);
    case InstructionForm::insert:
    case InstructionForm::append:
    case InstructionForm::hold:
    case InstructionForm::store:
    case InstructionForm::loop_test: return;
    case InstructionForm::call: return visit_all(program.calls[in.d].results, visit);
    case InstructionForm::builtin: return visit_all(program.builtins[in.d].results, visit);
    case InstructionForm::app: return visit_all(program.apps[in.d].outputs, visit);
    case InstructionForm::branch: return visit_all(program.branches[in.d].assigned, visit);
    case InstructionForm::foreach: return visit_all(program.foreaches[in.d].assigned, visit);
    case InstructionForm::attempt:
      visit_all(Some{in.a}, visit);
      return visit_all(program.attempts[in.d].assigned, visit);
    case InstructionForm::loop:
      visit_all(program.loops[in.d].results, visit);
      return visit_all(program.loops[in.d].assigned, visit);
    case InstructionForm::memo:
      if (in.opcode == Opcode::memo) visit_all(program.memos[in.d].outputs, visit);
      return;
  }
}

void visit_written(const Program& program, const Instruction& in, const OperandVisitor& visit) {
  switch (form_of(in.opcode)) {
    case InstructionForm::insert:
    case InstructionForm::append:
    case InstructionForm::hold:
    case InstructionForm::row: return visit(Operand::from_bits(in.d));
    case InstructionForm::branch: return visit_all(program.branches[in.d].written, visit);
    case InstructionForm::foreach: return visit_all(program.foreaches[in.d].written, visit);
    case InstructionForm::loop: return visit_all(program.loops[in.d].written, visit);
    case InstructionForm::attempt: return visit_all(program.attempts[in.d].written, visit);
    case InstructionForm::loop_test:
      for (const WriterShare& share : program.loops[in.d].step.shares) visit(share.array);
      return;
    case InstructionForm::make:
    case InstructionForm::unary:
    case InstructionForm::binary:
    case InstructionForm::ternary:
    case InstructionForm::list:
    case InstructionForm::store:
    case InstructionForm::call:
    case InstructionForm::builtin:
    case InstructionForm::app:
    case InstructionForm::memo: return;
  }
}

}  // namespace raddle::vm
