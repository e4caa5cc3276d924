#include "vm/program/program.hpp"

#include <algorithm>
#include <span>

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

bool IndexLaunch::is_contiguous(std::int64_t step) const {
  const auto is_same = [](const LaunchKey& key) { return key.is_affine() && key.stride == 0; };
  const auto follows = [step](const LaunchKey& key) { return key.is_affine() && key.stride == 1 && step == 1; };
  const auto is_fine = [&](std::uint32_t first, std::uint32_t count) {
    const std::span own(keys.data() + first, count);
    return std::ranges::all_of(own.first(count - 1), is_same) && follows(own.back());
  };
  return is_projected() &&
         std::ranges::all_of(reads, [&](const LaunchRead& read) { return is_fine(read.first_key, read.key_count); }) &&
         std::ranges::all_of(sinks, [&](const LaunchSink& sink) {
           return sink.is_fixed() && (sink.key_count == 0 ? step == 1 : is_fine(sink.first_key, sink.key_count));
         });
}

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
