#pragma once
// Ends programs when nobody else can: after a SIGKILL.
#include <cstdint>

namespace raddle::vm {

// Note [the watcher]
//
// The system kills the leaders of our process groups with us (PR_SET_PDEATHSIG), not what they have started: the
// children of a shell, of `timeout`, of a Python server live on, and would overwrite what the next run makes. So a
// process that outlives us, a shell of some lines, waits for the end of a pipe whose other end is ours, and then kills
// the groups in a list.
//
// The list is a file in memory that we have mapped: a line of eight bytes for each program that runs at once. A program
// writes its own line before it becomes the program, so there is no moment at which it is not in the list; whoever
// waits for it makes the line blank before its id is free. So the watcher costs a program two stores, and no system
// call. Why a shell: it is small, everywhere, and starts in a millisecond, which we, being large, do not.

/// A line of the list, eight bytes. The program writes it, then who waits for it: these two are ordered by the start
/// and the end of the program; the watcher reads when both are gone. Relaxed: nothing else is published by it.
class WatchedLine {
 public:
  static constexpr int digits = 7;  ///< of the largest process id that Linux has
  /// In the child, too: no system call, no memory.
  void set(int process_group);
  void clear() { __atomic_store_n(&line_, blank, __ATOMIC_RELAXED); }

 private:
  static constexpr std::uint64_t blank = 0x0a20'2020'2020'2020;  // "       \n"
  std::uint64_t line_;
};

/// The calling thread's own line, for one program at a time; it is given back when the thread ends. The first call
/// starts the watcher. @return null if there is no watcher, or it has no more lines
WatchedLine* watched_line();

}  // namespace raddle::vm
