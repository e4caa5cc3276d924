#pragma once
// What a sweep does at its points. The space, the record and the tables know nothing of it.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/tool/space/space.hpp"
#include "vm/external/processes.hpp"
#include "vm/record/recorder.hpp"

namespace raddle::sweep {

using vm::Attempt;
using vm::kept_output_bytes;

/// What came of many points.
struct BlockResult {
  vm::BlockRow row;                   ///< those that ended well
  std::vector<std::uint64_t> others;  ///< numbers of those that did not: to be run one by one, which tells why
};

/// Does the work of many points together, where a point takes less time than all that is done for a point by itself.
/// It knows only points that end well: whatever else may come of a point is found out by a PointRunner.
class BlockRunner {
 public:
  virtual ~BlockRunner() = default;
  /// As PointRunner::run. Points of a block that was ended are neither in its row nor among the others.
  virtual void run(std::vector<std::uint64_t> numbers, std::function<void(BlockResult)> done) = 0;
};

class PointRunner {
 public:
  virtual ~PointRunner() = default;
  /// Before the first point. @param recorder  of the run; lives while points run
  virtual void begin_run(vm::Recorder& recorder) = 0;
  /// Any thread. @param attempt  which one at this point, from 1
  /// @param done  called once, on a thread of the runner's; it may call run()
  virtual void run(const Point& point, std::uint32_t attempt, std::function<void(Attempt)> done) = 0;
  /// Ends what is under way, blocks too, at most some seconds later; any thread but those that call `done`. What ended
  /// by itself meanwhile is told as ever; what was not started may be told to nobody. Returns when nothing is under
  /// way, or lost.
  virtual void end_all() = 0;
  /// Something can not be ended, and still uses this and all that it was given, which must never be destroyed.
  virtual bool has_lost_runs() { return false; }
  /// What devices have done for points; after end_all(), or when nothing is under way.
  virtual std::vector<vm::DeviceRow> device_rows() { return {}; }
  /// Those that run for points right now; any thread but those that call `done`.
  virtual vm::ProgramsNow programs() { return {}; }
  /// @return null if there is no faster way than one by one
  virtual BlockRunner* blocks() { return nullptr; }
};

}  // namespace raddle::sweep
