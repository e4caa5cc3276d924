#pragma once
// External programs, started without a shell. Each that runs has a thread, which has started it, waits for its end and
// then starts the next one; it holds no worker.
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::vm {

struct ProcessRequest {
  std::vector<std::string> words;  ///< words[0] is the program, looked up in PATH
  /// "": nothing to read, and the run's own stdout and stderr. Output files are truncated, folders made; with a named
  /// pipe it starts when its other end is open, and its time limit counts from the first look on.
  std::string stdin_path, stdout_path, stderr_path;
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;  ///< in place of a path; stay the caller's, open till it has ended
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to the run's
  double timeout_s = 0;       ///< 0: none; SIGTERM to the process group, SIGKILL 5 s later
  double delay_s = 0;         ///< waits so long before it may start, taking nothing of the budget
  std::int64_t priority = 0;  ///< of those that wait the higher ones start first; equal ones in order
  std::int64_t cores = 1;     ///< its share of the budget while it runs
  double memory_bytes = 0;
  std::function<void(const ProcessRequest&)> on_start;  ///< called once it runs, before `done`; may be empty
};

/// What programs that run at once may take together.
struct ProcessBudget {
  unsigned programs = 1;
  std::int64_t cores = std::numeric_limits<std::int64_t>::max();
  double memory_bytes = std::numeric_limits<double>::infinity();
};

inline constexpr std::size_t kept_output_bytes = 4096;  ///< of the end of what a program prints

struct PrintedText {
  std::uint64_t size = 0;  ///< of all
  std::string end;         ///< at most kept_output_bytes
};

/// Gets what programs print.
struct OutputSink {
  /// Called as it comes, for several programs at a time. @return false: nobody reads it any more, which is said to the
  /// programs
  std::function<bool(std::string_view)> take;
  std::function<bool()> is_full = {};  ///< true: to be asked again a little later, before more is given; may be empty
  int terminal_fd = -1;                ///< not -1: a terminal, as programs are to find one
};

/// Where programs print to whose streams are not redirected; without `take` to the run's own streams.
struct ProgramOutputs {
  OutputSink out, error;
  bool are_one = false;     ///< both go to `out`, in the order in which they are written
  bool of_servers = false;  ///< servers print there, too: on their own threads, and while they answer
};

struct ProcessResult {
  double started = 0;            ///< seconds since 1970
  double duration_s = 0;         ///< from its start to its end
  std::string start_error = {};  ///< not empty: it could not be started ("no such file or directory")
  int exit_code = 0;
  int signal = 0;     ///< not 0: ended by this signal
  unsigned slot = 0;  ///< the lowest that no other running program had, from 1; 0: it was not started
  bool timed_out = false;
  bool was_asked_to_end = false;     ///< by a signal of ours, as its time was up or by end_all()
  bool leaves_others = false;        ///< processes of its group live on, perhaps with its output open
  PrintedText out = {}, error = {};  ///< what ProgramOutputs got of it; `out` has both if those are one
};

struct RunningProgram {
  std::vector<std::string> words;
  int process_id = 0;
  double seconds = 0;  ///< since its start
};

/// At one moment.
struct ProgramsNow {
  std::vector<RunningProgram> running;  ///< the earliest first
  std::size_t waiting = 0;              ///< for the budget, a delay, or the other end of a named pipe
};

/// Each program leads a process group of its own, which no terminal controls. When the run is killed the system ends
/// the programs (not what they have started themselves).
class Processes {
 public:
  /// Requests beyond the budget wait. The first of them is not overtaken by smaller ones that would fit, lest it wait
  /// for ever. What is larger than the whole budget runs alone.
  explicit Processes(ProcessBudget budget, ProgramOutputs outputs = {});
  /// end_all(), then ends the threads. Not from `done`.
  ~Processes();
  /// Starts the first thread, as spawn() does; any thread. @throws std::system_error if there can not be one
  void begin();
  /// Any thread. `done` is called once, on a thread of ours, after the next waiting program was started, and some ms
  /// later if others wait and all went well: it may call spawn() and end_all(), must not throw and should be short;
  /// those of several programs may be called at a time. Where not even a first thread can be started it is called at
  /// once, with that as the result's start_error.
  void spawn(ProcessRequest request, std::function<void(ProcessResult)> done);
  /// Ends all running programs (SIGTERM to their process groups, SIGKILL after 5 s) and forgets waiting requests and
  /// those that arrive meanwhile (their `done` is not called). Returns when all have ended and their `done` was
  /// called; from `done` at once. Later requests are served again.
  void end_all();
  /// The same at once, by SIGKILL, for a process that waits for nothing any more. Any thread.
  void kill_all();
  /// Any thread.
  ProgramsNow now();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace raddle::vm
