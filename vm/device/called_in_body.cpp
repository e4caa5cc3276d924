#include "vm/device/called_in_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

namespace raddle::vm {

namespace {

/// Library functions that kernels have, with inputs of some types.
bool is_in_kernels(std::string_view name) {
  static constexpr std::array names = {
#define RADDLE_KERNEL_FUNCTION(library_function, name) std::string_view(library_function),
#define RADDLE_KERNEL_REDUCTION(library_function, name) std::string_view(library_function),
#include "vm/kernel/kernel_ops.def"
  };
  return std::ranges::find(names, name) != names.end();
}

bool is_of_strings(Opcode opcode) {
  return (opcode >= Opcode::eq_string && opcode <= Opcode::ge_string) || opcode == Opcode::concat ||
         opcode == Opcode::path_join;
}

/// Bodies that are found when they are first met: of the loops in a body, and of the functions that it calls.
class Bodies {
 public:
  explicit Bodies(BodyId first) { add(first); }
  void add(BodyId body) {
    if (body != no_id && met_.insert(body).second) waiting_.push_back(body);
  }
  /// @return no_id: all were taken
  BodyId take() {
    if (waiting_.empty()) return no_id;
    const BodyId body = waiting_.front();
    waiting_.pop_front();
    return body;
  }

 private:
  std::set<BodyId> met_;
  std::deque<BodyId> waiting_;
};

/// Calls `visit` with each instruction, until it returns true, and then with those of all that is in what it calls.
template <typename Visit>
void visit_instructions(const Program& program, BodyId first, const Visit& visit) {
  Bodies bodies(first);
  for (BodyId body = bodies.take(); body != no_id; body = bodies.take())
    for (const Strand& strand : program.strands) {
      if (strand.body != body) continue;
      for (std::uint32_t i = 0; i < strand.instruction_count; ++i) {
        const Instruction& instruction = program.instructions[strand.first_instruction + i];
        if (visit(instruction)) return;
        switch (form_of(instruction.opcode)) {
          case InstructionForm::call: bodies.add(program.functions[program.calls[instruction.d].function].body); break;
          case InstructionForm::foreach: bodies.add(program.foreaches[instruction.d].body); break;
          case InstructionForm::loop: bodies.add(program.loops[instruction.d].body); break;
          case InstructionForm::attempt: bodies.add(program.attempts[instruction.d].body); break;
          default: break;
        }
      }
    }
}

std::string text_of_foreign(const ForeignFunction& function) {
  switch (function.kind) {
    case ForeignKind::library:
    case ForeignKind::isolated_library: return fmt::format("`{}` is a function in C", function.name);
    case ForeignKind::tcl_template:
    case ForeignKind::tcl_procedure: return fmt::format("`{}` is a function in Tcl", function.name);
    case ForeignKind::python: return fmt::format("`{}` is a function in Python", function.name);
    case ForeignKind::app_kernel:
      return fmt::format("`{}` is an AppKernel, whose calls go by themselves", function.name);
  }
  return "";
}

std::string no_kernel_is(const Program& program, const Instruction& instruction) {
  if (is_of_strings(instruction.opcode)) return "strings are no numbers";
  switch (instruction.opcode) {
    case Opcode::run_app: return fmt::format("`{}` runs a program", program.apps[instruction.d].label);
    case Opcode::run_foreign: return text_of_foreign(program.foreigns[program.apps[instruction.d].foreign]);
    case Opcode::call_builtin: {
      const std::string& name = program.builtins[instruction.d].name;
      return is_in_kernels(name) ? "" : fmt::format("`{}` is no function of numbers", name);
    }
    default: return "";
  }
}

}  // namespace

std::set<FunctionId> functions_called_in(const Program& program, BodyId body) {
  std::set<FunctionId> all;
  visit_instructions(program, body, [&](const Instruction& instruction) {
    if (form_of(instruction.opcode) == InstructionForm::call) all.insert(program.calls[instruction.d].function);
    return false;
  });
  return all;
}

std::string no_kernel_in(const Program& program, BodyId body) {
  std::string found;
  visit_instructions(program, body, [&](const Instruction& instruction) {
    found = no_kernel_is(program, instruction);
    return !found.empty();
  });
  return found;
}

}  // namespace raddle::vm
