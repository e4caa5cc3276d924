#include "compiler/tool/run/program_teller.hpp"

#include <fmt/format.h>

#include "compiler/tool/process/signals.hpp"
#include "vm/external/shell_command.hpp"

namespace raddle::tool {

std::uint64_t ProgramTeller::begun(const std::vector<std::string>& inputs, const std::vector<std::string>& words,
                                   bool is_first) {
  return next_ != nullptr ? next_->begun(inputs, words, is_first) : begun_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void ProgramTeller::reads(const vm::NamedFile& file) {
  if (next_ != nullptr) next_->reads(file);
}

void ProgramTeller::started(const vm::ProcessRequest& request) {
  tell_at_once(fmt::format("+ {}\n", vm::shell_command(request, vm::whole_command)));
  if (next_ != nullptr) next_->started(request);
}

void ProgramTeller::ended(const vm::EndedProgram& program) {
  tell_at_once(
      fmt::format("- {}  # {}{}, {:.2f} s\n", vm::shell_command(program.request, vm::whole_command),
                  program.fault.empty() ? fmt::format("exit code {}", program.result.exit_code) : program.fault,
                  program.is_last ? "" : ", is tried again", program.result.duration_s));
  if (next_ != nullptr) next_->ended(program);
}

void ProgramTeller::ended(const vm::EndedMemoCall& call) {
  if (next_ != nullptr) next_->ended(call);
}

}  // namespace raddle::tool
