#pragma once
// Programs that run beside each other and go on from each other's variables: what an interactive session runs on.
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/interpret/run.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

/// How far a variable is that programs of a workspace share: the output of one, the input of others.
enum class Progress : std::uint8_t {
  unset,
  partly,    ///< something of it is there: an array that is still open, an element that is still unset
  complete,  ///< set, with all that is in it
  failed,    ///< it, or something in it
};
/// Any thread.
Progress progress_of(const Future& variable);
/// Its failure, or one in it. @pre Progress::failed
Value failure_of(const Future& variable);

/// One thread starts and asks; a thread of the workspace's own works with the others. All programs, options and
/// variables that it is given are to outlive it.
class Workspace {
 public:
  class Activity;  ///< a program that was started

  /// @param options  of the machine: workers, memory, programs outside
  explicit Workspace(const RunOptions& options);
  /// Ends what still runs, and waits for that.
  ~Workspace();

  /// Runs the program in the background. It goes on after failures with what does not depend on them.
  /// @param inputs   a variable for each parameter of the entry, set or not
  /// @param outputs  a variable for each of its outputs, unset
  Activity& start(const Program& program, const RunOptions& options, std::vector<Future*> inputs,
                  std::vector<Future*> outputs);

  /// Nothing can be done any more: what is left waits for variables that nothing sets.
  bool is_at_rest() const;
  /// @return is_at_rest()
  bool wait_for_rest(std::chrono::milliseconds most) const;
  /// Ended before its time, by stop() or for want of memory: nothing can be started.
  bool is_stopped() const;

  /// So far. Any time.
  std::vector<RunFailure> failures(Activity& activity) const;
  /// RunResult::replaced, likewise.
  std::vector<RunFailure> replaced_failures(Activity& activity) const;
  /// Why the activity is not through. @pre is_at_rest()
  std::vector<StuckVariable> stuck(Activity& activity) const;
  /// @return true if the activity has ended, with what it was given to: it is gone then. @pre is_at_rest()
  bool take_if_ended(Activity& activity);

  /// Ends what runs: tasks are dropped, external programs ended. @return false if a worker is in a long native
  /// computation that can not be interrupted: then this object must never be destroyed
  bool stop(std::chrono::milliseconds most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace raddle::vm
