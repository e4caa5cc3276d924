#pragma once
// Runs an external program at each point, without a shell.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/tool/sweep/collector.hpp"
#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/sweep/input_files.hpp"
#include "compiler/tool/sweep/runner.hpp"
#include "vm/external/processes.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::sweep {

/// Why the program of a command can not be started at any point, as it is not there or can not be run, and what was
/// meant perhaps. @return "" if it can, perhaps, or if its name is another one at each point
std::string fault_of_program(const CommandTemplate& command);

class ProgramRunner final : public PointRunner {
 public:
  /// Open files that it needs for each of the points run at once: both outputs.
  static constexpr std::uint64_t files_of_job = 2;
  /// @param jobs  points that are run at once, at most   @param timeout_s  0: none
  /// @throws std::system_error if there can not be so many open files, or a thread
  ProgramRunner(const CommandTemplate& command, const std::vector<Collector>& collectors, InputFiles& inputs,
                unsigned jobs, double timeout_s);
  ~ProgramRunner() override;
  void begin_run(vm::Recorder& recorder) override { run_ = recorder.id(); }
  void run(const Point& point, std::uint32_t attempt, std::function<void(Attempt)> done) override;
  void end_all() override { processes_.end_all(); }
  vm::ProgramsNow programs() override { return processes_.now(); }

 private:
  /// Where a program writes to: files without names, used by one program after the other.
  struct Outputs;
  Outputs& take_outputs();
  void give_back(Outputs& outputs, bool is_still_open) noexcept;
  /// A point's own folder, empty, if the command has one. @return why there is none
  std::string make_folder(const Point& point, const RunPlace& place) const;
  Attempt attempt_of(const Point& point, const RunPlace& place, const vm::ProcessResult& result, Outputs& outputs,
                     const FilesBefore& before) const;

  const CommandTemplate& command_;
  const std::vector<Collector>& collectors_;
  InputFiles& inputs_;
  const double timeout_s_;
  std::string run_;
  std::mutex mutex_;  // guards idle_
  std::vector<Outputs*> idle_;
  std::vector<std::unique_ptr<Outputs>> outputs_;  // one for each of the points run at once
  vm::Processes processes_;                        // last: its threads, which use the rest, end first
};

}  // namespace raddle::sweep
