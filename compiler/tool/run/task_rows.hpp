#pragma once
// The rows of tasks in the record: of each program and each call of a `@memo` function that a script runs.
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/record/kept_files.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// A row's parameters are `task`, the function's name, and `work`, the program's command line or the call with its
/// inputs. Its results are `at`, the place of the call, `outputs`, files with what names their content, of a program;
/// `source` (`record` or `run`), `result` and `code` of a `@memo` function's call.
class TaskRows : public vm::TaskListener {
 public:
  /// @param sources  outlives it
  explicit TaskRows(const SourceMap& sources) : sources_(sources) {}
  std::uint64_t begun(const std::vector<std::string>& inputs, const std::vector<std::string>& words,
                      bool is_first) override;
  void ended(const vm::EndedProgram& program) override;
  void ended(const vm::EndedMemoCall& call) override;

 protected:
  /// The first task is about to begin; others may be, too, and may end before.
  virtual void begin() {}
  /// A task has ended; any worker. @param is_taken  from the record
  virtual void add(vm::PointRow row, bool is_taken) = 0;
  std::uint64_t count() const;  ///< of tasks that have begun

 private:
  std::vector<std::string> versions_of(const vm::EndedProgram& program);
  std::string place_text(vm::Place place) const;

  const SourceMap& sources_;
  vm::KeptFiles files_;
  mutable std::mutex mutex_;  // guards all below
  std::uint64_t begun_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::string>> versions_;  ///< of inputs, by call
};

}  // namespace raddle::tool
