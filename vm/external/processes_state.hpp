#pragma once
// What Processes is made of: processes.cpp has how programs are started, ending_programs.cpp how they end.
#include <fcntl.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "vm/external/cores.hpp"
#include "vm/external/processes.hpp"
#include "vm/external/program_queue.hpp"
#include "vm/external/tap_loop.hpp"
#include "vm/external/thread_supply.hpp"
#include "vm/external/timers.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// Somebody is to be told of it.
struct ProgramEnd {
  std::function<void(ProcessResult)> done;
  ProcessResult result;
  std::unique_ptr<ProgramTaps> taps;
  bool is_watched = false;
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Note [Threads of programs]
//
// Each program that runs has a thread: it takes the first request that waits, starts the program, tells of the end of
// those that have ended, and waits. Threads are started when none is free, and kept. Why not one thread that watches
// all: who waits for a child by waitid is run where the child ends, at once, while one that is woken by a descriptor is
// queued behind another program though a processor is idle.
//
// While others wait to be started, the ends of short programs that went well are told several at a time (take_due): to
// wake a worker for each takes as much processor time as all else that is done for it.
//
// `mutex` guards all but what is constant, `tap_loop` and `timers`, and is taken before theirs. It is held for moments
// only: not while files are opened, programs started or waited for, or anybody told.
struct Processes::State {
  // A program from when it was taken to its end; its thread's. Others get it from `running`.
  struct Child {
    enum class Stage : std::uint8_t { starting, running, asked_to_end, killed, lost };
    std::uint64_t number;
    ThreadSupply::Thread& thread;
    WaitingProgram program;
    ProgramQueue::Place place;
    Stage stage = Stage::starting;
    pid_t pid = 0;
    std::chrono::steady_clock::time_point started = {};
    bool timed_out = false;
    std::string fault = {};  // why it could not be started
    std::optional<TimerQueue::Entry> timer = {};
    std::unique_ptr<ProgramTaps> taps = {};  // null: all that it prints to is redirected
    bool is_watched = false;                 // the loop has its taps
  };
  enum class Begun : std::uint8_t { runs, waits_for_pipe, is_short, failed };

  State(ProcessBudget budget, ProgramOutputs where)
      : keeps_to_cores(cores.count() > 1 && budget.programs >= cores.count()),
        outputs(std::move(where)),
        queue(budget) {}

  void work(ThreadSupply::Thread& thread);
  Begun begin(Child& child);
  int start(Child& child);
  std::optional<ProgramEnd> reap(Child& child);
  static ProgramEnd end_of(Child& child);
  void tell(ProgramEnd ended);
  void call(std::function<void(ProcessResult)>& done, ProcessResult result);
  void delay_over(std::uint64_t number);
  void tell_late();
  void look_at_taps();
  void timer_fired(std::uint64_t number);

  // With `mutex` held:
  void admit(WaitingProgram next);
  void delay(WaitingProgram next, double delay_s);
  void wake_if_wanted();
  std::unique_ptr<Child> take(ThreadSupply::Thread& thread);
  void release(Child& child);
  void watch(Child& child);
  void look_at_taps_later();
  std::optional<ProgramEnd> put_back(Child& child, Begun why);
  void add_end(ProgramEnd end);
  std::vector<ProgramEnd> take_due(bool is_free);
  void tell_in(double seconds);
  bool set_timer(Child& child, double seconds);
  void ask_to_end(Child& child);
  void kill_now(Child& child);
  void note_told();

  static int highest_descriptor();
  /// Open; without a descriptor if there is none; none if it is not known.
  static std::optional<FileDescriptor> controlling_terminal();

  const Cores cores;  // of who has made it
  const std::optional<FileDescriptor> terminal = controlling_terminal();
  const FileDescriptor no_input{open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const bool keeps_to_cores;  // Note [cores of programs]
  const ProgramOutputs outputs;
  const int highest_allowed = highest_descriptor();  // what else runs needs some, too: for files, servers, the record

  std::mutex mutex;
  std::condition_variable all_ended;
  ThreadSupply threads{[this](ThreadSupply::Thread& thread) { work(thread); }};
  bool will_look_at_taps = false;
  std::vector<ProgramEnd> ended;  // of whom somebody is to be told
  std::chrono::steady_clock::time_point first_ended;
  bool is_urgent = false;       // one of them is not to be kept
  bool will_tell_late = false;  // a timer will look whether they still are
  ProgramQueue queue;
  std::map<std::uint64_t, WaitingProgram> delayed;  // or a named pipe has nobody at its other end
  std::map<std::uint64_t, Child*> running;
  std::uint64_t last_number = 0;  // in `delayed` and `running`
  std::size_t untold = 0;         // programs that were taken, and of whose end nobody was told yet
  bool ending = false;            // end_all or kill_all was called, and somebody is still to be told
  std::uint64_t endings_done = 0;

  // last: their threads, which use the rest, end first; never empty while others use it
  std::optional<TapLoop> tap_loop{std::in_place};
  std::optional<Timers> timers{std::in_place};
};

}  // namespace raddle::vm
