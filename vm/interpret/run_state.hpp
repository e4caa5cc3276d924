#pragma once
// What all workers of a run share.
#include <atomic>
#include <deque>
#include <memory>
#include <map>
#include <mutex>
#include <vector>

#include "vm/external/outside.hpp"
#include "vm/foreign/foreign_code.hpp"
#include "vm/interpret/cell_store.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/leaf_table.hpp"
#include "vm/interpret/partial_outputs.hpp"
#include "vm/interpret/range_task.hpp"
#include "vm/interpret/range_task.hpp"
#include "vm/interpret/run.hpp"
#include "vm/interpret/throttle.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Lives as long as the run; owns all cells. Constants and program: read only.
class Run {
 public:
  Run(const Program& program, const RunOptions& options);
  ~Run();

  Future& constant(std::uint32_t index) { return constants_[index]; }
  Interpreter& interpreter(const Worker& worker) { return interpreters_[worker.index()]; }
  /// Notes a failure that nothing has caused before; without keep_going the run ends. Any thread.
  void report(Ref<Failure> failure);
  bool is_stopped() const { return pool.stopped(); }

  const Program& program;
  const RunOptions& options;
  CellStore cells;
  WorkerPool pool;
  Throttle throttle;
  LeafTable leaves;
  Outside outside;
  PartialOutputs partial_outputs;
  LoopWindows loop_windows;
  std::vector<LoopProfile> loop_profiles;              ///< by index of Program::foreaches
  std::vector<std::unique_ptr<ForeignCode>> foreigns;  ///< by index of Program::foreigns
  std::vector<Future> results;                         ///< of the entry
  std::deque<Interpreter>& interpreters() { return interpreters_; }
  /// By place.
  std::vector<RunFailure> failures();
  /// No worker has anything to do, though programs may be under way.
  void go_on_when_idle();

 private:
  std::vector<Future> constants_;
  std::deque<Interpreter> interpreters_;  ///< by worker
  /// The same failure at one place, of different calls.
  struct Alike {
    Ref<Failure> least;  ///< by its chain of calls, so that the report does not depend on the order of things
    std::uint64_t count = 0;
  };
  std::mutex failures_mutex_;  ///< guards failures_
  std::map<std::pair<Place, std::string>, Alike> failures_;
};

}  // namespace raddle::vm
