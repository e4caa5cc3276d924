#pragma once
// An external program that runs for an app function.
#include "vm/external/processes.hpp"
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Owns a reference to the app's frame. The event loop's thread fills `result`, then injects it (publishing the
/// result).
class ProgramRun final : public Cell {
 public:
  ProgramRun(Frame& frame, const AppSite& site, std::uint32_t instruction, std::string program)
      : frame(frame), site(site), instruction(instruction), program(std::move(program)) {}
  void run(Worker& worker) override;
  /// Removes the program's output files.
  void remove_outputs();

  Frame& frame;
  const AppSite& site;
  const std::uint32_t instruction;
  const std::string program;  ///< for messages
  ProcessResult result;
};

}  // namespace raddle::vm
