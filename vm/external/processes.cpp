#include "vm/external/processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "vm/external/processes_state.hpp"
#include "vm/external/start_child.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::vm {
namespace {

/// Of a thread that tells somebody: the State in which it will look for a program then.
thread_local const void* looks_next = nullptr;

constexpr double unheard_s = 0.01;    // what a program prints is passed on from then on, or when it has ended
constexpr std::size_t most_kept = 8;  // ends that are told together
constexpr double kept_s = 0.005;      // no end is kept longer; programs that take longer are not short
constexpr double pipe_wait_s = 0.02;  // between looks whether a named pipe's other end is there

bool has_zero_byte(const ProcessRequest& request) {
  return std::ranges::any_of(request.words, [](const std::string& word) { return vm::has_zero_byte(word); }) ||
         std::ranges::any_of(request.environment, [](const auto& entry) {
           return vm::has_zero_byte(entry.first) || vm::has_zero_byte(entry.second);
         });
}

bool is_shortage(int error) { return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM; }

}  // namespace

int Processes::State::highest_descriptor() {
  constexpr rlim_t reserve = 40;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur - std::min(limit.rlim_cur, reserve), 1 << 30));
}

std::optional<FileDescriptor> Processes::State::controlling_terminal() {
  FileDescriptor terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (terminal || errno == ENXIO) return terminal;
  return std::nullopt;
}

Processes::Processes(ProcessBudget budget, ProgramOutputs outputs)
    : state_(std::make_unique<State>(budget, std::move(outputs))) {
  // Inherited as ignored from whoever started us, it would make the system throw exit statuses away.
  struct sigaction action;
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

Processes::~Processes() {
  end_all();
  {
    const std::lock_guard lock(state_->mutex);
    state_->threads.close();
  }
  if (state_->threads.join()) return;
  state_->timers.reset();
  state_->tap_loop.reset();
  static_cast<void>(state_.release());  // what is left of it a thread uses that waits for ever
}

void Processes::begin() {
  const std::lock_guard lock(state_->mutex);
  state_->threads.begin();
}

void Processes::spawn(ProcessRequest request, std::function<void(ProcessResult)> done) {
  std::unique_lock lock(state_->mutex);
  if (state_->ending) return;
  try {
    state_->threads.begin();
  } catch (const std::system_error& error) {
    lock.unlock();
    return done({.start_error = "no thread: " + error_text(error.code().value())});
  }
  const double delay_s = request.delay_s;
  WaitingProgram next{std::move(request), std::move(done)};
  delay_s > 0 ? state_->delay(std::move(next), delay_s) : state_->admit(std::move(next));
}

ProgramsNow Processes::now() {
  const std::lock_guard lock(state_->mutex);
  ProgramsNow found{.running = {}, .waiting = state_->queue.size() + state_->delayed.size()};
  for (const auto& [number, child] : state_->running) {
    if (child->stage == State::Child::Stage::starting)
      ++found.waiting;
    else
      found.running.push_back({child->program.request.words, child->pid, seconds_since(child->started)});
  }
  std::ranges::sort(found.running, std::greater(), &RunningProgram::seconds);
  return found;
}

void Processes::State::admit(WaitingProgram next) {
  queue.add(std::move(next));
  if (looks_next == this)
    looks_next = nullptr;  // the calling thread takes it; what comes after it needs another one
  else
    wake_if_wanted();
}

// Where no thread for timers can be started, it does not wait.
void Processes::State::delay(WaitingProgram next, double delay_s) {
  const std::uint64_t number = ++last_number;
  if (!timers->after(delay_s, [this, number] { delay_over(number); })) return admit(std::move(next));
  delayed.emplace(number, std::move(next));
}

void Processes::State::delay_over(std::uint64_t number) {
  const std::lock_guard lock(mutex);
  if (auto due = delayed.extract(number)) admit(std::move(due.mapped()));
}

void Processes::State::wake_if_wanted() {
  if (!ending && queue.can_start()) threads.wake_one();
}

void Processes::State::work(ThreadSupply::Thread& thread) {
  std::unique_lock lock(mutex);
  threads.end_looking();
  while (!threads.is_closing() && !thread.is_lost) {
    const std::unique_ptr<Child> next = take(thread);
    std::vector<ProgramEnd> due = take_due(/*is_free=*/!next);
    if (!next && due.empty()) {
      threads.wait(lock);
      continue;
    }
    lock.unlock();
    const Begun begun = next ? begin(*next) : Begun::failed;
    if (!next) looks_next = this;
    for (ProgramEnd& end : due) tell(std::move(end));
    looks_next = nullptr;
    std::optional<ProgramEnd> end = begun == Begun::runs ? reap(*next) : std::nullopt;
    lock.lock();
    if (begun == Begun::runs)
      threads.end_looking();
    else if (next)
      end = put_back(*next, begun);
    if (end) add_end(std::move(*end));
  }
  if (!thread.is_lost) return;
  wake_if_wanted();  // somebody may have relied on it
  if (!ended.empty()) threads.wake_one();
}

void Processes::State::add_end(ProgramEnd end) {
  const ProcessResult& result = end.result;
  const bool went_well = result.start_error.empty() && result.exit_code == 0 && result.signal == 0 && !result.timed_out;
  if (ended.empty()) first_ended = std::chrono::steady_clock::now();
  is_urgent |= !went_well || result.duration_s > kept_s || ending;
  ended.push_back(std::move(end));
}

// @param is_free  the calling thread has nothing else to do  @return ends to be told now
std::vector<ProgramEnd> Processes::State::take_due(bool is_free) {
  if (ended.empty()) return {};
  const bool is_due = is_free || is_urgent || ended.size() >= most_kept || seconds_since(first_ended) > kept_s;
  if (!is_due && !will_tell_late) tell_in(kept_s);
  if (!is_due && will_tell_late) return {};
  is_urgent = false;
  return std::exchange(ended, {});
}

void Processes::State::tell_in(double seconds) {
  will_tell_late = timers->after(seconds, [this] { tell_late(); }).has_value();
}

// Where the programs that were started since take longer. On the timers' thread, so it tells nobody itself: other
// timers would wait for whoever is told.
void Processes::State::tell_late() {
  const std::lock_guard lock(mutex);
  will_tell_late = false;
  if (ended.empty()) return;
  const double left_s = kept_s - seconds_since(first_ended);  // those that it was set for may have been told of
  if (left_s > 0) tell_in(left_s);
  if (will_tell_late) return;
  is_urgent = true;
  threads.wake_one();
}

// @return null if none waits that can start
std::unique_ptr<Processes::State::Child> Processes::State::take(ThreadSupply::Thread& thread) {
  if (ending || !queue.can_start()) return nullptr;
  ProgramQueue::Taken taken = queue.take();
  std::unique_ptr<Child> child(
      new Child{.number = ++last_number, .thread = thread, .program = std::move(taken.program), .place = taken.place});
  running.emplace(child->number, child.get());
  ++untold;
  wake_if_wanted();
  return child;
}

// Nobody else knows of it any more.
void Processes::State::release(Child& child) {
  running.erase(child.number);
  queue.release(child.place);
  if (child.timer) timers->cancel(*child.timer);
}

Processes::State::Begun Processes::State::begin(Child& child) {
  if (has_zero_byte(child.program.request)) {
    child.fault = "a word of its command line, or its environment, has a zero byte";
    return Begun::failed;
  }
  const std::expected<bool, OpenFault> is_open = child.program.redirects.open(child.program.request);
  if (is_open && !*is_open) return Begun::waits_for_pipe;
  const int error = is_open ? start(child) : is_open.error().error;
  if (error != 0) {
    child.fault = is_open ? error_text(error) : is_open.error().text;
    return is_shortage(error) ? Begun::is_short : Begun::failed;
  }
  child.program.redirects = {};
  {
    const std::lock_guard lock(mutex);
    watch(child);
  }
  if (child.program.request.on_start) child.program.request.on_start(child.program.request);
  return Begun::runs;
}

// @return 0, or the errno that kept it from starting
int Processes::State::start(Child& child) {
  const ProcessRequest& request = child.program.request;
  const Redirects& redirects = child.program.redirects;
  if (request.words.empty()) return ENOENT;
  std::expected<std::unique_ptr<ProgramTaps>, int> taps = ProgramTaps::open(outputs, request);
  if (!taps) return taps.error();
  const int out_end = *taps ? (*taps)->out_end() : -1, error_end = *taps ? (*taps)->error_end() : -1;
  const int highest = std::max({redirects.in(), redirects.out(), redirects.error(), out_end, error_end});
  if (!child.place.is_alone && highest >= highest_allowed) return EMFILE;
  if ((*taps || request.timeout_s > 0) && !timers->begin()) return EAGAIN;
  const auto fd = [](int given, int opened) { return given >= 0 ? given : opened; };
  child.started = std::chrono::steady_clock::now();
  if (keeps_to_cores) cores.keep_to(child.place.slot);
  const auto pid = start_child({.words = request.words,
                                .environment = request.environment,
                                .stdin_fd = fd(fd(request.stdin_fd, redirects.in()), no_input.get()),
                                .stdout_fd = fd(fd(request.stdout_fd, out_end), redirects.out()),
                                .stderr_fd = fd(fd(request.stderr_fd, error_end), redirects.error()),
                                .terminal = terminal ? std::optional(terminal->get()) : std::nullopt,
                                .cores = keeps_to_cores ? &cores.all() : nullptr});
  if (!pid) return pid.error();
  child.pid = *pid;
  child.taps = std::move(*taps);
  if (child.taps) child.taps->close_program_ends();
  return 0;
}

// There is a thread for its timers: see start().
void Processes::State::watch(Child& child) {
  child.stage = Child::Stage::running;
  if (child.taps && !std::exchange(will_look_at_taps, true)) look_at_taps_later();
  if (child.place.is_alone) {
    queue.end_shortage();
    wake_if_wanted();
  }
  const double timeout_s = child.program.request.timeout_s;
  const double waited_s = child.program.first_look ? seconds_since(*child.program.first_look) : 0;
  if (ending)
    ask_to_end(child);
  else if (timeout_s > 0)
    set_timer(child, std::max(timeout_s - waited_s, 1e-3));
}

// Short programs have ended by then, and nobody is woken for what they print.
void Processes::State::look_at_taps_later() {
  static_cast<void>(timers->after(unheard_s, [this] { look_at_taps(); }));
}

// Where no thread can be started for them they are read here, now and then.
void Processes::State::look_at_taps() {
  const std::lock_guard lock(mutex);
  will_look_at_taps = false;
  for (const auto& [number, child] : running) {
    if (child->stage == Child::Stage::starting || !child->taps || child->is_watched) continue;
    const bool is_short = seconds_since(child->started) < unheard_s;
    child->is_watched = !is_short && tap_loop->watch(*child->taps);
    if (!is_short && !child->is_watched) child->taps->read_some();
    will_look_at_taps |= !child->is_watched;
  }
  if (will_look_at_taps) look_at_taps_later();
}

// What has not begun waits again, or has failed, which is to be told.
std::optional<ProgramEnd> Processes::State::put_back(Child& child, Begun why) {
  release(child);
  WaitingProgram& program = child.program;
  if (why == Begun::waits_for_pipe && !program.first_look) program.first_look = std::chrono::steady_clock::now();
  const double waited_s = program.first_look ? seconds_since(*program.first_look) : 0;
  const double timeout_s = program.request.timeout_s;
  const bool is_forgotten = ending;
  if (!is_forgotten && why == Begun::waits_for_pipe && timeout_s > 0 && waited_s >= timeout_s)
    return ProgramEnd{std::move(program.done), {.duration_s = waited_s, .timed_out = true}, nullptr};
  if (!is_forgotten && (why == Begun::failed || (why == Begun::is_short && child.place.is_alone)))
    return ProgramEnd{std::move(program.done), {.start_error = std::move(child.fault)}, nullptr};
  note_told();
  if (is_forgotten) return std::nullopt;
  if (why == Begun::waits_for_pipe) {
    delay(std::move(program), pipe_wait_s);
  } else {
    if (!program.first_look) program.redirects = {};  // others can use the descriptors meanwhile
    queue.put_back(std::move(program));
  }
  return std::nullopt;
}

}  // namespace raddle::vm
