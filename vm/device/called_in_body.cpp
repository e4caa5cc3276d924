#include "vm/device/called_in_body.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/program/written_place.hpp"

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
  struct Met {
    BodyId body = no_id;
    std::vector<Place> calls;  ///< that lead to it, innermost first
  };
  explicit Bodies(BodyId first) { add({.body = first, .calls = {}}); }
  void add(Met found) {
    if (found.body != no_id && met_.insert(found.body).second) waiting_.push_back(std::move(found));
  }
  /// @return without a body: all were taken
  Met take() {
    if (waiting_.empty()) return {};
    Met next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }

 private:
  std::set<BodyId> met_;
  std::deque<Met> waiting_;
};

/// Calls `visit` with the number of each instruction and the calls that lead there, until it returns true.
template <typename Visit>
void visit_instructions(const Program& program, BodyId first, const Visit& visit) {
  Bodies bodies(first);
  for (Bodies::Met met = bodies.take(); met.body != no_id; met = bodies.take())
    for (const Strand& strand : program.strands) {
      if (strand.body != met.body) continue;
      for (std::uint32_t i = strand.first_instruction; i < strand.first_instruction + strand.instruction_count; ++i) {
        const Instruction& instruction = program.instructions[i];
        if (visit(i, met.calls)) return;
        switch (form_of(instruction.opcode)) {
          case InstructionForm::call: {
            std::vector<Place> calls;
            add_written(program, program.places[i], calls);
            calls.insert(calls.end(), met.calls.begin(), met.calls.end());
            bodies.add({program.functions[program.calls[instruction.d].function].body, std::move(calls)});
            break;
          }
          case InstructionForm::foreach: bodies.add({program.foreaches[instruction.d].body, met.calls}); break;
          case InstructionForm::loop: bodies.add({program.loops[instruction.d].body, met.calls}); break;
          case InstructionForm::attempt: bodies.add({program.attempts[instruction.d].body, met.calls}); break;
          default: break;
        }
      }
    }
}

const char* text_of(ForeignKind kind) {
  switch (kind) {
    case ForeignKind::library:
    case ForeignKind::isolated_library: return "is a function in C";
    case ForeignKind::tcl_template:
    case ForeignKind::tcl_procedure: return "is a function in Tcl";
    case ForeignKind::python: return "is a function in Python";
    case ForeignKind::app_kernel: return "is an AppKernel, whose calls go by themselves";
  }
  return "";
}

/// Without its path.
Obstacle no_kernel_is(const Program& program, const Instruction& instruction) {
  if (is_of_strings(instruction.opcode)) return {.text = "strings are no numbers"};
  switch (instruction.opcode) {
    case Opcode::run_app: return {.text = "runs a program", .name = program.apps[instruction.d].label};
    case Opcode::run_foreign: {
      const ForeignFunction& function = program.foreigns[program.apps[instruction.d].foreign];
      return {.text = text_of(function.kind), .name = function.name};
    }
    case Opcode::call_builtin: {
      const std::string& name = program.builtins[instruction.d].name;
      if (is_in_kernels(name)) return {};
      return {.text = "is no function of numbers", .name = name};
    }
    default: return {};
  }
}

}  // namespace

Obstacle no_kernel_in(const Program& program, BodyId body) {
  Obstacle found;
  visit_instructions(program, body, [&](std::uint32_t number, const std::vector<Place>& calls) {
    found = no_kernel_is(program, program.instructions[number]);
    if (found.empty()) return false;
    add_written(program, program.places[number], found.path);
    found.path.insert(found.path.end(), calls.begin(), calls.end());
    return true;
  });
  return found;
}

bool loops_by_itself(const Program& program, FunctionId function) {
  bool does_loop = false;
  for (const Strand& strand : program.strands) {
    if (program.bodies[strand.body].function != function) continue;
    for (std::uint32_t i = strand.first_instruction; i < strand.first_instruction + strand.instruction_count; ++i) {
      const Instruction& instruction = program.instructions[i];
      const InstructionForm form = form_of(instruction.opcode);
      if (form == InstructionForm::foreach) return false;
      does_loop = does_loop || form == InstructionForm::loop ||
                  (form == InstructionForm::call && program.calls[instruction.d].function == function);
    }
  }
  return does_loop;
}

}  // namespace raddle::vm
