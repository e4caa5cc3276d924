#pragma once
// Which core a program begins on.
//
// Note [cores of programs]. A short program ends where it has run, and whoever waits for it is woken where *it* has run
// last: the system takes no hint from a process that ends. If those are two cores, the one of the program has nothing
// to do until the next program has been started on the other one. Two threads that start programs one after the other
// came to lie on one core, their programs now on it and now on the other, and stayed so: of 2 x 250 us for each run of
// /bin/true some 30 were lost (`perf sched`). So, where programs may fill all cores, such a thread keeps to the core of
// its program's slot; the program itself may go wherever the run might when it began. Where fewer programs run at once
// there are idle cores, and the system is left to choose.
#include <sched.h>

namespace raddle::vm {

class Cores {
 public:
  /// Those that the calling thread may use now.
  Cores();
  unsigned count() const { return count_; }  ///< 0: the system does not tell
  /// Keeps the calling thread to one of them. @param slot  of a program, from 1: as vm::ProcessResult::slot
  void keep_to(unsigned slot) const;
  const cpu_set_t& all() const { return all_; }

 private:
  cpu_set_t all_;
  unsigned count_ = 0;
};

/// While it lasts the calling thread may use what it might before it was kept to a core: threads that it starts inherit
/// that.
class AllCores {
 public:
  AllCores();
  ~AllCores();
};

}  // namespace raddle::vm
