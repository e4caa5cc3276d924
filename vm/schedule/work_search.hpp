#pragma once
// How a worker comes from one task to the next.
#include "vm/schedule/task.hpp"

namespace raddle::vm {

/// The loop of a worker without its thread, so that the simulated machines of tests/bench run it, too: *take*, *look* a
/// few times more, then now and then for twice as long as a wake-up takes, *announce* that it will sleep, look at every
/// queue once more, *sleep*. Who would look all the time would take each task away from the worker that has pushed it
/// for itself.
///
/// What it needs of a worker's sources:
///   Task* find()              from wherever there is some
///   bool is_worth_looking()   false: only the outside gives work now, as a program's end does; that takes longer
///   void become_hungry()      it has found nothing
///   void pause()              some microsecond passes
///   void become_busy()        it has found something after all, or leaves
///   void prepare_sleep()      whatever was given to this worker alone lies in its own queue now
///   bool all_empty()          each queue was empty at some moment of the call
///   void announce(), cancel() of the gate
template <typename Sources>
class WorkSearch {
 public:
  enum class Next : unsigned char { run, look_again, sleep };

  WorkSearch(Sources sources, unsigned worker_count) : sources_(sources), looks_(worker_count > 1 ? most_looks : 0) {}

  /// The next step. After `run` the task is run, after `sleep` the worker sleeps at the gate; then comes the next.
  Next next(Task*& task) {
    task = sources_.find();
    if (task) {
      stop();
      return Next::run;
    }
    if (!is_hungry_) {
      is_hungry_ = true;
      looks_left_ = sources_.is_worth_looking() ? looks_ : 0;
      sources_.become_hungry();
      return Next::look_again;
    }
    if (looks_left_ > 0) {
      if (--looks_left_ < pauses) sources_.pause();
      return Next::look_again;
    }
    sources_.prepare_sleep();
    sources_.announce();
    if (sources_.all_empty()) return Next::sleep;
    sources_.cancel();
    return Next::look_again;
  }

  void stop() {
    if (!is_hungry_) return;
    is_hungry_ = false;
    sources_.become_busy();
  }

 private:
  static constexpr unsigned pauses = 40, most_looks = 64 + pauses;
  Sources sources_;
  const unsigned looks_;  // before it announces
  bool is_hungry_ = false;
  unsigned looks_left_ = 0;
};

}  // namespace raddle::vm
