#pragma once
// Runs a script at the points of a sweep, in this process: each run by a thread of its own, on its share of the cores.
#include <functional>
#include <string>
#include <vector>

#include "compiler/tool/run/run_threads.hpp"
#include "compiler/tool/sweep/script_subject.hpp"
#include "compiler/tool/sweep/collector.hpp"
#include "compiler/tool/sweep/input_files.hpp"
#include "compiler/tool/space/point_columns.hpp"
#include "compiler/tool/sweep/runner.hpp"
#include "vm/device/device_log.hpp"
#include "vm/interpret/run.hpp"
#include "vm/calls/written_files.hpp"

namespace raddle::tool {

class ScriptRunner final : public sweep::PointRunner, public sweep::BlockRunner {
 public:
  /// Open files that a run of a script with programs needs: an event loop, the terminal; of each program the ends of
  /// its streams.
  static constexpr std::uint64_t files_of_job = 5, files_of_program = 5;
  /// @param settings    what all runs have in common
  /// @param collectors  of the script's output, besides its results
  /// @param jobs        runs at once, at most   @param timeout_s  of a point; 0: none
  /// @throws std::system_error if not even a first thread can be started
  ScriptRunner(ScriptSubject& subject, vm::RunOptions settings, const sweep::Space& space,
               const sweep::PointColumns& points, const std::vector<sweep::Collector>& collectors,
               sweep::InputFiles& inputs, unsigned jobs, double timeout_s);
  void begin_run(vm::Recorder& recorder) override { recorder_ = &recorder; }
  void run(const sweep::Point& point, std::uint32_t attempt, std::function<void(sweep::Attempt)> done) override;
  void run(std::vector<std::uint64_t> numbers, std::function<void(sweep::BlockResult)> done) override;
  void end_all() override { threads_.end_all(); }
  bool has_lost_runs() override { return threads_.has_lost(); }
  std::vector<vm::DeviceRow> device_rows() override;
  /// None where points have a time limit each, files are declared that they read, or what they print is looked at.
  sweep::BlockRunner* blocks() override {
    return subject_.runs_in_blocks() && collectors_.empty() && timeout_s_ == 0 && !inputs_.has_declared() ? this
                                                                                                          : nullptr;
  }

 private:
  using Active = RunThreads::Active;
  vm::RunOptions options_for(Active& active) const;

  sweep::Attempt run_point(const sweep::Point& point, std::uint32_t attempt_number, Active& active);
  void take_results(const sweep::Point& point, const vm::RunResult& result, const std::string& printed,
                    const sweep::FilesBefore& before, sweep::Attempt& attempt) const;
  sweep::BlockResult run_block(const std::vector<std::uint64_t>& numbers, Active& active);
  vm::Value column_of(std::size_t parameter, const std::vector<std::uint64_t>& numbers) const;
  /// What a block's arrays hold.
  struct Computed {
    std::vector<std::uint64_t> numbers;  ///< of the points that have all of their results, and nothing has failed
    std::vector<std::vector<std::int64_t>> columns;
    std::vector<std::uint64_t> others;  ///< those in which something has failed
  };
  vm::RunResult compute(const std::vector<std::uint64_t>& numbers, Active& active) const;
  static Computed results_of(const std::vector<std::uint64_t>& numbers, const vm::RunResult& result);
  void fill(sweep::BlockResult& block, Computed computed) const;

  ScriptSubject& subject_;
  const vm::RunOptions settings_;
  const sweep::Space& space_;
  const sweep::PointColumns& points_;
  const std::vector<sweep::Collector>& collectors_;
  sweep::InputFiles& inputs_;
  const double timeout_s_;
  vm::PointFiles point_files_;
  mutable vm::DeviceLog device_log_;  ///< of all points; has a lock of its own
  vm::Recorder* recorder_ = nullptr;  ///< set before points run
  RunThreads threads_;                ///< last: its threads, which use the rest, end first
};

}  // namespace raddle::tool
