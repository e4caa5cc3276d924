#pragma once
// The record of `raddle run`: the run, with a row for each of its tasks.
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/run/task_rows.hpp"
#include "vm/record/recorder.hpp"

namespace raddle::tool {

/// Begins with the first task: a run that has none leaves nothing behind. The file is made while that runs.
class TaskLog final : public TaskRows {
 public:
  /// @param sources  outlives it   @param run  kind, command, start
  TaskLog(const SourceMap& sources, vm::RunRow run);
  ~TaskLog() override;
  /// No worker runs any more. @return why the run is not recorded, or not all of it
  std::optional<std::string> end(vm::RunState state, const std::vector<vm::DeviceRow>& devices = {});

 private:
  void begin() override;
  void add(vm::PointRow row, bool is_taken) override;
  void open(const vm::RunRow& run);

  std::mutex mutex_;  // guards all below
  vm::RunRow run_;
  std::vector<vm::PointRow> early_;         ///< added before the record was there
  std::unique_ptr<vm::Recorder> recorder_;  ///< null: not begun, or it can not be
  std::optional<std::string> problem_;
  std::future<void> opening_;  ///< last: it ends first
};

}  // namespace raddle::tool
