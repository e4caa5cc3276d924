#include "vm/external/processes.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <unordered_set>

#include "vm/external/event_loop.hpp"
#include "vm/external/output_tap.hpp"
#include "vm/external/redirects.hpp"
#include "vm/external/start_child.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::vm {
namespace {

constexpr std::uint64_t kill_grace_ms = 5000;  // from SIGTERM to SIGKILL
constexpr std::uint64_t give_up_ms = 2000;     // from SIGKILL until a program that does not end is left alone
constexpr double pipe_wait_s = 0.02;           // between looks whether a named pipe's other end is there

using Clock = std::chrono::steady_clock;
using Done = std::function<void(ProcessResult)>;

struct Waiting {
  ProcessRequest request;
  Done done;
  Redirects redirects = {};
  std::optional<Clock::time_point> first_look = {};  ///< it has waited for a named pipe since
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::uint64_t milliseconds(double seconds) { return static_cast<std::uint64_t>(std::min(seconds, 1e12) * 1000) + 1; }

bool is_shortage(int error) { return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM; }

ProcessResult result_of(int wait_status) {
  ProcessResult result;
  if (WIFSIGNALED(wait_status)) {
    result.signal = WTERMSIG(wait_status);
  } else {
    result.exit_code = WEXITSTATUS(wait_status);
  }
  return result;
}

/// What else runs needs some, too: for files, servers, the record.
int highest_descriptor() {
  constexpr rlim_t reserve = 40;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur - std::min(limit.rlim_cur, reserve), 1 << 30));
}

}  // namespace

// Everything but `loop`, `budget`, `outputs` and the fields below `mutex` belongs to the loop's thread.
struct Processes::State {
  // A running program; in `running` until it has ended, deleted when its handles are closed, too.
  struct Child {
    enum class Stage : std::uint8_t { running, asked_to_end, killed };
    State* state;
    Done done;
    pid_t pid;
    FileDescriptor pid_fd;
    std::vector<std::string> words;
    unsigned slot;
    std::int64_t cores;
    double memory_bytes;
    Clock::time_point started;
    ProgramTaps taps;
    Stage stage = Stage::running;
    bool timed_out = false;
    uv_poll_t exit_watch{};  // pid_fd becomes readable when the program ends
    uv_timer_t timer{};
    int open_handles = 0;
  };

  // A request whose delay has not passed, or whose named pipe has nobody at its other end.
  struct Delayed {
    State* state;
    Waiting waiting;
    uv_timer_t timer{};
  };

  State(ProcessBudget given, ProgramOutputs where) : budget(given), outputs(std::move(where)) {}

  void admit(Waiting next);
  void delay(Waiting next, double delay_s);
  void wait_for_pipe(Waiting next);
  void drop(Delayed& late);
  void start_waiting();
  bool fits(const ProcessRequest& request) const;
  int start(Waiting& waiting);
  int start_in(unsigned slot, Waiting& waiting);
  void watch(Child& child, double timeout_s);
  void arm_timer(Child& child, std::uint64_t delay_ms);
  void ask_to_end(Child& child);
  void timer_fired(Child& child);
  void reap(Child& child);
  void ended(Child& child, ProcessResult result);
  void end_running();
  void note_all_ended();
  unsigned take_slot();
  ProgramsNow now() const;

  const ProcessBudget budget;
  const ProgramOutputs outputs;
  const int highest_fd = highest_descriptor();
  std::list<OutputTap::Pointer> left;  // taps of programs that have ended, and that others have open
  std::multimap<std::int64_t, Waiting, std::greater<>> waiting;  // by priority; equal ones stay in order
  std::unordered_set<Delayed*> delayed;
  std::unordered_set<Child*> running;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_slots;  // of 1 .. slots
  unsigned slots = 0;
  std::int64_t cores_used = 0;
  double memory_used = 0;
  bool ending = false;  // end_all was called and programs still run

  std::mutex mutex;
  std::condition_variable all_ended;
  std::uint64_t endings_done = 0;  // counts calls of end_all that are through

  EventLoop loop;  // last: its thread, which uses the rest, ends first
};

Processes::Processes(ProcessBudget budget, ProgramOutputs outputs)
    : state_(std::make_unique<State>(budget, std::move(outputs))) {
  // Inherited as ignored from whoever started us, it would make the system throw exit statuses away.
  struct sigaction action;
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

Processes::~Processes() {
  end_all();
  if (state_->loop.is_started()) state_->loop.post([state = state_.get()] { state->left.clear(); });
}

void Processes::spawn(ProcessRequest request, std::function<void(ProcessResult)> done) {
  State* state = state_.get();
  state->loop.post([state, waiting = Waiting{std::move(request), std::move(done)}]() mutable {
    if (state->ending) return;
    if (waiting.request.delay_s > 0) {
      const double delay_s = waiting.request.delay_s;
      return state->delay(std::move(waiting), delay_s);
    }
    state->admit(std::move(waiting));
  });
}

void Processes::end_all() {
  if (!state_->loop.is_started()) return;
  State* state = state_.get();
  if (state->loop.on_loop_thread()) return state->end_running();
  std::unique_lock lock(state->mutex);
  const std::uint64_t before = state->endings_done;
  state->loop.post([state] { state->end_running(); });
  state->all_ended.wait(lock, [&] { return state->endings_done != before; });
}

ProgramsNow Processes::now() {
  if (!state_->loop.is_started()) return {};
  const auto found = std::make_shared<std::promise<ProgramsNow>>();
  std::future<ProgramsNow> answer = found->get_future();
  state_->loop.post([state = state_.get(), found] { found->set_value(state->now()); });
  return answer.wait_for(std::chrono::seconds(1)) == std::future_status::ready ? answer.get() : ProgramsNow();
}

ProgramsNow Processes::State::now() const {
  ProgramsNow found{.running = {}, .waiting = waiting.size() + delayed.size()};
  for (const Child* child : running) found.running.push_back({child->words, child->pid, seconds_since(child->started)});
  std::ranges::sort(found.running, std::greater(), &RunningProgram::seconds);
  return found;
}

void Processes::State::admit(Waiting next) {
  const std::int64_t priority = next.request.priority;
  waiting.emplace(priority, std::move(next));
  start_waiting();
}

void Processes::State::delay(Waiting next, double delay_s) {
  auto* late = new Delayed{this, std::move(next)};
  delayed.insert(late);
  uv_timer_init(loop.loop(), &late->timer);
  late->timer.data = late;
  uv_update_time(loop.loop());
  uv_timer_start(
      &late->timer,
      [](uv_timer_t* timer) {
        auto& due = *static_cast<Delayed*>(timer->data);
        Waiting request = std::move(due.waiting);
        State* state = due.state;
        state->drop(due);
        state->admit(std::move(request));
      },
      milliseconds(delay_s), 0);
}

// The time that it may take counts from the first look on.
void Processes::State::wait_for_pipe(Waiting next) {
  if (!next.first_look) next.first_look = Clock::now();
  const double waited_s = seconds_since(*next.first_look), timeout_s = next.request.timeout_s;
  if (timeout_s <= 0 || waited_s < timeout_s) return delay(std::move(next), pipe_wait_s);
  ProcessResult result;
  result.duration_s = waited_s;
  result.timed_out = true;
  next.done(std::move(result));
}

void Processes::State::drop(Delayed& late) {
  delayed.erase(&late);
  uv_close(reinterpret_cast<uv_handle_t*>(&late.timer),
           [](uv_handle_t* handle) { delete static_cast<Delayed*>(handle->data); });
}

bool Processes::State::fits(const ProcessRequest& request) const {
  if (running.empty()) return true;
  return running.size() < budget.programs && request.cores <= budget.cores - cores_used &&
         request.memory_bytes <= budget.memory_bytes - memory_used;
}

// Starts waiting programs while they fit. A shortage (of process ids, descriptors, memory) while others run ends that,
// too: the next end tries again.
void Processes::State::start_waiting() {
  while (!waiting.empty() && fits(waiting.begin()->second.request)) {
    Waiting& first = waiting.begin()->second;
    std::expected<bool, std::string> is_open = first.redirects.open(first.request);
    const int error = is_open && *is_open ? start(first) : 0;
    if (is_shortage(error) && !running.empty()) return;
    Waiting next = std::move(first);
    waiting.erase(waiting.begin());
    if (is_open && !*is_open) {
      wait_for_pipe(std::move(next));
    } else if (!is_open || error != 0) {
      ProcessResult result;
      result.start_error = is_open ? error_text(error) : std::move(is_open.error());
      next.done(std::move(result));
    }
  }
}

// @return 0, or the errno that kept it from starting
int Processes::State::start(Waiting& next) {
  if (next.request.words.empty()) return ENOENT;
  const unsigned slot = take_slot();
  const int error = start_in(slot, next);
  if (error != 0) free_slots.push(slot);
  return error;
}

int Processes::State::start_in(unsigned slot, Waiting& next) {
  std::expected<ProgramTaps, int> taps = ProgramTaps::open(*loop.loop(), outputs, next.request);
  if (!taps) return taps.error();
  if (!running.empty() && std::max(taps->out_end(), taps->error_end()) >= highest_fd) return EMFILE;
  const auto fd = [](int given, int opened) { return given >= 0 ? given : opened; };
  const auto started = Clock::now();
  const auto pid =
      start_child({next.request.words, next.request.environment, fd(next.request.stdin_fd, next.redirects.in()),
                   fd(fd(next.request.stdout_fd, taps->out_end()), next.redirects.out()),
                   fd(fd(next.request.stderr_fd, taps->error_end()), next.redirects.error())});
  taps->close_program_ends();
  if (!pid) return pid.error();
  FileDescriptor pid_fd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (pid_fd.get() < 0) {
    const int error = errno;
    kill(-*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
    return error;
  }
  ProcessRequest& request = next.request;
  if (request.on_start) request.on_start(request);
  auto* child =
      new Child{this,          std::move(next.done), *pid,    std::move(pid_fd), std::move(request.words), slot,
                request.cores, request.memory_bytes, started, std::move(*taps)};
  running.insert(child);
  cores_used += child->cores;
  memory_used += child->memory_bytes;
  const double waited_s = next.first_look ? seconds_since(*next.first_look) : 0;
  watch(*child, request.timeout_s > 0 ? std::max(request.timeout_s - waited_s, 1e-3) : 0);
  return 0;
}

unsigned Processes::State::take_slot() {
  if (free_slots.empty()) return ++slots;
  const unsigned lowest = free_slots.top();
  free_slots.pop();
  return lowest;
}

void Processes::State::watch(Child& child, double timeout_s) {
  uv_poll_init(loop.loop(), &child.exit_watch, child.pid_fd.get());
  child.exit_watch.data = &child;
  child.open_handles = 1;
  uv_poll_start(&child.exit_watch, UV_READABLE, [](uv_poll_t* watch, int, int) {
    auto& ended = *static_cast<Child*>(watch->data);
    ended.state->reap(ended);
  });
  if (timeout_s > 0) arm_timer(child, milliseconds(timeout_s));
}

void Processes::State::arm_timer(Child& child, std::uint64_t delay_ms) {
  if (child.timer.data == nullptr) {
    uv_timer_init(loop.loop(), &child.timer);
    child.timer.data = &child;
    ++child.open_handles;
  }
  uv_update_time(loop.loop());
  uv_timer_start(
      &child.timer,
      [](uv_timer_t* timer) {
        auto& late = *static_cast<Child*>(timer->data);
        late.state->timer_fired(late);
      },
      delay_ms, 0);
}

void Processes::State::ask_to_end(Child& child) {
  if (child.stage != Child::Stage::running) return;
  child.stage = Child::Stage::asked_to_end;
  kill(-child.pid, SIGTERM);
  kill(-child.pid, SIGCONT);  // a stopped program would not notice
  arm_timer(child, kill_grace_ms);
}

void Processes::State::timer_fired(Child& child) {
  switch (child.stage) {
    case Child::Stage::running:
      child.timed_out = true;
      ask_to_end(child);
      return;
    case Child::Stage::asked_to_end:
      child.stage = Child::Stage::killed;
      kill(-child.pid, SIGKILL);
      arm_timer(child, give_up_ms);
      return;
    case Child::Stage::killed: {  // it hangs in the system: nothing more can be done
      ProcessResult result;
      result.signal = SIGKILL;
      ended(child, std::move(result));
      return;
    }
  }
}

void Processes::State::reap(Child& child) {
  // Before its id is free for others: what it has left running in its group, if it was ended by us.
  if (child.stage != Child::Stage::running) kill(-child.pid, SIGKILL);
  int status = 0;
  const pid_t reaped = waitpid(child.pid, &status, WNOHANG);
  if (reaped == 0) return;  // not yet: the watch calls again
  ProcessResult result = reaped > 0 ? result_of(status) : ProcessResult{.start_error = "its exit status was lost"};
  result.leaves_others = kill(-child.pid, 0) == 0;
  ended(child, std::move(result));
}

// Closes the child, starts the next program, and tells when that was done for all ends that came at once: who is told
// may wake workers, and the kernel would start programs behind others where workers are for a moment.
void Processes::State::ended(Child& child, ProcessResult result) {
  result.timed_out = child.timed_out;
  result.slot = child.slot;
  child.taps.end(result, left);
  left.remove_if([](const OutputTap::Pointer& tap) { return tap->has_ended(); });
  free_slots.push(child.slot);
  result.duration_s = seconds_since(child.started);
  result.started = unix_time() - result.duration_s;
  Done done = std::move(child.done);
  const auto closed = [](uv_handle_t* handle) {
    auto* closing = static_cast<Child*>(handle->data);
    if (--closing->open_handles == 0) delete closing;
  };
  running.erase(&child);
  cores_used -= child.cores;
  memory_used = running.empty() ? 0 : memory_used - child.memory_bytes;
  if (child.timer.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&child.timer), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&child.exit_watch), closed);
  start_waiting();
  loop.post([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
  if (ending && running.empty()) note_all_ended();
}

void Processes::State::end_running() {
  ending = true;
  waiting.clear();
  while (!delayed.empty()) drop(**delayed.begin());
  for (Child* child : running) ask_to_end(*child);
  if (running.empty()) note_all_ended();
}

// Behind all that is still to be told.
void Processes::State::note_all_ended() {
  loop.post([this] {
    ending = false;
    const std::lock_guard lock(mutex);
    ++endings_done;
    all_ended.notify_all();
  });
}

}  // namespace raddle::vm
