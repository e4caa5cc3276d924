#include "compiler/tool/run/task_log.hpp"

#include <exception>
#include <utility>

#include "vm/value/unix_time.hpp"

namespace raddle::tool {

TaskLog::TaskLog(const SourceMap& sources, vm::RunRow run) : TaskRows(sources), run_(std::move(run)) {}

TaskLog::~TaskLog() = default;

void TaskLog::begin() {
  const std::lock_guard lock(mutex_);
  try {
    opening_ = std::async(std::launch::async, [this, run = run_] { open(run); });
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

void TaskLog::open(const vm::RunRow& run) {
  std::unique_ptr<vm::Recorder> made;
  std::string problem;
  try {
    made = std::make_unique<vm::Recorder>(run);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const std::lock_guard lock(mutex_);
  recorder_ = std::move(made);
  if (!recorder_) problem_ = problem;
  for (vm::PointRow& row : early_)
    if (recorder_) recorder_->add(std::move(row));
  early_.clear();
}

void TaskLog::add(vm::PointRow row, bool is_taken) {
  const std::lock_guard lock(mutex_);
  const vm::PointOutcome outcome = row.attempt.outcome;
  if (row.is_last && outcome != vm::PointOutcome::interrupted)
    ++(has_failed(outcome) ? run_.failed : is_taken ? run_.taken : run_.ok);
  if (recorder_)
    recorder_->add(std::move(row));
  else if (!problem_)
    early_.push_back(std::move(row));  // opening may take long, if others write: nobody waits for it
}

std::optional<std::string> TaskLog::end(vm::RunState state, const std::vector<vm::DeviceRow>& devices) {
  if (opening_.valid()) opening_.wait();
  const std::uint64_t tasks = count();
  const std::lock_guard lock(mutex_);
  if (!recorder_) return problem_;
  run_.id = recorder_->id();
  run_.state = state;
  run_.ended = vm::unix_time();
  run_.points = tasks;
  if (const auto written = recorder_->end(run_, {}, devices); !written) return written.error();
  return std::nullopt;
}

}  // namespace raddle::tool
