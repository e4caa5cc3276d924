#pragma once
// The record of `raddle run`: a row for each program and each call of a `@memo` function.
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/record/recorder.hpp"

namespace raddle::driver {

/// A row's parameters are `task`, the function's name, and `work`, the program's command line or the call with its
/// inputs. Its results are `at`, the place of the call, `outputs`, files with what names their content, of a program;
/// `source` (`record` or `run`), `result` and `code` of a `@memo` function's call.
///
/// Begins with the first of them: a run that has none leaves nothing behind. The file is made while that runs.
class TaskLog final : public vm::TaskListener {
 public:
  /// @param sources  outlives it   @param run  kind, command, start
  TaskLog(const SourceMap& sources, vm::RunRow run);
  ~TaskLog() override;
  std::uint64_t begun(const std::vector<std::string>& inputs) override;
  void ended(const vm::EndedProgram& program) override;
  void ended(const vm::EndedMemoCall& call) override;
  /// No worker runs any more. @return why the run is not recorded, or not all of it
  std::optional<std::string> end(vm::RunState state);

 private:
  void begin();  // with mutex_ held
  void open(const vm::RunRow& run);
  std::vector<std::string> versions_of(const vm::EndedProgram& program);
  void add(vm::PointRow row, bool is_taken = false);
  std::string text_of(vm::Place place) const;

  const SourceMap& sources_;
  vm::KeptFiles files_;
  std::mutex mutex_;  // guards all below
  vm::RunRow run_;
  std::uint64_t begun_ = 0;
  bool has_begun_ = false;
  std::vector<vm::PointRow> early_;                                       ///< added before the record was there
  std::unique_ptr<vm::Recorder> recorder_;                                ///< null: not begun, or it can not be
  std::unordered_map<std::uint64_t, std::vector<std::string>> versions_;  ///< of inputs, by call
  std::optional<std::string> problem_;
  std::future<void> opening_;  ///< last: it ends first
};

}  // namespace raddle::driver
