#pragma once
// What a sweep does at a point. The space, the record and the tables know nothing of it.
#include <cstdint>
#include <functional>
#include <string>

#include "compiler/sweep/space.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// What came of doing it once.
struct Attempt {
  vm::PointOutcome outcome = vm::PointOutcome::ok;
  double started = 0;  ///< seconds since 1970
  double duration_s = 0;
  int exit_code = 0;
  int signal = 0;
  std::string detail;   ///< why it was not started, or has no result
  std::string results;  ///< JSON object
  std::string stdout_end, stderr_end;
  std::uint64_t stdout_size = 0, stderr_size = 0;
};

class PointRunner {
 public:
  virtual ~PointRunner() = default;
  /// Any thread. @param done  called once, on a thread of the runner's; it may call run()
  virtual void run(const Point& point, std::function<void(Attempt)> done) = 0;
  /// Ends what is under way, at most some seconds later; any thread but those that call `done`. What ended by itself
  /// meanwhile is told as ever; what was not started may be told to nobody. Returns when nothing is under way.
  virtual void end_all() = 0;
};

}  // namespace raddle::sweep
