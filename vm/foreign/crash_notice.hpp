#pragma once
// A crash in C ends the whole run, as the process is one: before that it is told where, and what helps.

namespace raddle::vm {

/// From the first call on, which is due before C of the script runs, a fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL) outside
/// of raddle's own code is told on standard error; then the process ends as it would have. Not told: faults in
/// processes forked from this one, and a stack that has overflowed, where no handler can run. Any thread.
void tell_of_crashes();

}  // namespace raddle::vm
