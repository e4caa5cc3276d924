// How programs end: by themselves, or asked to.
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "vm/external/processes_state.hpp"
#include "vm/external/start_child.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::vm {
namespace {

constexpr double kill_grace_s = 5;  // from SIGTERM to SIGKILL
constexpr double give_up_s = 2;     // from SIGKILL until a program that does not end is left alone

/// Returns when the program has ended; its id stays its own until it is waited for.
void wait_for_end(pid_t pid) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

/// Nobody has waited for it yet: its thread tells somebody of the program before.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

thread_local const void* telling = nullptr;  // the State whose `done` this thread calls right now

}  // namespace

void Processes::end_all() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.queue.clear();
  state.delayed.clear();
  if (state.untold == 0) return;
  state.ending = true;
  for (const auto& [number, child] : state.running) state.ask_to_end(*child);
  if (telling == &state) return;
  state.all_ended.wait(lock, [&, before = state.endings_done] { return state.endings_done != before; });
}

void Processes::kill_all() {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  state.queue.clear();
  state.delayed.clear();
  if (state.untold == 0) return;
  state.ending = true;  // what starts right now is asked to end
  for (const auto& [number, child] : state.running)
    if (child->stage != State::Child::Stage::starting && !has_ended(child->pid)) state.kill_now(*child);
}

bool Processes::State::set_timer(Child& child, double seconds) {
  if (child.timer) timers->cancel(*child.timer);
  child.timer.reset();
  const auto timer = timers->after(seconds, [this, number = child.number] { timer_fired(number); });
  if (timer) child.timer = *timer;
  return timer.has_value();
}

void Processes::State::ask_to_end(Child& child) {
  if (child.stage != Child::Stage::running || has_ended(child.pid)) return;
  child.stage = Child::Stage::asked_to_end;
  kill(-child.pid, SIGTERM);
  kill(-child.pid, SIGCONT);  // a stopped program would not notice
  if (!set_timer(child, kill_grace_s)) kill(-child.pid, SIGKILL);
}

void Processes::State::kill_now(Child& child) {
  child.stage = Child::Stage::killed;
  kill(-child.pid, SIGKILL);
  set_timer(child, give_up_s);
}

void Processes::State::timer_fired(std::uint64_t number) {
  std::unique_lock lock(mutex);
  const auto found = running.find(number);
  if (found == running.end()) return;
  Child& child = *found->second;
  if (has_ended(child.pid)) return;
  switch (child.stage) {
    case Child::Stage::running: child.timed_out = true; return ask_to_end(child);
    case Child::Stage::asked_to_end: return kill_now(child);
    case Child::Stage::killed: {  // it hangs in the system: nothing more can be done
      child.stage = Child::Stage::lost;
      child.thread.is_lost = true;
      ProgramEnd ended = end_of(child);
      ended.result.signal = SIGKILL;
      release(child);
      wake_if_wanted();
      lock.unlock();
      return tell(std::move(ended));
    }
    case Child::Stage::starting:
    case Child::Stage::lost: return;
  }
}

ProgramEnd Processes::State::end_of(Child& child) {
  ProgramEnd ended{std::move(child.program.done), {}, std::move(child.taps), child.is_watched};
  ended.result.duration_s = seconds_since(child.started);
  ended.result.started = unix_time() - ended.result.duration_s;
  ended.result.slot = child.place.slot;
  ended.result.timed_out = child.timed_out;
  ended.result.was_asked_to_end = child.stage != Child::Stage::running;
  return ended;
}

// Waits for its end. The thread counts as looking then.
std::optional<ProgramEnd> Processes::State::reap(Child& child) {
  wait_for_end(child.pid);
  std::unique_lock lock(mutex);
  threads.begin_looking();
  const Child::Stage stage = child.stage;
  std::optional<ProgramEnd> ended;
  if (stage != Child::Stage::lost) {
    ended = end_of(child);
    release(child);
    queue.end_shortage();
  }
  lock.unlock();
  // Before its id is free for others: what it has left running in its group, if it was ended by us.
  if (stage != Child::Stage::running) kill(-child.pid, SIGKILL);
  child_has_ended();
  int status = 0;
  const bool is_known = waitpid(child.pid, &status, 0) == child.pid;
  if (!ended) return std::nullopt;
  ProcessResult& result = ended->result;
  if (!is_known)
    result.start_error = "its exit status was lost";
  else if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exit_code = WEXITSTATUS(status);
  result.leaves_others = kill(-child.pid, 0) == 0;
  return ended;
}

void Processes::State::tell(ProgramEnd ended) {
  if (ended.is_watched) {
    tap_loop->end(
        std::move(ended.taps), std::move(ended.result),
        [this, done = std::move(ended.done)](ProcessResult result) mutable { call(done, std::move(result)); });
    return;
  }
  if (ended.taps) tap_loop->end_unwatched(std::move(ended.taps), ended.result);
  call(ended.done, std::move(ended.result));
}

void Processes::State::call(std::function<void(ProcessResult)>& done, ProcessResult result) {
  telling = this;
  std::exchange(done, nullptr)(std::move(result));
  telling = nullptr;
  const std::lock_guard lock(mutex);
  note_told();
}

void Processes::State::note_told() {
  if (--untold != 0 || !ending) return;
  ending = false;
  ++endings_done;
  all_ended.notify_all();
}

}  // namespace raddle::vm
