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
    case ForeignKind::r: return "is a function in R";
    case ForeignKind::app_kernel: return "is an AppKernel, whose calls go by themselves";
  }
  return "";
}

/// Without its path.
Obstacle no_kernel_is(const Program& program, const Instruction& instruction) {
  if (is_of_strings(instruction.opcode)) return {.text = "works with strings"};
  switch (instruction.opcode) {
    case Opcode::run_app: return {.text = "runs a program", .name = program.apps[instruction.d].label};
    case Opcode::run_foreign: {
      const ForeignFunction& function = program.foreigns[program.apps[instruction.d].foreign];
      return {.text = text_of(function.kind), .name = function.name};
    }
    case Opcode::call_builtin: {
      const std::string& name = program.builtins[instruction.d].name;
      if (is_in_kernels(name)) return {};
      return {.text = "is no function of numbers", .name = name, .is_builtin = true};
    }
    default: return {};
  }
}

/// What kernels may have in some form, but is likely to be what keeps these instructions from being one. Without its
/// path.
Obstacle kernel_is_unlikely(const Program&, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::bag_new:
    case Opcode::bag_append:
    case Opcode::bag_row: return {.text = "works with bags"};
    case Opcode::update_new:
    case Opcode::update_get:
    case Opcode::update_incr:
    case Opcode::update_min:
    case Opcode::update_scale: return {.text = "works with updateables"};
    case Opcode::file_new:
    case Opcode::file_assign: return {.text = "works with files"};
    case Opcode::memo: return {.text = "looks for results that were kept"};
    case Opcode::attempt: return {.text = "goes on after failures"};
    case Opcode::array_row: return {.text = "works with arrays in arrays"};
    case Opcode::struct_make:
    case Opcode::struct_new: return {.text = "works with structures"};
    case Opcode::array_new:
    case Opcode::array_list:
    case Opcode::array_map:
    case Opcode::array_range: return {.text = "is a whole array"};
    default: return {};
  }
}

/// Loops in it are told of themselves.
Obstacle has_loops(const Program&, const Instruction& instruction) {
  const bool is_loop = form_of(instruction.opcode) == InstructionForm::foreach;
  return is_loop ? Obstacle{.text = "its iterations have loops of their own"} : Obstacle();
}

/// @param is_placed  the path is told
Obstacle first_in(const Program& program, BodyId body, Obstacle (*obstacle)(const Program&, const Instruction&),
                  bool is_placed) {
  Obstacle found;
  visit_instructions(program, body, [&](std::uint32_t number, const std::vector<Place>& calls) {
    found = obstacle(program, program.instructions[number]);
    if (found.empty()) return false;
    if (is_placed) {
      add_written(program, program.places[number], found.path);
      found.path.insert(found.path.end(), calls.begin(), calls.end());
    }
    return true;
  });
  return found;
}

}  // namespace

Obstacle no_kernel_in(const Program& program, BodyId body) {
  Obstacle found = first_in(program, body, no_kernel_is, true);
  if (found.empty()) found = first_in(program, body, kernel_is_unlikely, true);
  return found.empty() ? first_in(program, body, has_loops, false) : found;
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
